//! The engine's callbacks, a few lines each; the files beside this one contain the substance.

use super::census::Censuses;
use super::drain::Drain;
use super::effects::Timing;
use super::mail::{Mail, Seed, new_connection};
use super::peer::{Peer, Phase};
use super::sessions::Sessions;
use super::transit::Transits;
use super::turns::{Turn, Turns};
use crate::admission::Admission;
use crate::bus_port::BusSender;
use crate::control::ControlMail;
use crate::handshake::{Handshakes, Rejection, refusal};
use crate::limits::Limits;
use crate::memory::Allowance;
use crate::metrics::{CloseReason, ShardMetrics};
use crate::pace::Pace;
use crate::proxies::Proxies;
use crate::relay::Relay;
use engine::{Admission as Admitted, ConnectionId, Driver, EndCause, Io, ListenerIndex, Mailboxes};
use hub::{
    BusEffect, Counters, Effects, Event, Hub, HubConfig, Micros, NodeId, OwnerOf, Pending, Reach, ShardIndex,
};
use proto::ws::deflate::{Deflater, Inflater};
use proto::ws::{CloseCode, Decoder, encode_close};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// State that all shards of a gateway share.
pub(crate) struct Shared {
    /// This node's id, from its start to its end, whether or not there are other nodes.
    pub(crate) node: NodeId,
    pub(crate) handshakes: Handshakes,
    pub(crate) limits: Limits,
    pub(crate) allowance: Arc<Allowance>,
    /// Memory bounds of one shard: for incomplete messages, and for the queues of its long-poll sessions.
    pub(crate) partial_bytes_max: usize,
    pub(crate) longpoll_bytes_max: usize,
    pub(crate) admission: Arc<Admission>,
    /// The limit on new connections per second; `None` for no limit.
    pub(crate) pace: Option<Pace>,
    pub(crate) proxies: Proxies,
    pub(crate) metrics: Arc<[ShardMetrics]>,
    pub(crate) transits: Transits,
    /// `Some` if there are more shards than processors.
    pub(crate) turns: Option<Arc<Turns>>,
    pub(crate) began: Instant,
    pub(crate) hub: HubConfig,
    /// How to read a topic's owner, if owners share the fan-out.
    pub(crate) owner_of: Option<OwnerOf>,
    /// Held while a message is posted to all shards, so that all of them get such messages in the same order.
    pub(crate) telling: Mutex<()>,
}

pub(crate) struct ShardDriver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) shard: ShardIndex,
    pub(crate) mailboxes: Mailboxes<Mail>,
    pub(crate) relay: Relay,
    pub(crate) control: tokio::sync::mpsc::UnboundedSender<ControlMail>,
    pub(crate) hub: Hub,
    pub(crate) effects: Effects,
    /// By mount: without and with compression.
    pub(crate) decoders: Vec<[Decoder; 2]>,
    pub(crate) inflater: Inflater,
    pub(crate) deflater: Deflater,
    pub(crate) scratch: Vec<u8>,
    pub(crate) sessions: Sessions,
    /// Connections whose request head has arrived in part, oldest first.
    pub(crate) heads: VecDeque<(Instant, ConnectionId)>,
    pub(crate) drain: Option<Drain>,
    pub(crate) censuses: Censuses,
    /// Durable messages of the hub that full mailboxes refused.
    pub(crate) refused: Vec<hub::ShardMessage>,
    /// This turn's requests to the bus; always empty without one.
    pub(crate) bus_effects: Vec<BusEffect>,
    pub(crate) bus: Option<BusSender>,
    /// Number of messages of this turn that published nothing.
    answered: u64,
    /// Whether a task's answer arrived in this turn.
    was_told: bool,
    turn: Turn,
}

pub(crate) type ShardIo<'a> = Io<'a, ShardDriver>;

