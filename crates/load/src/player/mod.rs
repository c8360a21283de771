//! The player: plays the users of a [`Plan`] against its targets and reports what they observe as a stream of
//! [`Batch`]es.
//!
//! [`start`] spawns the shards (threads of the [`engine`]); each plays its share of the users, and [`Player`] is the
//! handle to all of them. A user is a position in its compiled session and a few timestamps: while idle it costs no
//! task, no thread and no buffer.
//!
//! Nothing is lost: every user that arrives finishes exactly once per session ([`Kind::Finish`]), whatever ends it, and
//! every failure is one observation. These failures end the session: a connect, a join, a broken connection, a required
//! wait, a step whose precondition is missing; the first three do not if the connect step says that its user
//! reconnects. A failed reply, optional wait or HTTP request is reported, and the session continues.
//!
//! The player must never decide what is good or bad: it reports, and others count.
//!
//! [`Kind::Finish`]: crate::observe::Kind::Finish

mod arrivals;
mod barriers;
mod bursts;
mod capacity;
mod channels;
mod client;
mod clock;
mod closing;
mod compile;
mod connecting;
mod coordination;
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
mod reconnecting;
mod recovery;
mod render;
mod requests;
mod response;
mod roster;
mod sending;
mod sessions;
mod settling;
mod shard;
mod sources;
mod stage;
mod targets;
mod trust;
mod waits;
mod websocket;

use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use engine::machine::{descriptor_limit, raise_descriptor_limit};
use engine::{Engine, EngineConfig, EngineLimits, ShardCounters, ShardIndex};

pub use coordination::{BarrierState, Pause, Standing, Word};
pub use error::PlayError;
pub use gauges::Gauges;
pub use options::{Options, Share};
pub use stage::EndReason;
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
use stage::{Delays, End, Mail, Setting, Stage};
use targets::Targets;

/// A run in progress. Dropping it cuts all its connections.
pub struct Player {
    stage: Arc<Stage>,
    engine: Option<Engine<Shard>>,
    end: Receiver<End>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ended {
    /// Why it ended.
    pub why: EndReason,
    /// Time from the start of the run until the last user had left and what was in flight had been judged.
    pub after: Duration,
    /// Lower bound of the time between a message becoming readable and being read, over all shards.
    pub read_lag: Spread,
    /// How long the shards' threads waited for a CPU before they polled for what users then read.
    pub cpu_wait: Spread,
    /// Memory of the tables of users and connections.
    pub memory: GeneratorMemory,
}

/// Starts playing a plan. Observations go into `sink`, whose other end must be read continuously; it is closed when the
/// run is over.
///
/// # Errors
/// A [`PlayError`]; in that case nothing was sent to a target.
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

/// Returns the names of a plan's source addresses on this machine, indexed by the numbers in observations.
#[must_use]
pub fn source_names(sources: &Sources) -> Vec<String> {
    sources::names(sources)
}

impl Player {
    /// Returns the live counters of the run.
    #[must_use]
    pub fn gauges(&self) -> Arc<Gauges> {
        Arc::clone(&self.stage.gauges)
    }

    /// Returns the rooms, to whose numbers observations refer.
    #[must_use]
    pub fn rooms(&self) -> Arc<Rooms> {
        Arc::clone(&self.stage.rooms)
    }

    /// Returns the text of the first failure of each kind.
    #[must_use]
    pub fn examples(&self) -> Arc<Examples> {
        Arc::clone(&self.stage.examples)
    }

    /// Returns the names of the source addresses, to whose numbers observations refer.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        sources::names(&self.stage.plan.sources)
    }

    /// Returns the number of threads with connections.
    #[must_use]
    pub fn shards(&self) -> usize {
        usize::from(self.stage.shards)
    }

    /// Returns a handle that can end the run early, for code that cannot hold the player itself, such as a signal
    /// handler.
    #[must_use]
    pub fn brake(&self) -> StopHandle {
        StopHandle { stage: Arc::clone(&self.stage) }
    }

    /// Ends the run gracefully: no new users; present users stop sending, listen for the plan's drain time, and close.
    pub fn stop(&self) {
        self.brake().stop();
    }

    /// Cuts all connections now. Every user still gets its finish, and every room is settled.
    pub fn abort(&self) {
        self.brake().abort();
    }

    /// Returns this machine's state as needed to coordinate the machines of the run.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.stage.standing()
    }

    /// Returns what this machine's users published, once they are gone.
    #[must_use]
    pub fn publications(&self) -> Publications {
        self.stage.rooms.publications()
    }

    /// Delivers a word addressed to all machines of the run.
    pub fn hear(&self, word: Word) {
        self.stage.hear(word);
    }

    /// Returns whether nothing new begins any more and messages in flight are waited for.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.stage.is_draining()
    }

    /// Returns whether the run is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.stage.has_ended()
    }

    /// Waits for the end; all observations are in the sink then.
    #[must_use]
    pub fn wait(mut self) -> Ended {
        // Without a sender every shard has ended; only an abort does so without sending a reason.
        let aborted = |_| End { why: EndReason::Aborted, at: self.stage.clock.now() };
        let End { why, at } = self.end.recv().unwrap_or_else(aborted);
        let memory = self.memory();
        if let Some(engine) = self.engine.take() {
            engine.shutdown();
        }
        let Delays { read_lag, cpu_wait } = self.stage.delays();
        Ended {
            why,
            after: Duration::from_nanos(at),
            read_lag: read_lag.spread(),
            cpu_wait: cpu_wait.spread(),
            memory,
        }
    }

    /// Returns the memory of the tables. None of them shrinks, so this is also the maximum.
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

/// A handle that ends a run early: see [`Player::brake`].
#[derive(Clone, Debug)]
pub struct StopHandle {
    stage: Arc<Stage>,
}

impl StopHandle {
    /// Like [`Player::stop`].
    pub fn stop(&self) {
        self.stage.tell_all(Mail::Stop(EndReason::Stopped));
    }

    /// Like [`Player::abort`].
    pub fn abort(&self) {
        self.stage.tell_all(Mail::Abort);
    }
}

/// Everything needed to construct each shard on its own thread.
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

/// Compiles all sessions. Each shard does this for itself, so that its users share programs without atomic reference
/// counts.
fn compile_all(plan: &Plan) -> Result<Vec<Rc<Program>>, PlayError> {
    let too_deep =
        |name: &str| PlayError::TooDeep { session: name.to_owned(), depth_max: compile::DEPTH_MAX };
    let programs = plan.sessions.iter().map(|session| {
        compile::compile(session).map(Rc::new).map_err(|compile::TooDeep| too_deep(&session.name))
    });
    programs.collect()
}

/// Plans the threads for the expected concurrent users. Users may stay longer than expected: if all of them would not
/// fit into one descriptor table, each thread gets its own, and a connect fails only when all of those are full.
fn plan_capacity(options: &Options, crowd: Crowd, per_user: u64) -> Capacity {
    // If the kernel refuses, the limit stays as it is, and the doctor reports it.
    let limit = raise_descriptor_limit().unwrap_or_else(|_| descriptor_limit());
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = Wanted {
        at_once: crowd.at_once.unwrap_or(0).saturating_mul(per_user),
        in_all: crowd.in_all.unwrap_or(u64::MAX).saturating_mul(per_user),
    };
    Capacity::plan(options.shards, wanted, cores, limit)
}

/// Returns how many connections a user may have at once: a WebSocket and one for HTTP.
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

/// Only control mail is posted, which is never refused.
const MAILBOX_LEN_MAX: usize = 1024;
