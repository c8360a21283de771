//! What the machines of a run do together, as one of them sees it: where it stands, and what it is told.
//!
//! A machine opens no barrier, goes to no next phase and ends no run by itself where there are others. It says where it
//! stands ([`Standing`]); whoever hears all of them answers with a [`Word`] to all.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::ledger::Settlement;
use crate::observe::Nanos;

/// Where a machine stands with what all do together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// By barrier.
    pub barriers: Vec<Gathering>,
    /// Users that are there, once nobody comes any more.
    pub everybody: Option<u64>,
    /// The phase that has waited for this machine's users, if all have finished.
    pub pause: Option<Pause>,
    /// Whether this machine's users have finished, or nothing new begins any more.
    pub has_finished: bool,
    /// Whether this machine's users are gone, so that it can be said what they published.
    pub is_empty: bool,
}

/// Users of one machine at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Gathering {
    /// How often the barrier has opened before.
    pub number: u32,
    /// How many are there.
    pub waiting: u64,
    /// How many must come, of all machines; `None` is everybody. Known where somebody is there.
    pub wanted: Option<u64>,
    /// Whether the patience of one of them is over.
    pub is_impatient: bool,
}

/// A phase that has waited for its users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pause {
    /// How many there were before.
    pub number: u32,
    /// The phase's own end.
    pub not_before: Nanos,
}

/// What all machines of a run are told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// A barrier opens.
    Open {
        /// Its place among the plan's.
        barrier: u16,
        /// How often it has opened before.
        number: u32,
        /// When, on all machines.
        at: Nanos,
        /// Whether all have come that it waits for.
        is_complete: bool,
    },
    /// The next phase begins.
    Proceed {
        /// Number of the pause that is over.
        number: u32,
        /// When, on all machines.
        at: Nanos,
    },
    /// All users of all machines have finished.
    Finish,
    /// Everybody is gone; this is what all published.
    Settle(Settlement),
}

/// What the shards of a machine know of the other machines.
#[derive(Debug)]
pub(crate) struct Together {
    machines: u16,
    /// A shard has seen that this machine's users have finished.
    finished_here: AtomicBool,
    finished_everywhere: AtomicBool,
    /// Shards without users, which wait to be told what the others published.
    empty: AtomicUsize,
    settlement: OnceLock<Arc<Settlement>>,
}

impl Together {
    pub(crate) fn new(machines: u16) -> Self {
        Self {
            machines,
            finished_here: AtomicBool::new(false),
            finished_everywhere: AtomicBool::new(false),
            empty: AtomicUsize::new(0),
            settlement: OnceLock::new(),
        }
    }

    /// Whether there are other machines.
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

    /// Shards whose users are gone.
    pub(crate) fn empty(&self) -> usize {
        self.empty.load(Ordering::Acquire)
    }

    pub(crate) fn settle(&self, settlement: Arc<Settlement>) {
        // Whoever says it twice says the same.
        let _ = self.settlement.set(settlement);
    }

    pub(crate) fn settlement(&self) -> Option<Arc<Settlement>> {
        self.settlement.get().cloned()
    }
}
