//! Long-poll sessions: connections in the hub's second lane, whose messages wait for the client's next poll.

use super::driver::{ShardDriver, ShardIo};
use super::mail::{PollAnswer, PostAnswer, Seat, SessionSeed, new_connection};
use crate::metrics::CloseReason;
use crate::relay::Reply;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hub::{ConnectionKey, Dialect, Event, NodeId, SECOND_LANE, ShardIndex, Ticket, Transport};
use proto::phoenix::FrameKind;
use slab::Slab;
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How often sessions are checked for polls whose window is over and clients that are gone.
const SWEEP: Duration = Duration::from_millis(50);
/// A session ends when no poll has begun for this many windows.
const SILENT_WINDOWS_MAX: u32 = 2;
/// Size of a token before encoding.
const TOKEN_BYTES: usize = 8 + 2 + 4 + 16;

/// Identifies a session: its node, its shard, its slot there, and a secret that cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SessionToken {
    pub(crate) node: NodeId,
    pub(crate) shard: ShardIndex,
    slot: u32,
    secret: u128,
}

impl SessionToken {
    pub(crate) fn parse(text: &str) -> Option<SessionToken> {
        let raw: [u8; TOKEN_BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (node, rest) = raw.split_first_chunk()?;
        let (shard, rest) = rest.split_first_chunk()?;
        let (slot, secret) = rest.split_first_chunk()?;
        Some(SessionToken {
            node: NodeId(u64::from_be_bytes(*node)),
            shard: ShardIndex(u16::from_be_bytes(*shard)),
            slot: u32::from_be_bytes(*slot),
            secret: u128::from_be_bytes(secret.try_into().ok()?),
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut raw = [0; TOKEN_BYTES];
        raw[..8].copy_from_slice(&self.node.0.to_be_bytes());
        raw[8..10].copy_from_slice(&self.shard.0.to_be_bytes());
        raw[10..14].copy_from_slice(&self.slot.to_be_bytes());
        raw[14..].copy_from_slice(&self.secret.to_be_bytes());
        URL_SAFE_NO_PAD.encode(raw)
    }
}

pub(crate) struct Sessions {
    node: NodeId,
    shard: ShardIndex,
    slab: Slab<Session>,
    generations: u32,
    swept: Option<Instant>,
    /// Bytes that waited in all of them at the last sweep.
    queued_bytes: usize,
}

struct Session {
    secret: u128,
    generation: u32,
    window: Duration,
    queue: Vec<Bytes>,
    queued_bytes: usize,
    /// More bytes waited than allowed. The session is unusable and ends at the next sweep.
    overflowed: bool,
    poll: Option<(Instant, Reply<PollAnswer>)>,
    last_poll: Instant,
    /// Posts whose messages have not all been handled, by ticket.
    posts: HashMap<u32, (usize, Reply<PostAnswer>)>,
    tickets: u32,
    _seat: Seat,
}

impl Sessions {
    pub(crate) fn new(node: NodeId, shard: ShardIndex) -> Sessions {
        Sessions { node, shard, slab: Slab::new(), generations: 0, swept: None, queued_bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slab.is_empty()
    }

    /// Returns how long the shard may sleep while there are sessions.
    pub(crate) fn wake_up(&self) -> Option<Duration> {
        (!self.slab.is_empty()).then_some(SWEEP)
    }

    fn find(&mut self, token: SessionToken) -> Option<(usize, &mut Session)> {
        let place = token.slot as usize;
        let session = self.slab.get_mut(place).filter(|session| !session.overflowed)?;
        // Comparing whole words takes the same time wherever they differ.
        (session.secret ^ token.secret == 0).then_some((place, session))
    }

    fn key(&self, place: usize) -> ConnectionKey {
        let generation = self.slab.get(place).map_or(0, |session| session.generation);
        ConnectionKey { slot: SECOND_LANE + place as u32, generation }
    }
}

impl Session {
    /// Answers the waiting poll with the queued messages, if there are both.
    fn answer(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        if let Some((_, poll)) = self.poll.take_if(|(_, poll)| !poll.is_unwanted()) {
            self.queued_bytes = 0;
            poll.send(PollAnswer::Messages(std::mem::take(&mut self.queue)));
        }
    }
}

impl ShardDriver {
    pub(crate) fn open_session(&mut self, io: &mut ShardIo<'_>, seed: SessionSeed, reply: Reply<String>) {
        if self.drain.is_some() {
            return;
        }
        self.sessions.generations = self.sessions.generations.wrapping_add(1);
        let generation = self.sessions.generations;
        let place = self.sessions.slab.insert(Session {
            secret: seed.secret,
            generation,
            window: seed.window,
            queue: Vec::new(),
            queued_bytes: 0,
            overflowed: false,
            poll: None,
            last_poll: io.now(),
            posts: HashMap::new(),
            tickets: 0,
            _seat: seed.seat,
        });
        self.count_sessions();
        let dialect = Dialect { version: seed.version, transport: Transport::LongPoll };
        let connection = new_connection(self.sessions.key(place), seed.mount, dialect, seed.socket);
        self.handle(io, Event::Opened(connection));
        let Sessions { node, shard, .. } = self.sessions;
        let token = SessionToken { node, shard, slot: place as u32, secret: seed.secret };
        reply.send(token.text());
    }

    pub(crate) fn poll_session(
        &mut self,
        io: &mut ShardIo<'_>,
        token: SessionToken,
        reply: Reply<PollAnswer>,
    ) {
        let Some((_, session)) = self.sessions.find(token) else { return reply.send(PollAnswer::Gone) };
        session.last_poll = io.now();
        // A second poll takes over; the first one is answered empty.
        if let Some((_, earlier)) = session.poll.replace((io.now() + session.window, reply)) {
            earlier.send(PollAnswer::Nothing);
        }
        session.answer();
    }

    pub(crate) fn post_session(
        &mut self,
        io: &mut ShardIo<'_>,
        token: SessionToken,
        messages: Vec<(FrameKind, Bytes)>,
        reply: Reply<PostAnswer>,
    ) {
        let Some((place, session)) = self.sessions.find(token) else { return reply.send(PostAnswer::Gone) };
        if messages.is_empty() {
            return reply.send(PostAnswer::Taken);
        }
        session.tickets = session.tickets.wrapping_add(1).max(1);
        let ticket = session.tickets;
        session.posts.insert(ticket, (messages.len(), reply));
        let key = self.sessions.key(place);
        for (kind, bytes) in messages {
            self.handle(io, Event::Frame { key, kind, bytes: &bytes, ticket: Ticket(ticket) });
        }
    }

    /// The hub has handled one message of a post: answers the post after the last one.
    pub(crate) fn session_taken(&mut self, slot: u32, Ticket(ticket): Ticket) {
        let Some(session) = self.session_mut(slot) else { return };
        let Some((left, _)) = session.posts.get_mut(&ticket) else { return };
        *left -= 1;
        if *left == 0
            && let Some((_, reply)) = session.posts.remove(&ticket)
        {
            reply.send(PostAnswer::Taken);
        }
    }

    /// Queues a message of the hub for a session's client.
    pub(crate) fn session_message(&mut self, slot: u32, message: &[u8]) {
        let left = self.shared.longpoll_bytes_max.saturating_sub(self.sessions.queued_bytes);
        let limit = self.shared.limits.outbox_bytes_max.min(left / 2);
        let Some(session) = self.session_mut(slot).filter(|session| !session.overflowed) else { return };
        session.queued_bytes += message.len();
        if session.queued_bytes > limit {
            // It cannot end here: the hub's effects are still being carried out.
            session.overflowed = true;
            session.queue = Vec::new();
            return;
        }
        session.queue.push(Bytes::copy_from_slice(message));
        session.answer();
        // Counted in full; the next sweep subtracts what was fetched.
        self.sessions.queued_bytes += message.len();
    }

    /// Removes a session that the hub has removed.
    pub(crate) fn session_closed(&mut self, slot: u32, reason: CloseReason) {
        let place = (slot - SECOND_LANE) as usize;
        let Some(session) = self.sessions.slab.try_remove(place) else { return };
        self.metrics().close(reason);
        self.count_sessions();
        let answer = match reason {
            CloseReason::Undecodable => PostAnswer::Undecodable,
            _ => PostAnswer::Gone,
        };
        for (_, (_, reply)) in session.posts {
            reply.send(answer);
        }
        if let Some((_, poll)) = session.poll {
            poll.send(PollAnswer::Gone);
        }
    }

    /// Ends polls whose window is over, and sessions whose client is gone or left too much unfetched.
    pub(crate) fn sweep_sessions(&mut self, io: &mut ShardIo<'_>) {
        let now = io.now();
        let is_due = self.sessions.swept.is_none_or(|swept| now.duration_since(swept) >= SWEEP);
        if self.sessions.is_empty() || !is_due {
            return;
        }
        self.sessions.swept = Some(now);
        let mut gone = Vec::new();
        let mut queued_bytes = 0;
        for (place, session) in &mut self.sessions.slab {
            queued_bytes += session.queued_bytes + session.queue.capacity() * size_of::<Bytes>();
            if let Some((_, poll)) = session.poll.take_if(|(due, poll)| *due <= now || poll.is_unwanted()) {
                poll.send(PollAnswer::Nothing);
            }
            let silent_max = session.window * SILENT_WINDOWS_MAX;
            if session.overflowed {
                gone.push((place, CloseReason::SlowConsumer));
            } else if session.poll.is_none() && now.duration_since(session.last_poll) > silent_max {
                gone.push((place, CloseReason::Client));
            }
        }
        self.sessions.queued_bytes = queued_bytes;
        self.count_sessions();
        for (place, reason) in gone {
            self.end_session(io, place, reason);
        }
    }

    pub(crate) fn end_session(&mut self, io: &mut ShardIo<'_>, place: usize, reason: CloseReason) {
        let key = self.sessions.key(place);
        self.handle(io, Event::Closed(key));
        self.session_closed(key.slot, reason);
    }

    pub(crate) fn session_keys(&self) -> Vec<ConnectionKey> {
        self.sessions.slab.iter().map(|(place, _)| self.sessions.key(place)).collect()
    }

    /// Returns the slab place of a session that has not ended.
    pub(crate) fn session_place(&self, key: ConnectionKey) -> Option<usize> {
        let place = (key.slot - SECOND_LANE) as usize;
        (self.sessions.slab.contains(place) && self.sessions.key(place) == key).then_some(place)
    }

    fn session_mut(&mut self, slot: u32) -> Option<&mut Session> {
        self.sessions.slab.get_mut((slot - SECOND_LANE) as usize)
    }

    fn count_sessions(&self) {
        let places = self.sessions.slab.capacity() * size_of::<Session>();
        // Sweeps stop when there are no sessions, so the last count would be stale.
        let queued = if self.sessions.is_empty() { 0 } else { self.sessions.queued_bytes };
        self.metrics().longpoll_bytes.store((places + queued) as u64, Relaxed);
        self.metrics().longpoll_sessions.store(self.sessions.slab.len() as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_finds_its_way_through_text() {
        let token = SessionToken {
            node: NodeId(u64::MAX / 3),
            shard: ShardIndex(3),
            slot: 70_000,
            secret: u128::MAX / 7,
        };
        assert_eq!(SessionToken::parse(&token.text()), Some(token));
        assert_eq!(SessionToken::parse("nonsense"), None);
        assert_eq!(SessionToken::parse(""), None);
    }
}
