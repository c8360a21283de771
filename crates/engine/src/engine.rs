//! Starting and stopping: what must exist before the threads, the threads, and the handle to them.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use mio::unix::SourceFd;
use mio::{Interest, Poll};

use crate::accept::{Capacity, Listeners};
use crate::config::{EngineConfig, READ_BUFFER_BYTES_MAX, READ_BUFFER_BYTES_MIN, SHARD_STACK_BYTES, Tables};
use crate::control::{Control, ControlDesk, Errand};
use crate::counters::ShardCounters;
use crate::driver::{Driver, ListenerIndex, ShardIndex};
use crate::listen::probe;
use crate::machine::descriptor_limit;
use crate::mailbox::{Bell, Mailbox, Mailboxes, Queue};
use crate::passage::{Arrival, Order, Passage};
use crate::shard::{Post, Shard};
use crate::sockets::Sockets;
use crate::source::Source;
use crate::start_error::StartError;
use crate::sys;
use crate::transfer::{Link, Manifest};

/// Takes the connections that leave the shards. Called on a control thread, in the process's own descriptor table; it
/// should hand them on and return.
pub type Handoff = Box<dyn Fn(HandedOff) + Send + Sync>;

/// A connection that left its shard by [`Io::hand_off`](crate::Io::hand_off).
#[derive(Debug)]
pub struct HandedOff {
    /// The socket, non-blocking and without delay.
    pub stream: TcpStream,
    /// The peer's address.
    pub remote: SocketAddr,
    /// Where it came in; of an adopted connection, `u16::MAX`.
    pub listener: ListenerIndex,
    /// What was read from it and not used.
    pub unread: Vec<u8>,
}

/// A connection for a shard: see [`Engine::adopt`].
#[derive(Debug)]
pub struct Adoption<S> {
    /// The socket; the engine makes it non-blocking.
    pub stream: TcpStream,
    /// Its TLS state after the handshake, if it speaks TLS.
    pub tls: Option<Box<rustls::ServerConnection>>,
    /// The peer's address.
    pub remote: SocketAddr,
    /// What was read from it already, decrypted.
    pub unread: Vec<u8>,
    /// What the driver needs to know about it.
    pub seed: S,
}

/// Everything that must exist before the first thread: see [`prepare`].
pub struct Prepared<D: Driver> {
    config: EngineConfig,
    addresses: Vec<SocketAddr>,
    shards: Vec<PreparedShard<D>>,
    mailboxes: Mailboxes<D::Mail>,
    control: Control,
}

/// What is made for one shard in the process's own descriptor table.
struct PreparedShard<D: Driver> {
    index: ShardIndex,
    poll: Poll,
    post: Post<D>,
    counters: Arc<ShardCounters>,
    passage: Passage<D::Seed>,
    arrivals: Arc<Manifest<Arrival<D::Seed>>>,
}

impl<D: Driver> PreparedShard<D> {
    /// The numbers of the descriptors that move to the shard.
    fn descriptors(&self) -> Vec<RawFd> {
        let mut numbers = vec![self.poll.as_raw_fd()];
        if let Passage::Guarded { link, .. } = &self.passage {
            numbers.push(link.as_raw_fd());
        }
        numbers
    }
}

/// Makes readiness loops, mailboxes and ways between descriptor tables for all shards, on the calling thread, and finds
/// out whether the addresses are free.
///
/// # Errors
/// A [`StartError`], such as an address in use; nothing is left behind.
pub fn prepare<D: Driver>(config: EngineConfig) -> Result<Prepared<D>, StartError> {
    if config.shards == 0 || config.shards > usize::from(u16::MAX) {
        return Err(StartError::ShardCount(config.shards));
    }
    if !(READ_BUFFER_BYTES_MIN..=READ_BUFFER_BYTES_MAX).contains(&config.limits.read_buffer_bytes) {
        return Err(StartError::ReadBuffer(config.limits.read_buffer_bytes));
    }
    let mut addresses = Vec::with_capacity(config.listen.len());
    for address in &config.listen {
        addresses.push(probe(*address).map_err(|error| StartError::listen(*address, error))?);
    }
    let (shards, mailboxes, control) = make_shards(&config).map_err(StartError::Resources)?;
    Ok(Prepared { config, addresses, shards, mailboxes, control })
}

type Made<D> = (Vec<PreparedShard<D>>, Mailboxes<<D as Driver>::Mail>, Control);

