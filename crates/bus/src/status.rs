//! The status of a bus: whether the engine is up, why not, and counters.

use crate::failure::Failure;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Whether the engine is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is up.
    Up {
        /// Since when.
        since: SystemTime,
    },
    /// It is away.
    Away {
        /// Since when.
        since: SystemTime,
        /// The reason, as text for people; without passwords.
        because: String,
    },
}

/// The status at one time. Totals count from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Whether the engine is up.
    pub state: State,
    /// How often it came up.
    pub connects_total: u64,
    /// Publications of this node that were passed to the engine.
    pub published_total: u64,
    /// Publications of other nodes that the engine delivered.
    pub delivered_total: u64,
    /// Publications of this node that were dropped or refused because too many waited, or because the engine had no
    /// room.
    pub dropped_total: u64,
    /// Publications of this node on ephemeral topics that did not reach the other nodes, or may not have.
    pub lost_total: u64,
    /// Lost publications that the other nodes are not informed of, because there are too many topics.
    pub untold_total: u64,
    /// Messages that this version does not understand.
    pub undecodable_total: u64,
    /// Requests of this node that wait for the engine now.
    pub queue_len: u64,
    /// Topics that this node has subscribed to.
    pub subscriptions: u64,
    /// Nodes with a valid lease, including this one; 0 while the engine is away.
    pub nodes: u64,
}

/// The status of a running bus, readable from any thread.
#[derive(Clone)]
pub struct Status(Arc<Numbers>);

pub(crate) struct Numbers {
    state: Mutex<State>,
    pub(crate) connects: AtomicU64,
    pub(crate) published: AtomicU64,
    pub(crate) delivered: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) untold: AtomicU64,
    pub(crate) undecodable: AtomicU64,
    pub(crate) queued: AtomicU64,
    pub(crate) subscriptions: AtomicU64,
    pub(crate) nodes: AtomicU64,
}

impl Status {
    pub(crate) fn new() -> Status {
        let because = "it has not responded yet".to_owned();
        Status(Arc::new(Numbers {
            state: Mutex::new(State::Away { since: SystemTime::now(), because }),
            connects: AtomicU64::default(),
            published: AtomicU64::default(),
            delivered: AtomicU64::default(),
            dropped: AtomicU64::default(),
            lost: AtomicU64::default(),
            untold: AtomicU64::default(),
            undecodable: AtomicU64::default(),
            queued: AtomicU64::default(),
            subscriptions: AtomicU64::default(),
            nodes: AtomicU64::default(),
        }))
    }

    pub(crate) fn numbers(&self) -> &Arc<Numbers> {
        &self.0
    }

    /// Returns the current status.
    pub fn snapshot(&self) -> Snapshot {
        let numbers = &self.0;
        Snapshot {
            state: self.state(),
            connects_total: numbers.connects.load(Relaxed),
            published_total: numbers.published.load(Relaxed),
            delivered_total: numbers.delivered.load(Relaxed),
            dropped_total: numbers.dropped.load(Relaxed),
            lost_total: numbers.lost.load(Relaxed),
            untold_total: numbers.untold.load(Relaxed),
            undecodable_total: numbers.undecodable.load(Relaxed),
            queue_len: numbers.queued.load(Relaxed),
            subscriptions: numbers.subscriptions.load(Relaxed),
            nodes: numbers.nodes.load(Relaxed),
        }
    }

    /// Returns whether the engine is up.
    pub fn state(&self) -> State {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn up(&self) {
        self.0.connects.fetch_add(1, Relaxed);
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Up { since: SystemTime::now() };
    }

    /// Sets the reason why it is away. Returns `true` if it has changed.
    pub(crate) fn away(&self, failure: &Failure) -> bool {
        for gauge in [&self.0.queued, &self.0.subscriptions, &self.0.nodes] {
            gauge.store(0, Relaxed);
        }
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let because = failure.to_string();
        let (since, news) = match &*state {
            State::Up { .. } => (SystemTime::now(), true),
            State::Away { since, because: known } => (*since, *known != because),
        };
        *state = State::Away { since, because };
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_away_stays_away_since_the_beginning_and_a_new_reason_is_news() {
        let status = Status::new();
        status.up();
        assert!(status.away(&Failure::Late));
        let State::Away { since, .. } = status.state() else { panic!("it is away") };
        assert!(!status.away(&Failure::Late));
        assert!(status.away(&Failure::LeaseOver));
        let because = Failure::LeaseOver.to_string();
        assert_eq!(status.state(), State::Away { since, because });
        assert_eq!(status.snapshot().connects_total, 1);
    }
}
