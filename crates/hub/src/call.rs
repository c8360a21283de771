//! Tasks that are answered by a callback, from any thread.

use crate::channel::{Answer, Info};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A task whose answer arrives by a callback. No task and no thread waits for it.
pub struct Call(Box<dyn FnOnce(Finish) + Send>);

/// The callback for the answer. If it is dropped without an answer, the task counts as panicked.
pub struct Finish(Option<Box<dyn FnOnce(Answer) + Send>>);

impl Call {
    pub(crate) fn new(begin: impl FnOnce(Finish) + Send + 'static) -> Call {
        Call(Box::new(begin))
    }

    /// Begins the task. `tell` is called once with the answer, now or later, on any thread; it must not block.
    pub fn begin(self, tell: impl FnOnce(Answer) + Send + 'static) {
        let finish = Finish(Some(Box::new(tell)));
        // A panic drops the `Finish`, which reports it.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(finish)));
    }
}

impl Finish {
    /// Delivers the answer.
    pub fn with<T: Send + 'static>(self, answer: T) {
        self.tell(Answer::Finished(Box::new(answer) as Info));
    }

    fn tell(mut self, answer: Answer) {
        if let Some(tell) = self.0.take() {
            tell(answer);
        }
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell(Answer::Panicked);
        }
    }
}

impl fmt::Debug for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finish")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn told(begin: impl FnOnce(Finish) + Send + 'static) -> Vec<Option<u32>> {
        let (sender, receiver) = mpsc::channel();
        Call::new(begin).begin(move |answer| {
            let brought = match answer {
                Answer::Finished(info) => info.downcast::<u32>().ok().map(|number| *number),
                Answer::Panicked => None,
            };
            sender.send(brought).expect("the test waits");
        });
        receiver.iter().collect()
    }

    #[test]
    fn who_asks_is_told_once_whatever_becomes_of_the_one_who_should_answer() {
        assert_eq!(told(|finish| finish.with(7_u32)), [Some(7)]);
        let elsewhere = |finish: Finish| drop(std::thread::spawn(move || finish.with(8_u32)));
        assert_eq!(told(elsewhere), [Some(8)]);
        assert_eq!(told(drop), [None]);
        assert_eq!(told(|_| std::panic::resume_unwind(Box::new("planned"))), [None]);
    }
}
