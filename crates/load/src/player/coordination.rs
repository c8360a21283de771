//! Coordination of the machines of a run, as seen by one of them: the state it reports and the words it receives.
//!
//! If there are other machines, a machine does not open barriers, begin a phase after a wait or end the run by itself.
//! It reports its state ([`Standing`]); the controller, which hears from all machines, answers with a [`Word`] to all.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::ledger::Settlement;
use crate::observe::Nanos;

/// A machine's state as needed to coordinate all machines.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// One entry per barrier.
    pub barriers: Vec<BarrierState>,
    /// Number of users present, once no more arrive.
    pub everybody: Option<u64>,
    /// The pause after a phase that has waited for this machine's users, if all have finished.
    pub pause: Option<Pause>,
    /// Whether this machine's users have finished, or nothing new begins any more.
    pub has_finished: bool,
    /// Whether this machine's users are gone, so that it is known what they published.
    pub is_empty: bool,
}

/// Users of one machine at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BarrierState {
    /// How often the barrier has opened before.
    pub number: u32,
    /// Number of users waiting.
    pub waiting: u64,
    /// Number of users that must arrive, over all machines; `None` is all users. Valid if at least one user is waiting.
    pub wanted: Option<u64>,
    /// Whether one of them has timed out.
    pub is_impatient: bool,
}

/// A phase that has waited for its users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pause {
    /// Number of pauses before this one.
    pub number: u32,
    /// The end of the phase itself.
    pub not_before: Nanos,
}

/// A message to all machines of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// A barrier opens.
    Open {
        /// Its index in the plan.
        barrier: u16,
        /// How often it has opened before.
        number: u32,
        /// When it opens, on all machines.
        at: Nanos,
        /// Whether all users that it waits for have arrived.
        is_complete: bool,
    },
    /// The next phase begins.
    Proceed {
        /// Number of the pause that is over.
        number: u32,
        /// When it begins, on all machines.
        at: Nanos,
    },
    /// All users of all machines have finished.
    Finish,
    /// All users are gone; this is what all machines published.
    Settle(Settlement),
}

/// What the shards of a machine know of the other machines.
#[derive(Debug)]
pub(crate) struct Coordination {
    machines: u16,
    /// Whether a shard has seen that this machine's users have finished.
    finished_here: AtomicBool,
    finished_everywhere: AtomicBool,
    /// Number of shards without users, which wait to learn what the others published.
    empty: AtomicUsize,
    settlement: OnceLock<Arc<Settlement>>,
}

impl Coordination {
    pub(crate) fn new(machines: u16) -> Self {
        Self {
            machines,
            finished_here: AtomicBool::new(false),
            finished_everywhere: AtomicBool::new(false),
            empty: AtomicUsize::new(0),
            settlement: OnceLock::new(),
        }
    }

    /// Returns whether there are other machines.
    pub(crate) fn has_others(&self) -> bool {
        self.machines > 1
    }

    /// This machine's users have finished; returns whether those of all machines have.
    pub(crate) fn finish(&self) -> bool {
        if !self.has_others() {
            return true;
        }
        self.finished_here.store(true, Ordering::Relaxed);
        self.finished_everywhere.load(Ordering::Acquire)
    }

    pub(crate) fn has_finished_here(&self) -> bool {
        self.finished_here.load(Ordering::Relaxed)
    }

    pub(crate) fn finish_everywhere(&self) {
        self.finished_everywhere.store(true, Ordering::Release);
    }

    /// A shard's users are gone.
    pub(crate) fn shard_is_empty(&self) {
        self.empty.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the number of shards whose users are gone.
    pub(crate) fn empty(&self) -> usize {
        self.empty.load(Ordering::Acquire)
    }

    pub(crate) fn settle(&self, settlement: Arc<Settlement>) {
        // If it is set twice, the value is the same.
        let _ = self.settlement.set(settlement);
    }

    pub(crate) fn settlement(&self) -> Option<Arc<Settlement>> {
        self.settlement.get().cloned()
    }
}
