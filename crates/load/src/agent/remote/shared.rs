//! What the threads of all agents share while a run goes on.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::examples::GatheredExamples;
use super::super::protocol::{FromController, Progress};
use super::super::rendezvous::Rendezvous;
use super::super::totals::Totals;
use crate::player::Word;
use crate::record::LiveRow;
use crate::statistics::RunFacts;

pub(super) struct Shared {
    pub(super) totals: Mutex<Totals>,
    /// The newest second that was shown, and the run as it stood then.
    pub(super) latest: Mutex<(Option<u32>, Arc<LiveRow>)>,
    pub(super) progress: Vec<Mutex<Progress>>,
    /// What the first error of each kind said, of all agents.
    pub(super) examples: Mutex<GatheredExamples>,
    /// Names for the live view.
    pub(super) facts: RunFacts,
    pub(super) agents_lost: AtomicU32,
    /// What the agents do together; where there is one only, it does it alone.
    pub(super) rendezvous: Mutex<Rendezvous>,
    /// What is said to each.
    pub(super) orders: Vec<Sender<FromController>>,
    pub(super) gone: AtomicBool,
}

impl Shared {
    pub(super) fn tell_all(&self, order: impl Fn() -> FromController) {
        for orders in &self.orders {
            // An agent that has ended needs no order.
            let _ = orders.send(order());
        }
    }

    pub(super) fn tell_words(&self, words: Vec<Word>) {
        for word in words {
            self.tell_all(|| FromController::Word(word.clone()));
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
