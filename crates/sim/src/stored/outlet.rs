//! The path from the messenger to the hubs' mailboxes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event for a topic.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) topic: String,
    pub(super) event: String,
    pub(super) payload: String,
}

/// The events that are not yet in a mailbox. Clones share them.
#[derive(Clone)]
pub(super) struct Outlet {
    shared: Arc<Mutex<Shared>>,
    told_max: usize,
}

#[derive(Default)]
struct Shared {
    told: VecDeque<Told>,
    refused: u64,
    lost: u64,
    dismissed: Option<String>,
}

impl Outlet {
    pub(super) fn new(told_max: usize) -> Outlet {
        Outlet { shared: Arc::default(), told_max }
    }

    pub(super) fn take(&self) -> VecDeque<Told> {
        std::mem::take(&mut self.lock().told)
    }

    /// Counts an event that was taken and did not arrive.
    pub(super) fn lose(&self) {
        self.lock().lost += 1;
    }

    /// Returns how many events were refused or did not arrive.
    pub(super) fn losses(&self) -> u64 {
        let shared = self.lock();
        shared.refused + shared.lost
    }

    /// Returns what the messenger closed or ended, which it has no reason to do here.
    pub(super) fn dismissed(&self) -> Option<String> {
        self.lock().dismissed.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl messenger::Outlet for Outlet {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        let mut shared = self.lock();
        if shared.told.len() >= self.told_max {
            shared.refused += 1;
            return false;
        }
        let (topic, event, payload) = (topic.to_owned(), event.to_owned(), payload.to_owned());
        shared.told.push_back(Told { topic, event, payload });
        true
    }

    fn close(&self, _socket_id: &str, code: u16) {
        self.lock().dismissed = Some(format!("a socket was closed with {code}"));
    }

    fn end_join(&self, _socket_id: &str, topic: &str) {
        self.lock().dismissed = Some(format!("a join of {topic} was ended"));
    }

    fn lost(&self) -> u64 {
        self.lock().lost
    }
}
