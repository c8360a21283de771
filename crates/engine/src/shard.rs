//! One shard: the loop that waits for readiness, and the order of the steps in one tick. Each step has its own module:
//! `read`, `accept`, `turned_away`, `inbound`, `partings`, `expire`, `unread`, `settle`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::{Events, Poll};

use crate::accept::{Capacity, Listeners};
use crate::config::{EVENTS_PER_TICK_MAX, EngineLimits};
use crate::connection::Flags;
use crate::control_path::{ControlPath, ShardCommand};
use crate::counters::{add, raise, set};
use crate::driver::{ConnectionId, Driver};
use crate::io::Io;
use crate::mailbox::{Bell, Mailbox, Queue};
use crate::prepare::PreparedShard;
use crate::sockets::Sockets;
use crate::source::Source;
use crate::sweep::Sweep;
use crate::timer::FineTimer;
use crate::turned_away::TurnedAway;

pub(crate) struct Shard<D: Driver> {
    pub(crate) driver: D,
    pub(crate) sockets: Sockets<D::Peer>,
    pub(crate) poll: Poll,
    pub(crate) read_buffer: Box<[u8]>,
    /// How far the read buffer was ever filled: the rest of its memory has not been touched.
    pub(crate) read_reach: usize,
    pub(crate) read_bytes_per_turn_max: usize,
    pub(crate) listeners: Listeners,
    pub(crate) turned_away: TurnedAway,
    pub(crate) sweep: Sweep,
    /// Present if the driver's sleep must be exact.
    timer: Option<FineTimer>,
    pub(crate) post: Post<D>,
    pub(crate) passage: ControlPath<D::Seed>,
    pub(crate) inbox: VecDeque<D::Mail>,
    /// The last tick's list of connections with more to read; kept to reuse its memory.
    resumed: Vec<ConnectionId>,
    pub(crate) stopping: bool,
}

/// What other threads write and the shard reads.
pub(crate) struct Post<D: Driver> {
    pub(crate) bell: Arc<Bell>,
    pub(crate) mailbox: Arc<Mailbox<D::Mail>>,
    pub(crate) orders: Arc<Queue<ShardCommand<D::Seed>>>,
}

impl<D: Driver> Shard<D> {
    pub(crate) fn new(
        driver: D,
        prepared: PreparedShard<D>,
        listeners: Listeners,
        timer: Option<FineTimer>,
        capacity: Capacity,
        limits: &EngineLimits,
    ) -> Self {
        let PreparedShard { index, poll, post, counters, passage, .. } = prepared;
        let sockets = Sockets::new(index, limits, counters, capacity);
        let sweep = Sweep::new(sockets.now);
        Self {
            driver,
            sockets,
            poll,
            read_buffer: vec![0; limits.read_buffer_bytes].into_boxed_slice(),
            read_reach: 0,
            read_bytes_per_turn_max: limits.read_bytes_per_turn_max,
            listeners,
            turned_away: TurnedAway::default(),
            sweep,
            timer,
            post,
            passage,
            inbox: VecDeque::new(),
            resumed: Vec::new(),
            stopping: false,
        }
    }

