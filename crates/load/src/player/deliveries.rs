//! A user's messages to and from rooms: numbered before sending, judged on receipt, and settled when the user leaves.

use crate::ledger::{Echo, EchoReceipt, Receipt, RemoteReceipts, STAMP_BYTES, Stamp, Tracker};
use crate::observe::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome};
use crate::scenario::plan::{Audience, Body};
use crate::scenario::template::{Part, Template};

use super::shard::Shard;
use super::stage::Stage;

/// [`Stamp::index`] of a message outside rooms that its sender should get back.
const TO_SELF: u32 = 0;
/// [`Stamp::index`] of a message outside rooms that has no particular receiver.
const TO_NOBODY: u32 = 1;

/// Prefix of a C10K ping; three 32-bit numbers follow.
const PING: &[u8; 5] = b"ping:";
const PING_BYTES: usize = PING.len() + 12;

/// A user's membership in one room.
#[derive(Debug)]
pub(crate) struct Membership {
    /// Tracks which publications have been received.
    pub(crate) tracker: Tracker,
    pub(crate) room: u32,
    /// `join_ref` of the Phoenix join; 0 on a plain WebSocket.
    pub(crate) join_ref: u32,
    /// Identifies the user's topics without their text: see [`topic_tag`].
    pub(crate) topic: u32,
    /// Whether the user receives its own messages.
    pub(crate) echo: bool,
    /// Whether presence is tracked.
    pub(crate) presence: bool,
    /// Messages received from other machines, if there are any.
    pub(crate) elsewhere: Option<Box<RemoteReceipts>>,
}

/// A publication on a recoverable topic that the server has not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unanswered {
    /// Reference of the push.
    pub(crate) reference: u32,
    pub(crate) room: u32,
    pub(crate) index: u32,
}

/// A message about to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Publication {
    pub(crate) number: u32,
    pub(crate) room: u32,
    /// Its number in the room; for an echo, the key under which it is expected back.
    key: u64,
    /// Number of expected receivers.
    pub(crate) expected: u32,
    pub(crate) intended: Nanos,
    pub(crate) began: Nanos,
    pub(crate) at: Nanos,
    /// The stamp as it appears in the message; `None` if the message cannot be judged.
    pub(crate) stamp: Option<[u8; STAMP_BYTES]>,
}

impl Membership {
    /// The user begins to leave: it is not expected to receive anything published from now on.
    pub(super) fn depart(&mut self, stage: &Stage) {
        stage.rooms.depart(self.room, &mut self.tracker);
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.depart(stage.clock.now());
        }
    }
}