impl ShardDriver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        shard: ShardIndex,
        mailboxes: Mailboxes<Mail>,
        relay: Relay,
        control: tokio::sync::mpsc::UnboundedSender<ControlMail>,
        bus: Option<BusSender>,
    ) -> ShardDriver {
        let mut hub = Hub::new(HubConfig { shard, ..shared.hub.clone() });
        if let Some(owner_of) = shared.owner_of {
            hub.share_fan_out(owner_of);
        }
        let mounts = &shared.handshakes.mounts;
        for (at, mount) in mounts.iter().enumerate() {
            let index = hub::MountIndex(at as u16);
            hub.limit_channels(index, mount.channels_max);
            if mount.sequential_joins {
                hub.join_sequentially(index);
            }
            for (pattern, factory) in mount.routes().expect("checked when the gateway was built") {
                hub.route(index, pattern, Box::new(factory));
            }
        }
        let letters = mailboxes.clone();
        let call = move |next| letters.post(next, Mail::Turn);
        ShardDriver {
            decoders: mounts.iter().map(|mount| [mount.decoder(false), mount.decoder(true)]).collect(),
            sessions: Sessions::new(shared.node, shard),
            hub,
            turn: Turn::new(shared.turns.clone(), engine::ShardIndex(shard.0), call),
            shared,
            shard,
            mailboxes,
            relay,
            control,
            effects: Effects::default(),
            inflater: Inflater::default(),
            deflater: Deflater::default(),
            scratch: Vec::new(),
            heads: VecDeque::new(),
            drain: None,
            censuses: Censuses::default(),
            refused: Vec::new(),
            bus_effects: Vec::new(),
            bus,
            answered: 0,
            was_told: false,
        }
    }

    pub(crate) fn metrics(&self) -> &ShardMetrics {
        &self.shared.metrics[usize::from(self.shard.0)]
    }

    pub(crate) fn micros(&self, at: Instant) -> Micros {
        Micros(at.saturating_duration_since(self.shared.began).as_micros() as u64)
    }

    /// Passes an event to the hub and carries out its effects.
    pub(crate) fn handle(&mut self, io: &mut ShardIo<'_>, event: Event<'_>) {
        let now = self.micros(io.now());
        let mut effects = std::mem::take(&mut self.effects);
        // Publications of other shards and nodes do not answer a message of this shard.
        let is_remote = matches!(event, Event::Shard(_) | Event::Bus(_));
        let before = self.hub.counters();
        self.hub.handle(now, event, &mut effects);
        if !is_remote {
            self.answered += answered(&before, &self.hub.counters());
        }
        self.carry_out(io, Timing::Flush, &mut effects);
        self.effects = effects;
        self.give_back_refused(io);
    }

    /// Returns to the hub the messages that full mailboxes refused; handling them makes no further durable messages.
    fn give_back_refused(&mut self, io: &mut ShardIo<'_>) {
        for message in std::mem::take(&mut self.refused) {
            self.handle(io, Event::Refused(message));
        }
    }

    /// Closes a WebSocket with a code, and ends its channels.
    pub(crate) fn close(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, code: u16, reason: CloseReason) {
        if !self.begin_ending(io, id, reason) {
            return;
        }
        self.scratch.clear();
        encode_close(&mut self.scratch, Some(code), "");
        io.send(id, &self.scratch);
        io.close(id);
    }

    /// Marks a connection as ending. Returns `false` if it is ending already.
    pub(crate) fn begin_ending(
        &mut self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        reason: CloseReason,
    ) -> bool {
        let Some(peer) = io.peer(id) else { return false };
        let phase = std::mem::replace(&mut peer.phase, Phase::Ending);
        if phase == Phase::Ending {
            return false;
        }
        self.metrics().close(reason);
        if phase == Phase::Channels {
            self.handle(io, Event::Closed(key(id)));
        }
        true
    }

    /// Answers a request with a refusal and closes the connection.
    pub(crate) fn refuse(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, rejection: &Rejection) {
        if self.begin_ending(io, id, CloseReason::Handshake) {
            self.metrics().reject(rejection.reason);
            io.send(id, &refusal(rejection));
            io.close(id);
        }
    }

    /// Refuses the connections whose request head did not arrive in time.
    fn sweep_heads(&mut self, io: &mut ShardIo<'_>) {
        let Some(limit) = io.now().checked_sub(self.shared.limits.handshake_time_max) else { return };
        while let Some(&(began, id)) = self.heads.front()
            && began <= limit
        {
            self.heads.pop_front();
            match io.peer(id).map(|peer| peer.phase) {
                Some(Phase::Head | Phase::ProxyHead) => self.refuse_late(io, id),
                Some(Phase::ProxySilent | Phase::Silent | Phase::Channels | Phase::Echo | Phase::Ending)
                | None => {}
            }
        }
    }

    fn refuse_late(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        self.refuse(io, id, &Rejection::late());
    }

    /// Delivers what is due and publishes the counters. Returns `true` when there is more that need not wait for this
    /// shard's turn with crowds.
    fn pump(&mut self, io: &mut ShardIo<'_>) -> bool {
        let reach = if self.turn.is_ours() { Reach::All } else { Reach::Few };
        let pending = self.deliver(io, self.shared.limits.deliveries_per_turn_max, reach);
        self.publish_numbers();
        self.turn.go_on(pending.to_crowds || io.partings() > 0, io.now());
        io.hold_partings(!self.turn.is_ours());
        pending.to_few || pending.to_crowds && self.turn.is_ours()
    }

    fn deliver(&mut self, io: &mut ShardIo<'_>, count_max: usize, reach: Reach) -> Pending {
        let now = self.micros(io.now());
        let mut effects = std::mem::take(&mut self.effects);
        let pending = self.hub.pump(now, count_max, reach, &mut effects);
        self.carry_out(io, Timing::Now, &mut effects);
        self.effects = effects;
        self.give_back_refused(io);
        pending
    }

    fn publish_numbers(&self) {
        self.metrics().publish(&self.hub.counters(), &self.hub.memory());
    }

    /// Messages that were answered in this tick and published nothing are complete at its flush.
    fn observe(&mut self, io: &ShardIo<'_>) {
        let answered = std::mem::take(&mut self.answered);
        if answered > 0 {
            self.metrics().observe_processing(io.now().elapsed(), answered);
        }
    }

    /// Releases the memory that a large message needed.
    fn release_memory(&mut self) {
        release(&mut self.scratch);
    }
}

