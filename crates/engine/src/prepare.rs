//! What must exist before the first thread: created in the process's own descriptor table, which every thread inherits.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use mio::unix::SourceFd;
use mio::{Interest, Poll};

use crate::config::{EngineConfig, READ_BUFFER_BYTES_MAX, READ_BUFFER_BYTES_MIN, Tables};
use crate::control::Control;
use crate::control_path::{Arrival, ControlPath};
use crate::counters::ShardCounters;
use crate::descriptor_table::make_room;
use crate::driver::{Driver, ShardIndex};
use crate::listen::{listen_first, local_address};
use crate::mailbox::{Bell, Mailbox, Mailboxes, Queue};
use crate::shard::Post;
use crate::source::Source;
use crate::start_error::StartError;
use crate::transfer::{Link, PendingTransfers};

/// Everything that must exist before the first thread: see [`prepare()`].
pub struct Prepared<D: Driver> {
    pub(crate) config: EngineConfig,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) shards: Vec<PreparedShard<D>>,
    pub(crate) mailboxes: Mailboxes<D::Mail>,
    pub(crate) control: Control,
    /// Connections of all shards.
    pub(crate) population: Arc<AtomicUsize>,
}

impl<D: Driver> Prepared<D> {
    /// Returns the mailboxes of all shards. Mail posted before the start is handled after it.
    #[must_use]
    pub fn mailboxes(&self) -> Mailboxes<D::Mail> {
        self.mailboxes.clone()
    }

    /// Returns the shared count of the connections of all shards. A new one is counted before the driver is asked about
    /// it.
    #[must_use]
    pub fn population(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.population)
    }

    /// Returns the addresses to listen on, in the configured order, with the actual ports in place of port 0.
    #[must_use]
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// What is created for one shard in the process's own descriptor table.
pub(crate) struct PreparedShard<D: Driver> {
    pub(crate) index: ShardIndex,
    pub(crate) poll: Poll,
    pub(crate) post: Post<D>,
    pub(crate) counters: Arc<ShardCounters>,
    pub(crate) passage: ControlPath<D::Seed>,
    pub(crate) arrivals: Arc<PendingTransfers<Arrival<D::Seed>>>,
    /// The first listening socket of each address, for the first shard; the others create their own.
    pub(crate) listeners: Vec<OwnedFd>,
}

impl<D: Driver> PreparedShard<D> {
    /// Returns the numbers of the descriptors that move to the shard.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        let mut numbers = vec![self.poll.as_raw_fd()];
        if let ControlPath::Guarded { link, .. } = &self.passage {
            numbers.push(link.as_raw_fd());
        }
        numbers.extend(self.listeners.iter().map(AsRawFd::as_raw_fd));
        numbers
    }
}

/// Creates readiness loops, mailboxes and links between descriptor tables for all shards, on the calling thread, and
/// binds the addresses: clients that connect from now on wait for the start.
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
    let mut listeners = Vec::with_capacity(config.listen.len());
    let mut addresses = Vec::with_capacity(config.listen.len());
    for address in &config.listen {
        let listener = listen_first(*address, config.limits.socket_buffers)
            .map_err(|error| StartError::listen(*address, error))?;
        addresses.push(local_address(&listener).map_err(|error| StartError::listen(*address, error))?);
        listeners.push(listener);
    }
    let (mut shards, mailboxes, control) = make_shards(&config).map_err(StartError::Resources)?;
    shards[0].listeners = listeners;
    // Private tables are not shared with other threads, and grow without waiting for any.
    match config.tables {
        Tables::Shared => make_room(&config),
        Tables::Private => {}
    }
    Ok(Prepared { config, addresses, shards, mailboxes, control, population: Arc::default() })
}

type Made<D> = (Vec<PreparedShard<D>>, Mailboxes<<D as Driver>::Mail>, Control);

fn make_shards<D: Driver>(config: &EngineConfig) -> io::Result<Made<D>> {
    let departures = Arc::new(PendingTransfers::new());
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
        let arrivals = Arc::new(PendingTransfers::new());
        let passage = match shard_ends.next() {
            None => ControlPath::Open(control.control_queue()),
            Some(link) => {
                register(&poll, &link, Source::Link, Interest::READABLE | Interest::WRITABLE)?;
                let departures = Arc::clone(&departures);
                ControlPath::Guarded { link, arrivals: Arc::clone(&arrivals), departures }
            }
        };
        shards.push(PreparedShard { index, poll, post, counters, passage, arrivals, listeners: Vec::new() });
    }
    let mailboxes = shards.iter().map(|shard| Arc::clone(&shard.post.mailbox)).collect();
    Ok((shards, Mailboxes::new(mailboxes), control))
}

fn register(poll: &Poll, descriptor: &impl AsRawFd, source: Source, interest: Interest) -> io::Result<()> {
    poll.registry().register(&mut SourceFd(&descriptor.as_raw_fd()), source.token(), interest)
}