/// Hashes a topic's text (FNV-1a). A user has few topics, so collisions are negligible.
pub(crate) fn topic_tag(topic: &str) -> u32 {
    topic.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns the body of a C10K ping sent at a time in microseconds since the Unix epoch.
pub(crate) fn c10k_ping(unix_us: u64) -> [u8; PING_BYTES] {
    let parts = [unix_us / 1_000_000_000_000, unix_us / 1_000_000 % 1_000_000, unix_us % 1_000_000];
    let mut body = [0; PING_BYTES];
    body[..PING.len()].copy_from_slice(PING);
    for (place, part) in body[PING.len()..].chunks_exact_mut(4).zip(parts) {
        place.copy_from_slice(&(part as u32).to_be_bytes());
    }
    body
}

/// Returns the time in a C10K ping.
pub(crate) fn c10k_time_us(body: &[u8]) -> Option<u64> {
    let numbers: &[u8; PING_BYTES - PING.len()] = body.strip_prefix(PING)?.try_into().ok()?;
    let (words, _) = numbers.as_chunks::<4>();
    let [mega, seconds, micros] = [0, 1, 2].map(|place| u64::from(u32::from_be_bytes(words[place])));
    Some((mega * 1_000_000 + seconds) * 1_000_000 + micros)
}

/// Returns whether receivers can identify the message.
fn is_told(body: &Body) -> bool {
    let has_stamp = |template: &Template| template.parts.iter().any(|part| matches!(part, Part::Stamp));
    match body {
        Body::Template(template) => has_stamp(template),
        Body::C10kPing => true,
    }
}

impl Shard {
    /// Numbers a message just before it is sent and records who is expected to receive it. A message without a stamp
    /// cannot be identified by its receivers, so nobody is expected to receive it.
    pub(super) fn publish(
        &mut self,
        place: u32,
        audience: &Audience,
        body: &Body,
        topic: Option<u32>,
    ) -> Option<Publication> {
        let at = self.now();
        let client = self.clients.item_mut(place)?;
        let began = client.ready_at.min(at);
        let intended = client.take_intended().min(at);
        client.sent = client.sent.wrapping_add(1);
        let number = client.sent;
        let mut publication =
            Publication { number, room: NO_ROOM, key: 0, expected: 0, intended, began, at, stamp: None };
        let mut stamp = Stamp {
            run_tag: self.stage.run_tag,
            origin: self.stage.origin,
            room: NO_ROOM,
            index: TO_NOBODY,
            sender: client.user,
            sequence: number,
            intended,
            delay_ns: at - intended,
        };
        match audience {
            Audience::Echo if is_told(body) => {
                stamp.index = TO_SELF;
                publication.expected = 1;
                let key = match body {
                    Body::Template(_) => u64::from(number),
                    Body::C10kPing => self.stage.clock.unix_us(at),
                };
                publication.key = key;
                if client.echoes.sent(Echo { key, intended, sent: at }).is_some() {
                    self.missing(place, NO_ROOM, Outcome::Lost, 1, at);
                }
            }
            Audience::Room if is_told(body) => {
                let user = client.user;
                let membership =
                    client.memberships_mut().find(|one| topic.is_none_or(|topic| one.topic == topic))?;
                publication.room = membership.room;
                stamp.room = membership.room;
                let Some(numbered) = self.stage.rooms.publish(membership.room, user, at) else {
                    return Some(publication);
                };
                stamp.index = numbered.index;
                publication.key = u64::from(numbered.index);
                publication.expected = numbered.members;
                if !membership.echo {
                    membership.tracker.exclude(numbered.index);
                    publication.expected = numbered.members.saturating_sub(1);
                }
            }
            Audience::Nobody | Audience::Echo | Audience::Room => {}
        }
        publication.stamp = Some(stamp.to_text());
        Some(publication)
    }

    /// Reports a message that was sent.
    pub(super) fn report_send(
        &mut self,
        place: u32,
        label: Option<crate::scenario::plan::LabelId>,
        publication: &Publication,
        bytes: usize,
    ) {
        let Publication { number, room, expected, intended, began, at, key: _, stamp: _ } = *publication;
        let seen = self.of_client(place, Kind::Send, Outcome::Ok, at);
        let message = u64::from(seen.user) << 32 | u64::from(number);
        let label = label.map_or(NO_LABEL, |label| label.0);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.see(
            Observation { intended, began, message, room, bytes, count: expected, label, ..seen },
            String::new,
        );
    }

    /// Takes back a message that was not sent after all because its connection was closing: nobody is expected to
    /// receive it.
    pub(super) fn withdraw(&mut self, place: u32, publication: &Publication) {
        if publication.expected == 0 {
            return;
        }
        if publication.room != NO_ROOM {
            return self.stage.rooms.withdraw(publication.room, publication.key as u32);
        }
        if let Some(client) = self.clients.item_mut(place) {
            client.echoes.received(publication.key);
        }
    }

    /// Waits for the server to acknowledge a publication on a recoverable topic; a previous one without an answer
    /// becomes doubtful.
    pub(super) fn await_answer(&mut self, place: u32, topic: u32, reference: u32, publication: &Publication) {
        self.doubt_unanswered(place);
        let Some(client) = self.clients.item_mut(place) else { return };
        if publication.room != NO_ROOM && client.followed(topic).is_some() {
            let unanswered = Unanswered { reference, room: publication.room, index: publication.key as u32 };
            client.rare_mut().unanswered = Some(unanswered);
        }
    }

    /// A push was answered.
    pub(super) fn publication_answered(&mut self, place: u32, reference: u32, is_taken: bool) {
        let Some(rare) = self.clients.item_mut(place).and_then(|client| client.rare.as_mut()) else { return };
        if rare.unanswered.is_none_or(|unanswered| unanswered.reference != reference) {
            return;
        }
        if is_taken {
            rare.unanswered = None;
        } else {
            self.doubt_unanswered(place);
        }
    }

    /// Gives up waiting for an answer and marks the publication as doubtful.
    pub(super) fn doubt_unanswered(&mut self, place: u32) {
        let rare = self.clients.item_mut(place).and_then(|client| client.rare.as_mut());
        if let Some(Unanswered { room, index, .. }) = rare.and_then(|rare| rare.unanswered.take()) {
            self.stage.rooms.doubt(room, index);
        }
    }

    /// Handles a received message: one observation per stamp in it, or one if its sender is unknown.
    pub(super) fn receive(&mut self, place: u32, room: u32, body: &[u8], at: Nanos) {
        let mut is_told = false;
        let run_tag = self.stage.run_tag;
        for stamp in Stamp::find_all(body).filter(|stamp| stamp.run_tag == run_tag) {
            // A server may put several messages into one: its bytes arrived once.
            let bytes = if is_told { 0 } else { body.len() };
            is_told = true;
            self.receive_stamped(place, room, &stamp, bytes, at);
        }
        if is_told {
            return;
        }
        let mut seen = self.of_client(place, Kind::Receive, Outcome::Unstamped, at);
        seen.bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
        seen.room = room;
        if let Some(time_us) = c10k_time_us(body)
            && let Some(client) = self.clients.item_mut(place)
        {
            // Without a pending ping of this time it is a plain message that merely looks like a ping.
            let receipt = client.echoes.received(time_us);
            if client.sent > 0 {
                note_echo(&mut seen, receipt);
            }
        }
        self.note_lateness(&mut seen);
        self.see(seen, String::new);
    }

    fn receive_stamped(&mut self, place: u32, room: u32, stamp: &Stamp, bytes: usize, at: Nanos) {
        let mut seen = self.of_client(place, Kind::Receive, Outcome::Ok, at);
        seen.intended = stamp.intended;
        seen.began = stamp.sent();
        seen.message = stamp.message();
        seen.room = stamp.room;
        seen.bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Some(client) = self.clients.item_mut(place) else { return };
        let is_own = stamp.sender == client.user;
        if stamp.room != NO_ROOM && stamp.origin != self.stage.origin {
            // Room numbers are local to each machine: this is the room in which the message arrived. It counts as
            // expected because it arrived; messages that did not arrive are judged at the end.
            seen.room = room;
            seen.outcome = outcome_of(self.receive_elsewhere(place, room, stamp));
            seen.count = u32::from(matches!(seen.outcome, Outcome::Ok | Outcome::Reordered));
        } else if stamp.room != NO_ROOM {
            let membership = client.memberships_mut().find(|one| one.room == stamp.room);
            seen.outcome = match membership {
                None => Outcome::Unexpected,
                Some(membership) if is_own && !membership.echo => Outcome::Unexpected,
                Some(membership) => outcome_of(self.stage.rooms.receive(&mut membership.tracker, stamp)),
            };
        } else if stamp.index == TO_NOBODY {
            seen.outcome = Outcome::Unstamped;
        } else if is_own {
            note_echo(&mut seen, client.echoes.received(u64::from(stamp.sequence)));
        } else {
            seen.outcome = Outcome::Unexpected;
        }
        self.note_lateness(&mut seen);
        self.see(seen, String::new);
    }

    /// Marks a delivery as late if everything should have arrived before.
    fn note_lateness(&self, seen: &mut Observation) {
        if matches!(seen.outcome, Outcome::Ok | Outcome::Reordered) && self.is_late(seen.at) {
            seen.outcome = Outcome::Late;
        }
    }

    /// Returns whether a message in a reply is an echo that the user waits for; other messages in replies are just
    /// replies.
    pub(super) fn is_awaited_echo(&self, place: u32, body: &[u8]) -> bool {
        let Some(client) = self.clients.item(place) else { return false };
        let is_own = |stamp: Stamp| {
            stamp.run_tag == self.stage.run_tag
                && stamp.sender == client.user
                && stamp.room == NO_ROOM
                && stamp.index == TO_SELF
        };
        client.echoes.pending() > 0 && Stamp::find(body).is_some_and(is_own)
    }

    /// Returns whether a message is one of the user's own.
    pub(super) fn is_own(&self, place: u32, body: &[u8]) -> bool {
        let Some(client) = self.clients.item(place) else { return false };
        let is_own = |stamp: Stamp| stamp.run_tag == self.stage.run_tag && stamp.sender == client.user;
        Stamp::find(body).is_some_and(is_own) || c10k_time_us(body).is_some()
    }

    /// The user begins to leave all its rooms: it is not expected to receive anything published from now on.
    pub(super) fn depart(&mut self, place: u32) {
        let Some(client) = self.clients.item_mut(place) else { return };
        for membership in client.memberships_mut() {
            membership.depart(&self.stage);
        }
    }

    /// Settles a room that the user has left. `outcome` is how it left.
    pub(super) fn settle(&mut self, place: u32, mut membership: Membership, outcome: Outcome, at: Nanos) {
        let was_away = self.unfollow(place, membership.topic);
        self.keep_stay(place, &mut membership, at);
        let Membership { tracker, room, join_ref, .. } = membership;
        let account = self.stage.rooms.account(room, tracker, at);
        self.missing(place, room, Outcome::Lost, account.lost, at);
        self.missing(place, room, Outcome::InFlight, account.in_flight, at);
        if was_away {
            return; // the end of its connection was its leave
        }
        let mut seen = self.of_client(place, Kind::Leave, outcome, at);
        seen.room = room;
        self.see(seen, || "the topic ended".to_owned());
        if join_ref != 0 {
            self.lower(|gauges| &gauges.joined);
        }
    }

    /// The user receives nothing any more: settles all its rooms and its echoes.
    pub(super) fn settle_all(&mut self, place: u32, outcome: Outcome, at: Nanos) {
        self.doubt_unanswered(place);
        while let Some(membership) = self.clients.item_mut(place).and_then(|client| client.leave(|_| true)) {
            self.settle(place, membership, outcome, at);
        }
        self.settle_echoes(place, at);
    }

    /// Settles the echoes: no more are expected.
    pub(super) fn settle_echoes(&mut self, place: u32, at: Nanos) {
        let settle_after = super::clock::nanos(self.stage.plan.drain);
        let Some(client) = self.clients.item_mut(place) else { return };
        let echoes = client.echoes.close(at, settle_after);
        self.missing(place, NO_ROOM, Outcome::Lost, echoes.lost, at);
        self.missing(place, NO_ROOM, Outcome::InFlight, echoes.in_flight, at);
    }

    fn missing(&mut self, place: u32, room: u32, outcome: Outcome, count: u64, at: Nanos) {
        if count == 0 {
            return;
        }
        let seen = self.of_client(place, Kind::Missing, outcome, at);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.see(Observation { room, count, ..seen }, String::new);
    }
}

fn outcome_of(receipt: Receipt) -> Outcome {
    match receipt {
        Receipt::Ok => Outcome::Ok,
        Receipt::Reordered => Outcome::Reordered,
        Receipt::Duplicate => Outcome::Duplicate,
        // A message already given up as missing must not count as delivered, too.
        Receipt::Unexpected | Receipt::Stale => Outcome::Unexpected,
    }
}

fn note_echo(seen: &mut Observation, receipt: EchoReceipt) {
    match receipt {
        EchoReceipt::Ok(echo) | EchoReceipt::Reordered(echo) => {
            seen.intended = echo.intended;
            seen.began = echo.sent;
            let is_in_order = matches!(receipt, EchoReceipt::Ok(_));
            seen.outcome = if is_in_order { Outcome::Ok } else { Outcome::Reordered };
        }
        EchoReceipt::Duplicate => seen.outcome = Outcome::Duplicate,
        EchoReceipt::Unexpected => seen.outcome = Outcome::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_c10k_ping_carries_its_time() {
        let body = c10k_ping(1_339_000_123_456_789);
        assert_eq!(&body[..9], b"ping:\x00\x00\x05\x3b");
        assert_eq!(c10k_time_us(&body), Some(1_339_000_123_456_789));
        for other in [&b"ping:"[..], b"ping:0123456789abc", b"pong:0123456789ab"] {
            assert_eq!(c10k_time_us(other), None);
        }
    }
}