/// Maximum number of deliveries to topics with few members that may precede a turn's flush.
const DELIVERIES_BEFORE_FLUSH_MAX: usize = 64;

/// Capacity of a buffer, in bytes, that is kept from turn to turn.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Clears a buffer and releases its capacity beyond [`KEPT_BYTES_MAX`].
fn release<T>(buffer: &mut Vec<T>) {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES_MAX / size_of::<T>());
}

/// Counts the messages between two readings that caused no publication; the others are observed when their pass
/// completes.
fn answered(before: &Counters, after: &Counters) -> u64 {
    let queued = |counters: &Counters| counters.publications - counters.publications_dropped;
    let messages = after.messages_in - before.messages_in;
    messages.saturating_sub(queued(after) - queued(before))
}

pub(crate) fn key(id: ConnectionId) -> hub::ConnectionKey {
    hub::ConnectionKey { slot: id.slot, generation: id.generation }
}

impl Driver for ShardDriver {
    type Peer = Peer;
    type Mail = Mail;
    type Seed = Seed;

    fn accepted(&mut self, listener: ListenerIndex, remote: SocketAddr) -> Admitted<Peer> {
        self.turn.count_arrival();
        match self.let_in(listener, remote) {
            Ok(peer) => Admitted::Admit(peer),
            Err(refused) => {
                self.metrics().refused_at_accept.fetch_add(1, Relaxed);
                self.metrics().reject(refused.reason);
                Admitted::Refuse(refused.answer)
            }
        }
    }

    fn peer_for(&mut self, seed: &Seed) -> Peer {
        let phase = if seed.socket.is_some() { Phase::Channels } else { Phase::Echo };
        let mut peer = Peer::new(seed.visit.take_over(), phase);
        peer.mount = seed.mount;
        peer.window_bits = seed.deflate.map_or(0, |agreed| agreed.server_window_bits);
        peer
    }

    fn adopted(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, seed: Seed) {
        if let Some((version, socket)) = seed.socket {
            let dialect = super::opening::dialect(version, seed.deflate.is_some());
            self.handle(io, Event::Opened(new_connection(key(id), seed.mount, dialect, socket)));
        }
        self.drain_latecomer(io, id);
        drop(seed.transit);
    }

    fn received(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, bytes: &mut [u8]) -> usize {
        match io.peer(id).map(|peer| peer.phase) {
            Some(Phase::ProxySilent | Phase::ProxyHead) => self.read_proxied_head(io, id, bytes),
            Some(Phase::Silent | Phase::Head) => self.read_head(io, id, bytes, None),
            Some(Phase::Channels | Phase::Echo) => self.read_frames(io, id, bytes),
            Some(Phase::Ending) | None => bytes.len(),
        }
    }

    fn ended(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, peer: Peer, cause: EndCause) {
        if let Some(address) = peer.address {
            self.shared.admission.leave(address);
        }
        self.count_partial(peer.pending.memory(), 0);
        if peer.phase != Phase::Ending {
            self.metrics().close(match cause {
                EndCause::Reset(_) | EndCause::Tls => CloseReason::Reset,
                EndCause::Overflow => CloseReason::SlowConsumer,
                EndCause::Unconsumed => CloseReason::Violation,
                EndCause::Shutdown => CloseReason::Drained,
                EndCause::PeerClosed
                | EndCause::Local
                | EndCause::Lingered
                | EndCause::Aborted
                | EndCause::HandedOff => CloseReason::Client,
            });
        }
        if peer.phase == Phase::Channels {
            self.handle(io, Event::Closed(key(id)));
        }
        // Connections that fail in the last writes of a turn end after the turn has published its counters, and the
        // next turn may be far away.
        self.publish_numbers();
        self.flush_bus();
    }

