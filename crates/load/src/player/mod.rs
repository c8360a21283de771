//! The player: plays the users of a [`Plan`] against its targets and says what they saw, as a stream of
//! [`Batch`]es.
//!
//! [`start`] spawns the shards (threads of the [`engine`]); each plays its share of the users, and [`Player`] is the
//! handle to all of them. A user is a position in its compiled session and a few times: it costs no task, no thread and
//! no buffer while it is idle.
//!
//! Nothing is lost: every user that arrives finishes exactly once per session ([`Kind::Finish`]), whatever ends it, and
//! every failure is one observation. What fails ends the session where it cannot go on: a connect, a join, a broken
//! connection, a required wait, a step that lacks what it needs; the first three not where the connect says that its user
//! comes back. A reply, an optional wait or an HTTP request that fails
//! is reported, and the session goes on.
//!
//! The player must never decide what is good or bad: it reports, and others count.
//!
//! [`Kind::Finish`]: crate::observe::Kind::Finish

mod arrivals;
mod barriers;
mod capacity;
mod channels;
mod client;
mod clock;
mod closing;
mod compile;
mod connecting;
mod crowds;
mod deliveries;
mod endings;
mod error;
mod feed;
mod gauges;
mod interpret;
mod matching;
mod options;
mod phases;
mod phoenix;
mod presence;
mod program;
mod recovery;
mod render;
mod requests;
mod response;
mod returning;
mod roster;
mod sessions;
mod settling;
mod shard;
mod sources;
mod speech;
mod stage;
mod targets;
mod together;
mod trust;
mod upgrade;
mod waits;
mod websocket;

use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use engine::machine::{descriptor_limit, raise_descriptor_limit};
use engine::{Engine, EngineConfig, EngineLimits, ShardCounters, ShardIndex};

pub use error::PlayError;
pub use gauges::Gauges;
pub use options::{Options, Share};
pub use stage::Why;
pub use together::{Gathering, Pause, Standing, Word};
pub(crate) use trust::client_config;

use crate::crowd::Crowd;
use crate::ledger::{Publications, Rooms};
use crate::observe::{Batch, Examples};
use crate::scenario::plan::{Plan, Sources};
use crate::schedule::{self, Schedule};
use crate::statistics::{GeneratorMemory, Spread};
use capacity::{Capacity, Wanted};
use clock::Clock;
use program::{Operation, Program};
use shard::Shard;
use stage::{Delays, Mail, Setting, Stage};
use targets::Targets;

/// A run that is on. Dropping it cuts all its connections.
pub struct Player {
    stage: Arc<Stage>,
    engine: Option<Engine<Shard>>,
    end: Receiver<Why>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ended {
    /// What ended it.
    pub why: Why,
    /// How long what users read had been ready at least, on all shards.
    pub read_lag: Spread,
    /// How long the shards' threads waited for a CPU before they looked at what users then read.
    pub cpu_wait: Spread,
    /// What the tables of users and connections took.
    pub memory: GeneratorMemory,
}

/// Starts playing a plan. Observations go into `sink`, whose other end must be read all the time; it is closed when the
/// run is over.
///
/// # Errors
/// A [`PlayError`]; nothing was sent to a target then.
pub fn start(plan: Arc<Plan>, options: Options, sink: SyncSender<Batch>) -> Result<Player, PlayError> {
    let share =
        schedule::Share::of_machine(&options.share.weights, options.share.index).map_err(PlayError::Share)?;
    let crowd = Crowd::of(&plan, &share).map_err(PlayError::Schedule)?;
    let programs = compile_all(&plan)?;
    let targets = Targets::resolve(&plan)?;
    let per_user = programs.iter().map(|program| connections(program)).max().unwrap_or(1);
    let capacity = plan_capacity(&options, crowd, per_user);
    let shards = capacity.shards;
    let prepared = engine::prepare::<Shard>(engine_config(capacity))?;
    let setting = Setting {
        clock: Clock::new(options.start, options.start_unix_ns),
        share: options.share,
        run_tag: options.run_tag,
        shards: shards as u16,
        connections_expected: crowd.at_once.map(|users| users.saturating_mul(per_user)),
        targets,
        plan: Arc::clone(&plan),
    };
    let (stage, end) = Stage::new(setting);
    stage.connect(prepared.mailboxes());
    let stage = Arc::new(stage);
    let schedules = (0..shards).map(|shard| {
        let share = share.of_shard(shard, shards).map_err(PlayError::Share)?;
        Schedule::new(&plan.load, plan.seed, &share).map_err(PlayError::Schedule)
    });
    let schedules = schedules.collect::<Result<Vec<_>, _>>()?;
    let parts = Parts { stage: Arc::clone(&stage), schedules: Arc::new(schedules), sink: Mutex::new(sink) };
    let parts = Arc::new(parts);
    let engine = prepared.start(move |index| parts.shard(index.0), Box::new(drop))?;
    Ok(Player { stage, engine: Some(engine), end })
}

/// Names of a plan's source addresses on this machine, by the numbers that observations carry.
#[must_use]
pub fn source_names(sources: &Sources) -> Vec<String> {
    sources::names(sources)
}

impl Player {
    /// Where the run stands.
    #[must_use]
    pub fn gauges(&self) -> Arc<Gauges> {
        Arc::clone(&self.stage.gauges)
    }

    /// The rooms, whose numbers observations carry.
    #[must_use]
    pub fn rooms(&self) -> Arc<Rooms> {
        Arc::clone(&self.stage.rooms)
    }

    /// The first failure of each kind in words.
    #[must_use]
    pub fn examples(&self) -> Arc<Examples> {
        Arc::clone(&self.stage.examples)
    }

