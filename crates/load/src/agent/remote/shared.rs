//! State shared by the threads of all agents during a run.

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
    /// The newest second that was shown, and the state of the run after it.
    pub(super) latest: Mutex<(Option<u32>, Arc<LiveRow>)>,
    pub(super) progress: Vec<Mutex<Progress>>,
    /// The text of the first error of each kind, from all agents.
    pub(super) examples: Mutex<GatheredExamples>,
    /// Names for the live view.
    pub(super) facts: RunFacts,
    pub(super) agents_lost: AtomicU32,
    /// Coordination of the agents; a single agent does not need it.
    pub(super) rendezvous: Mutex<Rendezvous>,
    /// Channel for the messages to each agent.
    pub(super) orders: Vec<Sender<FromController>>,
    pub(super) gone: AtomicBool,
}

impl Shared {
    pub(super) fn tell_all(&self, order: impl Fn() -> FromController) {
        for orders in &self.orders {
            // Sending fails if the agent has ended; then it needs no order.
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
    // The data behind these locks is consistent between any two statements, so a poisoned lock is safe to use.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
