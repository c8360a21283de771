//! From the prepared state to running threads.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use crate::accept::{Capacity, Listeners};
use crate::config::{EngineConfig, SHARD_STACK_BYTES, TURNED_AWAY_MAX, Tables};
use crate::driver::{Driver, ShardIndex};
use crate::engine::{Engine, ShardHandle};
use crate::handoff::Handoff;
use crate::listen::listen_beside;
use crate::machine::descriptor_limit;
use crate::prepare::{Prepared, PreparedShard};
use crate::shard::Shard;
use crate::start_error::StartError;
use crate::steering::Steering;
use crate::sys;
use crate::timer::FineTimer;

impl<D: Driver> Prepared<D> {
    /// Spawns the threads and returns when every shard listens. `make` is called on each shard's own thread; with
    /// private tables it must not capture a descriptor, because the number would mean nothing there.
    ///
    /// # Errors
    /// A [`StartError`]; the threads that did start have ended by then.
    pub fn start(
        self,
        make: impl Fn(ShardIndex) -> D + Send + Sync + Clone + 'static,
        handoff: Handoff,
    ) -> Result<Engine<D>, StartError> {
        let Self { config, addresses, shards, mailboxes, control, population } = self;
        let control_queue = control.control_queue();
        let control = spawn("ferry".to_owned(), move || control.run(&handoff))?;
        let mut engine = Engine {
            addresses,
            mailboxes,
            handles: Vec::new(),
            control_queue,
            control: Some(control),
            tables: config.tables,
        };
        let moved: Vec<RawFd> = shards.iter().flat_map(PreparedShard::descriptors).collect();
        let bells: Vec<RawFd> = shards.iter().map(|shard| shard.post.bell.as_raw_fd()).collect();
        let surroundings = ShardContext::new(config, engine.addresses.clone(), bells, population);
        for steering in surroundings.steering.iter().flatten() {
            steering.note_first(Arc::clone(&shards[0].counters));
        }
        let (ready, outcomes) = mpsc::channel();
        for shard in shards {
            engine.handles.push(spawn_shard(shard, surroundings.clone(), make.clone(), ready.clone())?);
        }
        drop(ready);
        for outcome in outcomes {
            outcome?;
        }
        if engine.tables == Tables::Private {
            sys::close_copies(&moved);
        }
        Ok(engine)
    }
}

/// What every shard's thread is given.
#[derive(Clone)]
struct ShardContext {
    config: EngineConfig,
    addresses: Vec<SocketAddr>,
    bells: Vec<RawFd>,
    population: Arc<AtomicUsize>,
    /// The choice of shards for new connections, one per address; `None` leaves it to the kernel.
    steering: Vec<Option<Arc<Steering>>>,
    /// Connections that the descriptor limit allows in one table.
    table_max: usize,
}

impl ShardContext {
    fn new(
        config: EngineConfig,
        addresses: Vec<SocketAddr>,
        bells: Vec<RawFd>,
        population: Arc<AtomicUsize>,
    ) -> Self {
        let descriptors = descriptor_limit().soft.map_or(usize::MAX, |soft| soft as usize);
        let kept = own_descriptors(&config).saturating_add(config.limits.descriptors_reserve);
        let table_max = descriptors.saturating_sub(kept);
        let steering = addresses.iter().map(|_| Steering::new(config.shards, table_max)).collect();
        Self { config, addresses, bells, population, steering, table_max }
    }

    fn capacity(&self) -> Capacity {
        let wanted = self.config.limits.connections_max;
        let population_max = match self.config.tables {
            Tables::Shared => wanted.min(self.table_max),
            Tables::Private => wanted,
        };
        Capacity::new(Arc::clone(&self.population), population_max, self.table_max)
    }
}

/// Returns how many descriptors the engine itself keeps open in a table that holds connections: standard input, output
/// and error, readiness loops, bells, links, timers and listeners, and refused connections that wait for their answer.
fn own_descriptors(config: &EngineConfig) -> usize {
    let standard = 3;
    let turned_away = if config.listen.is_empty() { 0 } else { TURNED_AWAY_MAX };
    let of_each_shard = config.listen.len() + usize::from(config.fine_timer) + turned_away;
    match config.tables {
        // Each shard has a loop, a bell, its timer and its listeners, and the control thread a loop and a bell.
        Tables::Shared => standard + config.shards * (2 + of_each_shard) + 2,
        // The shard's loop, link, timer and listeners, and everyone's bells.
        Tables::Private => standard + 2 + of_each_shard + config.shards,
    }
}

fn spawn_shard<D: Driver>(
    shard: PreparedShard<D>,
    surroundings: ShardContext,
    make: impl Fn(ShardIndex) -> D + Send + 'static,
    ready: mpsc::Sender<Result<(), StartError>>,
) -> Result<ShardHandle<D>, StartError> {
    let orders = Arc::clone(&shard.post.orders);
    let bell = Arc::clone(&shard.post.bell);
    let counters = Arc::clone(&shard.counters);
    let arrivals = Arc::clone(&shard.arrivals);
    let thread = spawn(format!("shard-{}", shard.index.0), move || {
        let made = make_shard(shard, &surroundings, &make);
        drop((make, surroundings));
        match made {
            Ok(shard) => {
                let _ = ready.send(Ok(()));
                drop(ready);
                shard.run();
            }
            Err(error) => drop(ready.send(Err(error))),
        }
    })?;
    Ok(ShardHandle { thread: Some(thread), orders, bell, counters, arrivals })
}

/// Runs on the shard's thread: leaves the process's table if configured, listens, and creates the driver.
fn make_shard<D: Driver>(
    mut shard: PreparedShard<D>,
    surroundings: &ShardContext,
    make: &impl Fn(ShardIndex) -> D,
) -> Result<Shard<D>, StartError> {
    let config = &surroundings.config;
    if config.tables == Tables::Private {
        let keep = [shard.descriptors(), surroundings.bells.clone()].concat();
        sys::leave_shared_table(&keep).map_err(StartError::Table)?;
    }
    let mut sockets = std::mem::take(&mut shard.listeners);
    let already = sockets.len();
    for (address, steering) in surroundings.addresses.iter().zip(&surroundings.steering).skip(already) {
        let listen = || listen_beside(*address, config.limits.socket_buffers);
        let socket =
            steering.as_ref().map_or_else(listen, |steering| steering.listen(&shard.counters, listen));
        sockets.push(socket.map_err(|error| StartError::listen(*address, error))?);
    }
    let refusal = config.limits.refusal.clone();
    let listeners = Listeners::new(sockets, &surroundings.steering, shard.poll.registry(), refusal)
        .map_err(StartError::Resources)?;
    let timer = config.fine_timer.then(|| FineTimer::new(shard.poll.registry())).transpose();
    let timer = timer.map_err(StartError::Resources)?;
    let driver = make(shard.index);
    Ok(Shard::new(driver, shard, listeners, timer, surroundings.capacity(), &config.limits))
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StartError> {
    let guarded = move || {
        let _guard = AbortOnPanic;
        body();
    };
    thread::Builder::new().name(name).stack_size(SHARD_STACK_BYTES).spawn(guarded).map_err(StartError::Thread)
}

/// A dead shard would leave its connections and everything posted to it hanging forever, so its panic ends the process,
/// which can be restarted.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            let name = thread::current().name().unwrap_or("a thread of the engine").to_owned();
            tracing::error!(thread = name, "panicked; the process ends");
            std::process::abort();
        }
    }
}