    /// Names of the source addresses, whose numbers observations carry.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        sources::names(&self.stage.plan.sources)
    }

    /// How many threads have connections.
    #[must_use]
    pub fn shards(&self) -> usize {
        usize::from(self.stage.shards)
    }

    /// What ends the run early, for whoever may not hold the player itself, such as a signal's handler.
    #[must_use]
    pub fn brake(&self) -> Brake {
        Brake { stage: Arc::clone(&self.stage) }
    }

    /// No new users; those that are there say nothing more, listen for the plan's drain time, and close.
    pub fn stop(&self) {
        self.brake().stop();
    }

    /// Cuts everybody off now. Every user still has its finish, every room its account.
    pub fn abort(&self) {
        self.brake().abort();
    }

    /// Where this machine stands with what all machines of the run do together.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.stage.standing()
    }

    /// What this machine's users published, once they are gone.
    #[must_use]
    pub fn publications(&self) -> Publications {
        self.stage.rooms.publications()
    }

    /// Takes a word to all machines of the run.
    pub fn hear(&self, word: Word) {
        self.stage.hear(word);
    }

    /// Whether nothing new begins any more, and what is on its way is waited for.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.stage.is_draining()
    }

    /// Whether the run is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.stage.has_ended()
    }

    /// Waits for the end. All observations are in the sink then.
    #[must_use]
    pub fn wait(mut self) -> Ended {
        // Without a sender every shard has ended, which only an abort leaves unsaid.
        let why = self.end.recv().unwrap_or(Why::Aborted);
        let memory = self.memory();
        if let Some(engine) = self.engine.take() {
            engine.shutdown();
        }
        let Delays { read_lag, cpu_wait } = self.stage.delays();
        Ended { why, read_lag: read_lag.spread(), cpu_wait: cpu_wait.spread(), memory }
    }

    /// What the tables take; as none of them shrinks, also when they took most.
    fn memory(&self) -> GeneratorMemory {
        let gauges = &self.stage.gauges;
        let of_shards = |read: fn(&ShardCounters) -> &AtomicU64| {
            let shards = self
                .engine
                .iter()
                .flat_map(|engine| (0..self.stage.shards).map(|shard| engine.counters(ShardIndex(shard))));
            shards.map(|counters| read(&counters).load(Relaxed)).sum()
        };
        GeneratorMemory {
            connections_bytes: of_shards(|counters| &counters.slab_bytes),
            users_bytes: gauges.users_bytes.load(Relaxed),
            timers_bytes: gauges.timers_bytes.load(Relaxed),
            buffers_bytes: of_shards(|counters| &counters.buffer_bytes),
        }
    }
}

/// Ends a run early: see [`Player::brake`].
#[derive(Clone, Debug)]
pub struct Brake {
    stage: Arc<Stage>,
}

impl Brake {
    /// As [`Player::stop`].
    pub fn stop(&self) {
        self.stage.tell_all(Mail::Stop(Why::Stopped));
    }

    /// As [`Player::abort`].
    pub fn abort(&self) {
        self.stage.tell_all(Mail::Abort);
    }
}

/// What each shard is made of, on its own thread.
struct Parts {
    stage: Arc<Stage>,
    schedules: Arc<Vec<Schedule>>,
    sink: Mutex<SyncSender<Batch>>,
}

impl Parts {
    fn shard(&self, index: u16) -> Shard {
        let programs = compile_all(&self.stage.plan).unwrap_or_default();
        let schedule = self.schedules[usize::from(index)].clone();
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Shard::new(Arc::clone(&self.stage), index, programs, schedule, sink)
    }
}

/// Each shard compiles for itself, so that its users share programs without atomics.
fn compile_all(plan: &Plan) -> Result<Vec<Rc<Program>>, PlayError> {
    let too_deep =
        |name: &str| PlayError::TooDeep { session: name.to_owned(), depth_max: compile::DEPTH_MAX };
    let programs = plan.sessions.iter().map(|session| {
        compile::compile(session).map(Rc::new).map_err(|compile::TooDeep| too_deep(&session.name))
    });
    programs.collect()
}

/// Threads for the crowd that is expected at once. Whoever comes may be there longer than that foresees: where all of
/// them would not fit into one table, each thread has its own, and only with all of those full does a connect fail.
fn plan_capacity(options: &Options, crowd: Crowd, per_user: u64) -> Capacity {
    // What the kernel refuses stays as it is, and the doctor says so.
    let limit = raise_descriptor_limit().unwrap_or_else(|_| descriptor_limit());
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = Wanted {
        at_once: crowd.at_once.unwrap_or(0).saturating_mul(per_user),
        in_all: crowd.in_all.unwrap_or(u64::MAX).saturating_mul(per_user),
    };
    Capacity::plan(options.shards, wanted, cores, limit)
}

/// How many connections a user may have at once: a WebSocket and one for HTTP.
fn connections(program: &Program) -> u64 {
    let uses = |is_it: fn(&Operation) -> bool| program.operations.iter().any(is_it);
    let websocket = uses(|operation| matches!(operation, Operation::Connect(..)));
    let http = uses(|operation| matches!(operation, Operation::Http(..)));
    u64::from(websocket) + u64::from(http)
}

fn engine_config(capacity: Capacity) -> EngineConfig {
    let limits = EngineLimits { mailbox_len_max: MAILBOX_LEN_MAX, ..EngineLimits::default() };
    let Capacity { shards, tables } = capacity;
    EngineConfig { shards, tables, fine_timer: true, limits, ..EngineConfig::new(Vec::new()) }
}

/// Mail is control mail only, which is never refused.
const MAILBOX_LEN_MAX: usize = 1024;
