//! State shared by all shards of a run: read by all, changed only through atomics and short locks.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use engine::{Mailboxes, ShardIndex};

use super::barriers::{Barriers, Opening};
use super::clock::Clock;
use super::coordination::{Coordination, Pause, Standing, Word};
use super::gauges::Gauges;
use super::options::Share;
use super::phases::PhaseCoordinator;
use super::render::Numbers;
use super::targets::Targets;
use crate::ledger::Rooms;
use crate::observe::{Examples, Nanos};
use crate::scenario::plan::{BarrierId, Plan};
use crate::statistics::Population;

/// A run on this machine.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) plan: Arc<Plan>,
    pub(crate) clock: Clock,
    /// The index of this machine in the run.
    pub(crate) origin: u16,
    /// State of the coordination with the run's other machines.
    pub(crate) together: Coordination,
    pub(crate) run_tag: u16,
    pub(crate) shards: u16,
    /// Number of concurrent connections that the shards were sized for; `None` if unknown.
    pub(crate) connections_expected: Option<u64>,
    pub(crate) targets: Targets,
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) examples: Arc<Examples>,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) numbers: Numbers,
    pub(crate) course: PhaseCoordinator,
    pub(crate) barriers: Barriers,
    mailboxes: OnceLock<Mailboxes<Mail>>,
    /// Whether a shard has begun to drain; the others do so at the same moment.
    draining: AtomicBool,
    /// Number of shards that have not ended.
    playing: AtomicUsize,
    /// Delays of the shards that have ended.
    delays: Mutex<Delays>,
    ended: mpsc::Sender<End>,
}

/// Messages between shards, and to shards from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mail {
    /// A phase that waited for its users is over; the next one begins.
    Proceed(Nanos),
    /// No more users arrive, and all have finished, here or on all machines.
    NobodyIsLeft,
    /// A barrier has opened.
    Open(Opening),
    /// Ends the run gracefully: no new users, a drain, and closing handshakes.
    Stop(EndReason),
    /// Ends the run at once.
    Abort,
}

/// How far a shard lagged behind incoming data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// Lower bound of the time between a message becoming readable and being read: from the shard's poll to the read.
    pub(crate) read_lag: Population,
    /// How long its thread waited for a CPU before that poll.
    pub(crate) cpu_wait: Population,
}

/// The end of a run on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) why: EndReason,
    pub(crate) at: Nanos,
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndReason {
    /// All users arrived and finished.
    Finished,
    /// The plan's duration elapsed.
    Duration,
    /// It was stopped from outside.
    Stopped,
    /// It was aborted from outside.
    Aborted,
    /// A user's scenario aborted the run.
    GivenUp,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "finished",
            Self::Duration => "duration",
            Self::Stopped => "stopped",
            Self::Aborted => "aborted",
            Self::GivenUp => "aborted by the scenario",
        })
    }
}

/// The parts of a [`Stage`] that are created elsewhere.
pub(crate) struct Setting {
    pub(crate) plan: Arc<Plan>,
    pub(crate) clock: Clock,
    pub(crate) share: Share,
    pub(crate) run_tag: u16,
    pub(crate) shards: u16,
    pub(crate) connections_expected: Option<u64>,
    pub(crate) targets: Targets,
}

impl Stage {
    /// Returns the stage, and a channel that receives the end once the last shard has ended.
    pub(crate) fn new(setting: Setting) -> (Self, mpsc::Receiver<End>) {
        let Setting { plan, clock, share, run_tag, shards, connections_expected, targets } = setting;
        let (ended, end) = mpsc::channel();
        let (origin, machines) = (share.index as u16, share.weights.len() as u16);
        let settle_after = super::clock::nanos(plan.drain);
        let stage = Self {
            clock,
            origin,
            together: Coordination::new(machines),
            run_tag,
            shards,
            connections_expected,
            targets,
            rooms: Arc::new(Rooms::of_machine(settle_after, origin, machines)),
            examples: Arc::default(),
            gauges: Arc::default(),
            numbers: Numbers::new(&plan, &share),
            course: PhaseCoordinator::new(usize::from(shards), machines > 1),
            barriers: Barriers::new(plan.barriers.len(), machines > 1),
            mailboxes: OnceLock::new(),
            draining: AtomicBool::new(false),
            playing: AtomicUsize::new(usize::from(shards)),
            delays: Mutex::default(),
            ended,
            plan,
        };
        (stage, end)
    }

