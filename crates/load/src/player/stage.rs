//! What all shards of a run share: read by all, changed only through atomics and short locks.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use engine::{Mailboxes, ShardIndex};

use super::barriers::{Barriers, Opening};
use super::clock::Clock;
use super::gauges::Gauges;
use super::options::Share;
use super::phases::Course;
use super::render::Numbers;
use super::targets::Targets;
use super::together::{Pause, Standing, Together, Word};
use crate::ledger::Rooms;
use crate::observe::{Examples, Nanos};
use crate::scenario::plan::{BarrierId, Plan};
use crate::statistics::Population;

/// A run on this machine.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) plan: Arc<Plan>,
    pub(crate) clock: Clock,
    /// The place of this machine among the run's.
    pub(crate) origin: u16,
    /// What is known of the run's other machines.
    pub(crate) together: Together,
    pub(crate) run_tag: u16,
    pub(crate) shards: u16,
    /// Connections at once that the shards were made for; `None` where nobody knows.
    pub(crate) connections_expected: Option<u64>,
    pub(crate) targets: Targets,
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) examples: Arc<Examples>,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) numbers: Numbers,
    pub(crate) course: Course,
    pub(crate) barriers: Barriers,
    mailboxes: OnceLock<Mailboxes<Mail>>,
    /// Whether a shard has begun to drain; the others do in the same moment.
    draining: AtomicBool,
    /// Shards that have not ended.
    playing: AtomicUsize,
    /// How late the shards were that have ended.
    delays: Mutex<Delays>,
    ended: mpsc::Sender<Why>,
}

/// What shards tell each other, and the outside tells them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mail {
    /// A phase that waited for its users is over; the next one begins.
    Proceed(Nanos),
    /// Nobody comes any more, and who came has finished, here or on all machines.
    NobodyIsLeft,
    /// A barrier has opened.
    Open(Opening),
    /// No new users, a drain, an orderly end.
    Stop(Why),
    /// The end, at once.
    Abort,
}

/// How late a shard is with what has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// How long what was read had been ready at least: from the shard's look for what is ready to the reading.
    pub(crate) read_lag: Population,
    /// How long its thread waited for a CPU before that look.
    pub(crate) cpu_wait: Population,
}

/// What ended a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// All users came and finished.
    Finished,
    /// The plan's duration was over.
    Duration,
    /// It was stopped from outside.
    Stopped,
    /// It was aborted from outside.
    Aborted,
    /// A user's scenario gave the run up.
    GivenUp,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "finished",
            Self::Duration => "duration",
            Self::Stopped => "stopped",
            Self::Aborted => "aborted",
            Self::GivenUp => "given up by the scenario",
        })
    }
}

/// Everything that [`Stage::new`] is made of and that is made elsewhere.
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
    /// The stage, and where it is said once that the last shard has ended.
    pub(crate) fn new(setting: Setting) -> (Self, mpsc::Receiver<Why>) {
        let Setting { plan, clock, share, run_tag, shards, connections_expected, targets } = setting;
        let (ended, end) = mpsc::channel();
        let (origin, machines) = (share.index as u16, share.weights.len() as u16);
        let settle_after = super::clock::nanos(plan.drain);
        let stage = Self {
            clock,
            origin,
            together: Together::new(machines),
            run_tag,
            shards,
            connections_expected,
            targets,
            rooms: Arc::new(Rooms::of_machine(settle_after, origin, machines)),
            examples: Arc::default(),
            gauges: Arc::default(),
            numbers: Numbers::new(&plan, &share),
            course: Course::new(usize::from(shards), machines > 1),
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

    /// Makes the shards reachable; before the first of them runs.
    pub(crate) fn connect(&self, mailboxes: Mailboxes<Mail>) {
        let is_first = self.mailboxes.set(mailboxes).is_ok();
        debug_assert!(is_first, "a stage has one set of mailboxes");
    }

    /// Tells all shards.
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

    /// One shard's schedule has come to its end.
    pub(crate) fn nobody_comes_to_shard(&self, now: Nanos) {
        if self.course.done() {
            self.look_around(now);
        }
    }

    /// There are fewer users, or it is known now how many there are.
    fn look_around(&self, now: Nanos) {
        if self.course.active() == 0 && self.course.is_over() {
            self.tell_all(Mail::NobodyIsLeft);
        }
        if !self.barriers.is_empty() {
            self.recount(now);
        }
    }

    /// How many users a barrier for everybody waits for, once it is known.
    pub(crate) fn everybody(&self) -> Option<u64> {
        self.course.is_over().then(|| self.course.active())
    }

    fn recount(&self, now: Nanos) {
        let Some(everybody) = self.everybody() else { return };
        for opening in self.barriers.recount(everybody, now) {
            self.tell_all(Mail::Open(opening));
        }
    }

    /// Where this machine stands with what all machines of the run do together.
    pub(crate) fn standing(&self) -> Standing {
        let draining = self.is_draining();
        Standing {
            barriers: self.barriers.gatherings(),
            // Who drains comes to no barrier.
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

    /// A word to all machines.
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

    /// A shard waits for what is on its way.
    pub(crate) fn shard_drains(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// How late the shards were that have ended.
    pub(crate) fn delays(&self) -> Delays {
        self.delays.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.playing.load(Ordering::Acquire) == 0
    }

    /// A shard has ended, which was so late. The last one's reason is the run's.
    pub(crate) fn shard_has_ended(&self, why: Why, read_lag: &Population, cpu_wait: &Population) {
        // A population is whole between any two operations.
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.read_lag.merge(read_lag);
        delays.cpu_wait.merge(cpu_wait);
        drop(delays);
        if self.playing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Whoever waited for it may have gone.
            let _ = self.ended.send(why);
        }
    }
}