    /// Runs until it is ordered to shut down.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS_PER_TICK_MAX);
        let mut patience = Some(Duration::ZERO);
        while !self.stopping {
            self.wait(&mut events, patience);
            patience = self.tick(&events);
        }
        self.shut_down();
    }

    fn wait(&mut self, events: &mut Events, mut patience: Option<Duration>) {
        let sleeps = patience != Some(Duration::ZERO);
        if sleeps {
            self.post.bell.announce_sleep();
            if self.post.mailbox.has_mail() || self.post.orders.waiting() > 0 {
                patience = Some(Duration::ZERO);
            }
        }
        if let Err(error) = self.poll.poll(events, patience)
            && error.kind() != std::io::ErrorKind::Interrupted
        {
            panic!("a readiness loop cannot wait: {error}");
        }
        if sleeps {
            self.post.bell.announce_awake();
        }
        self.sockets.set_now(Instant::now());
    }

    /// Runs one tick. Returns how long the next wait may take.
    fn tick(&mut self, events: &Events) -> Option<Duration> {
        self.sockets.partings.begin_tick();
        self.resume_reading();
        for event in events {
            self.dispatch(event);
        }
        self.accept_from_ready();
        self.handle_commands();
        self.handle_mail();
        self.part();
        self.driver.before_flush(&mut Io::new(&mut self.sockets));
        self.sockets.flush();
        self.settle();
        self.sweep_silent();
        self.cut_lingering();
        self.look_for_unread();
        self.answer_overdue();
        let asked = self.driver.turn(&mut Io::new(&mut self.sockets));
        // What follows takes time, which must not lengthen an exact sleep.
        let due = self.timer.as_ref().and(asked).and_then(|sleep| Instant::now().checked_add(sleep));
        self.come_to_rest();
        self.passage.flush();
        self.patience(asked, due)
    }

    fn dispatch(&mut self, event: &Event) {
        match Source::from_token(event.token()) {
            Source::Connection(id) => self.dispatch_to_connection(id, event),
            Source::Listener(listener) => self.listeners.mark_ready(listener),
            Source::TurnedAway(ticket) => self.hear_turned_away(ticket),
            Source::Link => self.take_arrivals(),
            // The queues behind the bell are checked in every tick, and the driver has its turn in each.
            Source::Bell | Source::Timer => {}
        }
    }

    fn dispatch_to_connection(&mut self, id: ConnectionId, event: &Event) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        let is_over = event.is_read_closed() || event.is_error();
        if is_over {
            connection.flags |= Flags::PEER_DONE;
        }
        let flags = connection.flags;
        if flags.any(Flags::CONNECTING) && (event.is_writable() || is_over) {
            self.finish_connecting(id);
        } else if event.is_writable() && flags.any(Flags::QUEUED) {
            self.sockets.writable(id);
        }
        if event.is_error() && flags.any(Flags::PAUSED) {
            self.sockets.fetch_error(id);
        }
        // Connections on the ready list have had their turn in this tick or get it in the next.
        if (event.is_readable() || is_over) && !flags.any(Flags::READY | Flags::PAUSED) {
            if is_over && !self.sockets.partings.admit() {
                self.sockets.part_later(id);
            } else {
                self.read(id);
            }
        }
        self.after_callback();
    }

    /// Reads from the connections that had more to read in the last tick.
    fn resume_reading(&mut self) {
        if self.sockets.ready.is_empty() {
            return;
        }
        let mut resumed = std::mem::take(&mut self.resumed);
        std::mem::swap(&mut resumed, &mut self.sockets.ready);
        for id in resumed.drain(..) {
            if let Some(connection) = self.sockets.slab.live_mut(id) {
                connection.flags.remove(Flags::READY);
                self.read(id);
                self.after_callback();
            }
        }
        self.resumed = resumed;
    }

    /// Returns the longest that the next wait may take, given how long the driver asks to sleep and, with a fine timer,
    /// until when.
    fn patience(&mut self, asked: Option<Duration>, due: Option<Instant>) -> Option<Duration> {
        let now = Instant::now();
        self.count_tick(now);
        let has_more = !self.sockets.ready.is_empty()
            || !self.inbox.is_empty()
            || self.listeners.has_ready()
            || self.sockets.partings.are_due();
        if has_more || self.stopping {
            return Some(Duration::ZERO);
        }
        let deadlines = [
            self.sweep.next_slice(),
            self.sockets.lingering.front().map(|(deadline, _)| *deadline),
            self.listeners.retry_at(),
            self.turned_away.deadline(),
            self.sockets.books.send_room.next_slice(),
        ];
        let until = |deadline: Instant| deadline.saturating_duration_since(now);
        let asked = due.map(until).or(asked);
        let waits = deadlines.into_iter().flatten().map(until);
        let patience = waits.chain(asked).chain(self.passage.retry_after()).min();
        if let Some(due) = due
            && patience != Some(Duration::ZERO)
        {
            self.arm_timer(due, now);
        }
        patience
    }

    /// Arms the fine timer. The wait itself is bounded, too, so a timer that fails only makes it less exact.
    fn arm_timer(&mut self, due: Instant, now: Instant) {
        if let Some(timer) = &mut self.timer
            && let Err(error) = timer.arm(due, now)
        {
            tracing::debug!(%error, "the fine timer could not be set");
        }
    }

    fn count_tick(&self, end: Instant) {
        let counters = &self.sockets.books.counters;
        let duration_us = end.duration_since(self.sockets.now).as_micros() as u64;
        add(&counters.ticks, 1);
        add(&counters.tick_duration_us_total, duration_us);
        raise(&counters.tick_duration_us_max, duration_us);
        set(&counters.buffer_bytes, self.read_reach + self.sockets.staging.capacity_bytes());
        set(&counters.outbox_memory_bytes, self.sockets.books.held.bytes());
    }
}