fn make_shards<D: Driver>(config: &EngineConfig) -> io::Result<Made<D>> {
    let departures = Arc::new(Manifest::new());
    let mut control_ends = Vec::new();
    let mut shard_ends = Vec::new();
    if config.tables == Tables::Private {
        for _ in 0..config.shards {
            let (control_end, shard_end) = Link::pair()?;
            control_ends.push(control_end);
            shard_ends.push(shard_end);
        }
    }
    let control = Control::new(control_ends, Arc::clone(&departures))?;
    let mut shard_ends = shard_ends.into_iter();
    let mut shards = Vec::with_capacity(config.shards);
    for index in (0..).map(ShardIndex).take(config.shards) {
        let poll = Poll::new()?;
        let bell = Arc::new(Bell::new()?);
        register(&poll, &*bell, Source::Bell, Interest::READABLE)?;
        let counters = Arc::new(ShardCounters::default());
        let mailbox = Mailbox::new(Arc::clone(&bell), Arc::clone(&counters), config.limits.mailbox_len_max);
        let post = Post { bell, mailbox: Arc::new(mailbox), orders: Arc::new(Queue::new()) };
        let arrivals = Arc::new(Manifest::new());
        let passage = match shard_ends.next() {
            None => Passage::Open(control.desk()),
            Some(link) => {
                register(&poll, &link, Source::Link, Interest::READABLE | Interest::WRITABLE)?;
                let departures = Arc::clone(&departures);
                Passage::Guarded { link, arrivals: Arc::clone(&arrivals), departures }
            }
        };
        shards.push(PreparedShard { index, poll, post, counters, passage, arrivals });
    }
    let mailboxes = shards.iter().map(|shard| Arc::clone(&shard.post.mailbox)).collect();
    Ok((shards, Mailboxes::new(mailboxes), control))
}

fn register(poll: &Poll, descriptor: &impl AsRawFd, source: Source, interest: Interest) -> io::Result<()> {
    poll.registry().register(&mut SourceFd(&descriptor.as_raw_fd()), source.token(), interest)
}

impl<D: Driver> Prepared<D> {
    /// The mailboxes of all shards. Mail posted before the start is handled after it.
    #[must_use]
    pub fn mailboxes(&self) -> Mailboxes<D::Mail> {
        self.mailboxes.clone()
    }