    /// Makes the shards reachable; called before the first of them runs.
    pub(crate) fn connect(&self, mailboxes: Mailboxes<Mail>) {
        let is_first = self.mailboxes.set(mailboxes).is_ok();
        debug_assert!(is_first, "a stage has one set of mailboxes");
    }

    /// Sends mail to all shards.
    pub(crate) fn tell_all(&self, mail: Mail) {
        let Some(mailboxes) = self.mailboxes.get() else { return };
        for shard in 0..self.shards {
            mailboxes.post(ShardIndex(shard), mail);
        }
    }

    /// Tells all shards that the next phase begins, if it does.
    pub(crate) fn proceed(&self, at: Option<Nanos>) {
        if let Some(at) = at {
            self.tell_all(Mail::Proceed(at));
        }
    }

    /// A user has finished for good.
    pub(crate) fn user_has_gone(&self, now: Nanos) {
        self.proceed(self.course.leave(now));
        self.look_around(now);
    }

    /// One shard's schedule has ended.
    pub(crate) fn nobody_comes_to_shard(&self, now: Nanos) {
        if self.course.done() {
            self.look_around(now);
        }
    }

    /// Re-evaluates the end of the run and the barriers after the number of users has dropped or become known.
    fn look_around(&self, now: Nanos) {
        if self.course.active() == 0 && self.course.is_over() {
            self.tell_all(Mail::NobodyIsLeft);
        }
        if !self.barriers.is_empty() {
            self.recount(now);
        }
    }

    /// Returns how many users a barrier for everybody waits for, once that is known.
    pub(crate) fn everybody(&self) -> Option<u64> {
        self.course.is_over().then(|| self.course.active())
    }

    fn recount(&self, now: Nanos) {
        let Some(everybody) = self.everybody() else { return };
        for opening in self.barriers.recount(everybody, now) {
            self.tell_all(Mail::Open(opening));
        }
    }

    /// Returns this machine's state as needed to coordinate the machines of the run.
    pub(crate) fn standing(&self) -> Standing {
        let draining = self.is_draining();
        Standing {
            barriers: self.barriers.states(),
            // A draining machine's users come to no barrier.
            everybody: if draining {
                Some(0)
            } else {
                self.everybody().filter(|_| !self.barriers.is_empty())
            },
            pause: self.course.pause().map(|(number, not_before)| Pause { number, not_before }),
            has_finished: draining || self.together.has_finished_here(),
            is_empty: self.together.empty() >= usize::from(self.shards),
        }
    }

    /// Handles a word addressed to all machines.
    pub(crate) fn hear(&self, word: Word) {
        match word {
            Word::Open { barrier, number, at, is_complete } => {
                let barrier = BarrierId(barrier);
                if self.barriers.open(barrier, number) {
                    self.tell_all(Mail::Open(Opening { barrier, number, at, is_complete }));
                }
            }
            Word::Proceed { number, at } => {
                if self.course.resume(number) {
                    self.tell_all(Mail::Proceed(at));
                }
            }
            Word::Finish => {
                self.together.finish_everywhere();
                self.tell_all(Mail::NobodyIsLeft);
            }
            Word::Settle(settlement) => {
                self.together.settle(Arc::new(settlement));
                self.tell_all(Mail::NobodyIsLeft);
            }
        }
    }

    /// A shard has begun to drain.
    pub(crate) fn shard_drains(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Returns the delays of the shards that have ended.
    pub(crate) fn delays(&self) -> Delays {
        self.delays.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.playing.load(Ordering::Acquire) == 0
    }

    /// A shard has ended, with these delays. The last shard's end is the run's.
    pub(crate) fn shard_has_ended(&self, end: End, read_lag: &Population, cpu_wait: &Population) {
        // A population is consistent between any two operations, so a poisoned lock is safe to use.
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.read_lag.merge(read_lag);
        delays.cpu_wait.merge(cpu_wait);
        drop(delays);
        if self.playing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The receiver may be gone.
            let _ = self.ended.send(end);
        }
    }
}
