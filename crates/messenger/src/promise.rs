//! An answer that will be there, and with which somebody is called.
//!
//! A call wakes no task and no runtime: what a store's thread answers is with the shard that asked at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The end that answers. Dropped, it never will.
pub(crate) struct Promise<T>(Arc<Mutex<State<T>>>);

/// The end that is answered, once. Dropped, nobody wants to know.
pub(crate) struct Promised<T>(Arc<Mutex<State<T>>>);

enum State<T> {
    /// Neither end has done anything.
    Open,
    /// Somebody is to be called.
    Wanted(Box<dyn FnOnce(Option<T>) + Send>),
    /// The answer, or none, waits.
    Kept(Option<T>),
    /// It was given.
    Given,
}

/// Both ends.
pub(crate) fn promise<T>() -> (Promise<T>, Promised<T>) {
    let state = Arc::new(Mutex::new(State::Open));
    (Promise(state.clone()), Promised(state))
}

/// A state is whole between any two of its changes, and nothing of others' runs while it is locked.
fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Promise<T> {
    /// Answers.
    pub(crate) fn keep(self, answer: T) {
        self.end(Some(answer));
    }

    fn end(&self, answer: Option<T>) {
        let mut state = lock(&self.0);
        match std::mem::replace(&mut *state, State::Given) {
            State::Open => *state = State::Kept(answer),
            State::Wanted(call) => {
                drop(state);
                call(answer);
            }
            // It was kept, and is dropped now.
            known @ (State::Kept(_) | State::Given) => *state = known,
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.end(None);
    }
}

impl<T> Promised<T> {
    /// Calls with the answer as soon as it is there, on the thread that brings it; or now. Without one there will be none.
    pub(crate) fn then(self, call: impl FnOnce(Option<T>) + Send + 'static) {
        let mut state = lock(&self.0);
        match std::mem::replace(&mut *state, State::Given) {
            State::Open => *state = State::Wanted(Box::new(call)),
            State::Kept(answer) => {
                drop(state);
                call(answer);
            }
            State::Wanted(_) | State::Given => {
                drop(state);
                call(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// What somebody is called with who asks before or after it is there.
    fn called(asks_first: bool, answer: Option<u32>) -> Vec<Option<u32>> {
        let (told, tells) = mpsc::channel();
        let (promise, promised) = promise();
        let tell = move |answer| told.send(answer).expect("the test waits");
        let end = |promise: Promise<u32>| answer.map_or((), |answer| promise.keep(answer));
        if asks_first {
            promised.then(tell);
            end(promise);
        } else {
            end(promise);
            promised.then(tell);
        }
        tells.iter().collect()
    }

    #[test]
    fn who_asks_is_called_once_whether_or_not_it_is_there_already() {
        for asks_first in [true, false] {
            assert_eq!(called(asks_first, Some(7)), [Some(7)]);
            assert_eq!(called(asks_first, None), [None], "nobody answers any more");
        }
    }

    #[test]
    fn nobody_need_want_to_know() {
        let (kept, promised) = promise();
        drop(promised);
        kept.keep(7);
    }
}