    fn idle_limit(&self, peer: &Peer) -> Option<Duration> {
        match peer.phase {
            Phase::ProxySilent | Phase::ProxyHead | Phase::Silent | Phase::Head => {
                Some(self.shared.limits.handshake_time_max)
            }
            Phase::Channels | Phase::Echo => self.shared.handshakes.mount(peer.mount).idle_timeout,
            Phase::Ending => None,
        }
    }

    fn expired(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        match io.peer(id).map(|peer| peer.phase) {
            Some(Phase::ProxySilent) => self.cut_unannounced(io, id),
            Some(Phase::ProxyHead | Phase::Silent | Phase::Head) => self.refuse_late(io, id),
            Some(Phase::Channels | Phase::Echo) => {
                self.close(io, id, CloseCode::GOING_AWAY, CloseReason::Idle)
            }
            Some(Phase::Ending) | None => {}
        }
    }

    fn overflowed(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        if !self.begin_ending(io, id, CloseReason::SlowConsumer) {
            return io.abort(id);
        }
        self.scratch.clear();
        encode_close(&mut self.scratch, Some(CloseCode::TRY_AGAIN_LATER), "");
        io.close_with(id, &self.scratch);
    }

    fn mail(&mut self, io: &mut ShardIo<'_>, mail: Mail) {
        match mail {
            Mail::Shard(message) => self.handle(io, Event::Shard(message)),
            Mail::Bus(event) => self.handle(io, Event::Bus(event)),
            Mail::Answer { owner, answer } => {
                self.was_told = true;
                self.handle(io, Event::Answer { owner, answer });
            }
            Mail::SessionOpen { seed, reply } => self.open_session(io, seed, reply),
            Mail::Poll { token, reply } => self.poll_session(io, token, reply),
            Mail::Post { token, messages, reply } => self.post_session(io, token, messages, reply),
            Mail::Turn => self.turn.begin(io.now()),
            Mail::Census { question, reply } => self.ask_for_census(question, reply),
            Mail::Members { topics, reply } => {
                reply.send(topics.iter().map(|topic| self.hub.members_of(topic)).collect());
            }
            Mail::Drain { spread, reply } => self.begin_drain(io, spread, reply),
        }
    }

    /// A client that waits for a task's answer often also gets a publication about the result: delivering it before the
    /// flush puts both into one write.
    fn before_flush(&mut self, io: &mut ShardIo<'_>) {
        if std::mem::take(&mut self.was_told) && self.hub.pending().to_few {
            self.deliver(io, DELIVERIES_BEFORE_FLUSH_MAX, Reach::Few);
        }
    }

    fn turn(&mut self, io: &mut ShardIo<'_>) -> Option<Duration> {
        self.observe(io);
        self.sweep_heads(io);
        self.sweep_sessions(io);
        self.go_on_draining(io);
        let counting = self.go_on_counting(io);
        let more = self.pump(io);
        self.flush_bus();
        self.release_memory();
        if more || counting {
            return Some(Duration::ZERO);
        }
        let deadline = self.hub.deadline().map(|due| Duration::from_micros(due - self.micros(io.now())));
        let head = self.heads.front().map(|_| Duration::from_millis(100));
        [deadline, head, self.sessions.wake_up(), self.drain_wake_up()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_keeps_what_it_may_and_no_more() {
        let mut large: Vec<u64> = vec![0; 1 << 20];
        release(&mut large);
        assert!(large.is_empty() && large.capacity() * size_of::<u64>() <= KEPT_BYTES_MAX);
        let mut small = Vec::<u8>::with_capacity(100);
        release(&mut small);
        assert!(small.capacity() >= 100);
    }

    #[test]
    fn messages_are_answered_unless_a_publication_carries_them_on() {
        let before = Counters::default();
        let after = |messages_in, publications, publications_dropped| Counters {
            messages_in,
            publications,
            publications_dropped,
            ..before
        };
        for (messages, publications, dropped, expected) in
            [(1, 0, 0, 1), (1, 1, 0, 0), (1, 1, 1, 1), (1, 3, 0, 0), (0, 0, 0, 0), (0, 2, 0, 0)]
        {
            assert_eq!(answered(&before, &after(messages, publications, dropped)), expected);
        }
    }
}
