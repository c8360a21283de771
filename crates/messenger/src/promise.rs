//! A one-shot answer that is delivered by a callback.
//!
//! A callback wakes no task and no runtime: an answer from a store's thread reaches the shard that asked without a
//! detour.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sending end. If dropped without an answer, the callback gets `None`.
pub(crate) struct Promise<T>(Arc<Mutex<State<T>>>);

/// The receiving end. If dropped, the answer is discarded.
pub(crate) struct Promised<T>(Arc<Mutex<State<T>>>);

enum State<T> {
    /// Neither end has acted.
    Open,
    /// A callback waits for the answer.
    Wanted(Box<dyn FnOnce(Option<T>) + Send>),
    /// The answer, or `None`, waits for a callback.
    Kept(Option<T>),
    /// The answer was delivered.
    Given,
}

/// Creates a connected pair.
pub(crate) fn promise<T>() -> (Promise<T>, Promised<T>) {
    let state = Arc::new(Mutex::new(State::Open));
    (Promise(state.clone()), Promised(state))
}

/// The state is consistent after each change, and no foreign code runs while it is locked; so poisoning can be ignored.
fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Promise<T> {
    /// Delivers the answer.
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
            // It was answered before; this is the drop.
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
    /// Calls back with the answer: on the thread that delivers it, or at once if it is there already. `None` means that
    /// there will be no answer.
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

    /// What a callback registered before or after the answer is passed.
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