    /// The addresses to listen on, in the configured order, with the ports that port 0 stood for.
    #[must_use]
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Spawns the threads and returns when every shard listens. `make` is called on each shard's own thread; with
    /// private tables, what it captures must not own a descriptor, for there the number would mean nothing.
    ///
    /// # Errors
    /// A [`StartError`]; the threads that did start have ended by then.
    pub fn start(
        self,
        make: impl Fn(ShardIndex) -> D + Send + Sync + Clone + 'static,
        handoff: Handoff,
    ) -> Result<Engine<D>, StartError> {
        let Self { config, addresses, shards, mailboxes, control } = self;
        let desk = control.desk();
        let control = spawn("control".to_owned(), move || control.run(&handoff))?;
        let mut engine = Engine {
            addresses,
            mailboxes,
            handles: Vec::new(),
            desk,
            control: Some(control),
            tables: config.tables,
        };
        let moved: Vec<RawFd> = shards.iter().flat_map(PreparedShard::descriptors).collect();
        let bells: Vec<RawFd> = shards.iter().map(|shard| shard.post.bell.as_raw_fd()).collect();
        let surroundings = Surroundings::new(config, engine.addresses.clone(), bells);
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

/// What all shards' threads are told alike.
#[derive(Clone)]
struct Surroundings {
    config: EngineConfig,
    addresses: Vec<SocketAddr>,
    bells: Vec<RawFd>,
    population: Arc<AtomicUsize>,
    /// Connections that the descriptor limit allows in one table.
    table_max: usize,
}

impl Surroundings {
    fn new(config: EngineConfig, addresses: Vec<SocketAddr>, bells: Vec<RawFd>) -> Self {
        let descriptors = descriptor_limit().soft.map_or(usize::MAX, |soft| soft as usize);
        let table_max = descriptors.saturating_sub(config.limits.descriptors_reserve);
        Self { config, addresses, bells, population: Arc::default(), table_max }
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

fn spawn_shard<D: Driver>(
    shard: PreparedShard<D>,
    surroundings: Surroundings,
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

/// Runs on the shard's thread: leaves the process's table if it should, listens, and makes the driver.
fn make_shard<D: Driver>(
    shard: PreparedShard<D>,
    surroundings: &Surroundings,
    make: &impl Fn(ShardIndex) -> D,
) -> Result<Shard<D>, StartError> {
    let config = &surroundings.config;
    if config.tables == Tables::Private {
        let keep = [shard.descriptors(), surroundings.bells.clone()].concat();
        sys::leave_shared_table(&keep).map_err(StartError::Table)?;
    }
    let PreparedShard { index, poll, post, counters, passage, .. } = shard;
    let limits = &config.limits;
    let listeners = Listeners::open(&surroundings.addresses, poll.registry(), limits.refusal.clone())?;
    let sockets = Sockets::new(index, limits, counters);
    let capacity = surroundings.capacity();
    Ok(Shard::new(make(index), sockets, poll, listeners, capacity, post, passage, limits))
}

/// The running shards. Dropping it shuts them down.
pub struct Engine<D: Driver> {
    addresses: Vec<SocketAddr>,
    mailboxes: Mailboxes<D::Mail>,
    handles: Vec<ShardHandle<D>>,
    desk: Arc<ControlDesk>,
    control: Option<JoinHandle<()>>,
    tables: Tables,
}

struct ShardHandle<D: Driver> {
    thread: Option<JoinHandle<()>>,
    orders: Arc<Queue<Order<D::Seed>>>,
    bell: Arc<Bell>,
    counters: Arc<ShardCounters>,
    arrivals: Arc<Manifest<Arrival<D::Seed>>>,
}

impl<D: Driver> ShardHandle<D> {
    fn order(&self, order: Order<D::Seed>) {
        if self.orders.push(order, usize::MAX).is_ok() {
            self.bell.ring();
        }
    }
}

impl<D: Driver> Engine<D> {
    /// Gives a shard a connection. Call it from a thread that shares the process's own descriptor table. A shard
    /// without room for it closes it and counts it as refused.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn adopt(&self, shard: ShardIndex, adoption: Adoption<D::Seed>) {
        let Adoption { stream, tls, remote, unread, seed } = adoption;
        if let Err(error) = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)) {
            return tracing::debug!(%remote, %error, "adoption refused: the socket is unusable");
        }
        let arrival = Arrival { tls, remote, unread, seed };
        let handle = &self.handles[usize::from(shard.0)];
        match self.tables {
            Tables::Shared => handle.order(Order::Adopt(arrival, stream.into())),
            Tables::Private => {
                let ticket = handle.arrivals.enter(arrival);
                self.desk.put(Errand::Carry { shard, ticket, socket: stream.into() });
            }
        }
    }

    /// Accepts what waits already, then closes the listeners. Connections stay.
    pub fn stop_accepting(&self) {
        for handle in &self.handles {
            handle.order(Order::StopAccepting);
        }
    }

    /// What happened on a shard.
    ///
    /// # Panics
    /// If there is no such shard.
    #[must_use]
    pub fn counters(&self, shard: ShardIndex) -> Arc<ShardCounters> {
        Arc::clone(&self.handles[usize::from(shard.0)].counters)
    }

    /// The mailboxes of all shards.
    #[must_use]
    pub fn mailboxes(&self) -> Mailboxes<D::Mail> {
        self.mailboxes.clone()
    }

    /// The addresses that the shards listen on, in the configured order.
    #[must_use]
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Ends all connections and waits for the threads to end.
    pub fn shutdown(self) {
        drop(self);
    }
}

impl<D: Driver> Drop for Engine<D> {
    fn drop(&mut self) {
        for handle in &self.handles {
            handle.order(Order::ShutDown);
        }
        for handle in &mut self.handles {
            join(handle.thread.take());
        }
        self.desk.put(Errand::Stop);
        join(self.control.take());
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.join().is_err()
    {
        unreachable!("a thread of the engine that panics ends the process");
    }
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StartError> {
    let guarded = move || {
        let _guard = AbortOnPanic;
        body();
    };
    thread::Builder::new().name(name).stack_size(SHARD_STACK_BYTES).spawn(guarded).map_err(StartError::Thread)
}

/// A shard that is gone would leave its connections and all that is posted to it hanging for ever, so its panic ends
/// the process, which can be started again.
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
