//! A user's Phoenix topics: joins, leaves, replies, heartbeats, presence.

use engine::Io;
use proto::phoenix::{FrameKind, Payload, Version};
use proto::ws::CloseCode;

use super::client::{Client, Doing, Line, PendingJoin};
use super::clock::{NEVER, nanos};
use super::deliveries::topic_tag;
use super::interpret::{Flow, scene};
use super::phoenix::{Incoming, Outgoing, Status};
use super::presence::{PresenceChange, presence_change};
use super::program::Operation;
use super::recovery::{Recovery, recovery_in, with_request};
use super::sending::opcode_of;
use super::shard::Shard;
use crate::observe::{Kind, NO_ROOM, Nanos, Observation, Outcome};
use crate::scenario::plan::{Dialect, Join};
use crate::scenario::template::Template;

/// Timeout of a leave, the same as in Phoenix's own client.
const LEAVE_TIMEOUT: Nanos = 10_000_000_000;

/// Maximum number of keys in one user's presence list; further keys are ignored.
const PRESENT_MAX: usize = 100_000;

impl Shard {
    /// Joins a topic.
    pub(super) fn join(&mut self, io: &mut Io<'_, Self>, place: u32, join: &Join) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        if client.dialect.phoenix.is_none() || client.line != Line::Open {
            return self.not_ready(place, "join: no Phoenix socket is open");
        }
        client.intended = client.take_intended();
        self.begins(place, now);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let host = &self.stage.targets.target(client.target).host;
        let scene = scene(&self.stage, host, b"");
        let (topic, payload) = (scene.text(&join.topic, client), scene.text(&join.payload, client));
        let payload = if payload.is_empty() { "{}".to_owned() } else { payload };
        let standing = client.followed(topic_tag(&topic)).and_then(|followed| followed.standing.as_ref());
        let payload = match standing.filter(|_| join.recover) {
            Some(standing) => with_request(&payload, standing),
            None => Some(payload),
        };
        let Some(payload) = payload else {
            return self.not_ready(place, "join: with `recover` the payload must be an object");
        };
        let join_ref = client.next_reference();
        client.doing = Doing::Joining;
        client.awaited = join_ref;
        client.step_began = now;
        client.step_due = now.saturating_add(nanos(join.timeout));
        let Join { echo, presence, recover, .. } = *join;
        let pending = PendingJoin { topic, join_ref, echo, presence, recover };
        let outgoing = Outgoing {
            join_ref: Some(join_ref),
            reference: join_ref,
            topic: &pending.topic,
            event: "phx_join",
            payload: Payload::Json(&payload),
        };
        self.say(io, place, &outgoing);
        if let Some(client) = self.clients.item_mut(place) {
            client.rare_mut().join = Some(Box::new(pending));
        }
        Flow::Waits
    }

    /// Leaves a topic: no more messages are expected from it, and the membership is settled when the server has
    /// answered.
    pub(super) fn leave_topic(&mut self, io: &mut Io<'_, Self>, place: u32, topic: &Template) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let host = &self.stage.targets.target(client.target).host;
        let topic = scene(&self.stage, host, b"").text(topic, client);
        let tag = topic_tag(&topic);
        let reference = client.next_reference();
        let is_open = client.line == Line::Open;
        let membership = client.memberships_mut().find(|one| one.topic == tag && one.join_ref != 0);
        let Some(membership) = membership.filter(|_| is_open) else {
            return self.not_ready(place, "leave: the topic is not joined");
        };
        membership.depart(&self.stage);
        let join_ref = membership.join_ref;
        client.doing = Doing::Leaving;
        client.awaited = reference;
        client.step_began = now;
        client.step_due = now.saturating_add(LEAVE_TIMEOUT);
        let outgoing = Outgoing {
            join_ref: Some(join_ref),
            reference,
            topic: &topic,
            event: "phx_leave",
            payload: Payload::Json("{}"),
        };
        self.say(io, place, &outgoing);
        Flow::Waits
    }

    fn say(&mut self, io: &mut Io<'_, Self>, place: u32, outgoing: &Outgoing<'_>) -> bool {
        let Some(version) = self.clients.item(place).and_then(|client| client.dialect.phoenix) else {
            return false;
        };
        self.body.clear();
        // Text has no length limits, and nothing binary is sent this way.
        let Ok(kind) = outgoing.write(version, &mut self.body) else { return false };
        self.transmit(io, place, opcode_of(kind))
    }

    /// Handles a message on a Phoenix socket.
    pub(super) fn phoenix_message(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        version: Version,
        kind: FrameKind,
        body: &[u8],
        at: Nanos,
    ) {
        let message = match Incoming::read(version, kind, body) {
            Ok(message) => message,
            Err(error) => {
                let text = format!("not a Phoenix message: {}", error.0);
                return self.break_off(io, place, CloseCode::INVALID_DATA, Outcome::Protocol, text);
            }
        };
        let Some(client) = self.clients.item_mut(place) else { return };
        // Any message with the heartbeat's reference answers it, as in Phoenix's own client.
        if message.reference.is_some_and(|reference| reference == client.heartbeat) && client.heartbeat != 0 {
            client.heartbeat = 0;
            return;
        }
        self.keep_for_capture(place, message.payload_bytes());
        match &*message.event {
            "phx_reply" => self.reply(io, place, &message, at),
            "phx_close" | "phx_error" => self.topic_ended(io, place, &message, at),
            "presence_state" | "presence_diff" => self.presence(place, &message),
            _ => {
                let tag = topic_tag(&message.topic);
                let room = self.clients.item(place).and_then(|client| {
                    client.memberships().find(|one| one.topic == tag).map(|membership| membership.room)
                });
                self.keep_place(place, tag, &message);
                self.receive(place, room.unwrap_or(NO_ROOM), message.payload_bytes(), at);
            }
        }
        let (topic, event) = (Some(&*message.topic), Some(&*message.event));
        self.match_wait(io, place, topic, event, message.payload_bytes(), at);
    }

    fn reply(&mut self, io: &mut Io<'_, Self>, place: u32, message: &Incoming<'_>, at: Nanos) {
        if self.is_awaited_echo(place, message.payload_bytes()) {
            self.receive(place, NO_ROOM, message.payload_bytes(), at);
        }
        let status = message.status();
        if let Some(reference) = message.reference {
            self.publication_answered(place, reference, status == Some(Status::Ok));
        }
        let Some(client) = self.clients.item(place) else { return };
        if message.reference != Some(client.awaited) {
            return;
        }
        let outcome = match status {
            Some(Status::Ok) => Outcome::Ok,
            Some(Status::Error) => Outcome::Rejected,
            None => Outcome::Protocol,
        };
        let text = || {
            let payload = String::from_utf8_lossy(message.payload_bytes()).into_owned();
            format!("{} on {}: {payload}", message.event, message.topic)
        };
        match client.doing {
            Doing::Joining => {
                let recovery = self.recovers(place).then(|| recovery_in(message)).flatten();
                self.join_answered(io, place, outcome, recovery, at, text);
            }
            Doing::Leaving => self.left(io, place, &message.topic, outcome, at),
            Doing::Pushing => self.push_answered(io, place, outcome, at, text),
            Doing::Ready
            | Doing::Connecting
            | Doing::Matching
            | Doing::Pausing
            | Doing::AtBarrier
            | Doing::Requesting
            | Doing::Closing
            | Doing::HalfOpen
            | Doing::Finishing
            | Doing::Staying
            | Doing::Draining
            | Doing::Resting => {}
        }
    }

    fn join_answered(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        outcome: Outcome,
        recovery: Option<Recovery>,
        at: Nanos,
        text: impl FnOnce() -> String,
    ) {
        let pending = self.clients.item_mut(place).and_then(|client| client.rare_mut().join.take());
        let Some(pending) = pending else { return };
        // A user that relies on recovery must not be told that it recovered by a topic that keeps nothing.
        let keeps_nothing = pending.recover && recovery.is_none();
        // A server that does not know the topic's position yet will know it later, and nothing is lost so far.
        let knows_nothing_yet = recovery.as_ref().is_some_and(|recovery| recovery.standing.is_none())
            && self.is_away(place, topic_tag(&pending.topic));
        let outcome = if outcome != Outcome::Ok {
            outcome
        } else if keeps_nothing {
            Outcome::Protocol
        } else if knows_nothing_yet {
            Outcome::Rejected
        } else {
            Outcome::Ok
        };
        let label = self.running_label(place);
        let mut seen = self.of_client(place, Kind::Join, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        let (began, count) = (client.step_began, client.begin_lag_us());
        let intended = client.take_intended();
        if outcome == Outcome::Ok {
            if let Some(rare) = &mut client.rare {
                rare.returns = 0;
            }
            let PendingJoin { topic, join_ref, echo, presence, .. } = &*pending;
            let room = match recovery {
                Some(recovery) => self.follow(place, &pending, recovery, at),
                None => self.enter_room(place, topic, *join_ref, *echo, *presence),
            };
            if let Some(room) = room {
                seen.room = room;
                self.raise(|gauges| &gauges.joined);
            }
        } else {
            seen.room = self.stage.rooms.intern(&pending.topic).unwrap_or(NO_ROOM);
        }
        self.see(Observation { began, intended, count, label, ..seen }, text);
        if outcome == Outcome::Ok {
            self.step_done(io, place, at);
        } else if outcome == Outcome::Protocol || !self.comes_back(io, place, outcome) {
            self.end_session(io, place, outcome);
        }
    }

    pub(super) fn join_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        self.join_answered(io, place, Outcome::Timeout, None, at, || "no reply to the join".to_owned());
    }

    fn push_answered(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        outcome: Outcome,
        at: Nanos,
        text: impl FnOnce() -> String,
    ) {
        let label = self.running_label(place);
        let seen = self.of_client(place, Kind::Reply, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        let began = client.step_began;
        let intended = client.take_intended();
        self.see(Observation { began, intended, label, ..seen }, text);
        self.step_done(io, place, at);
    }

    pub(super) fn reply_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        self.push_answered(io, place, Outcome::Timeout, at, || "no reply to the push".to_owned());
    }

    fn left(&mut self, io: &mut Io<'_, Self>, place: u32, topic: &str, outcome: Outcome, at: Nanos) {
        let tag = topic_tag(topic);
        if let Some(membership) =
            self.clients.item_mut(place).and_then(|client| client.leave(|one| one.topic == tag))
        {
            self.settle(place, membership, outcome, at);
        }
        self.step_done(io, place, at);
    }

    pub(super) fn leave_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        let departed = |client: &mut Client| client.leave(|one| one.tracker.departed().is_some());
        if let Some(membership) = self.clients.item_mut(place).and_then(departed) {
            self.settle(place, membership, Outcome::Timeout, at);
        }
        self.step_done(io, place, at);
    }

    /// The server has ended a topic: the user is no longer in the room.
    fn topic_ended(&mut self, io: &mut Io<'_, Self>, place: u32, message: &Incoming<'_>, at: Nanos) {
        let tag = topic_tag(&message.topic);
        let Some(client) = self.clients.item_mut(place) else { return };
        let is_old = |join_ref: u32| message.join_ref.is_some_and(|theirs| theirs != join_ref);
        let Some(membership) = client.leave(|one| one.topic == tag && !is_old(one.join_ref)) else { return };
        let was_asked = membership.tracker.departed().is_some();
        let outcome = match (&*message.event, was_asked) {
            (_, true) => Outcome::Ok,
            ("phx_close", false) => Outcome::Closed,
            (_, false) => Outcome::Rejected,
        };
        let is_leaving = client.doing == Doing::Leaving && was_asked;
        self.settle(place, membership, outcome, at);
        // Phoenix sends `phx_close` before it replies to the leave.
        if is_leaving {
            self.step_done(io, place, at);
        }
    }

    fn presence(&mut self, place: u32, message: &Incoming<'_>) {
        let tag = topic_tag(&message.topic);
        let Some(client) = self.clients.item_mut(place) else { return };
        if !client.memberships().any(|one| one.topic == tag && one.presence) {
            return;
        }
        let Some(change) = presence_change(message) else { return };
        let present = &mut client.rare_mut().present;
        let before = present.len();
        let (joins, leaves) = match change {
            PresenceChange::State(state) => {
                present.clear();
                (state, Vec::new())
            }
            PresenceChange::Difference { joins, leaves } => (joins, leaves),
        };
        for (key, count) in joins {
            if present.len() < PRESENT_MAX || present.contains_key(&key) {
                *present.entry(key).or_default() += count;
            }
        }
        for (key, count) in leaves {
            if let Some(left) = present.get_mut(&key) {
                *left = left.saturating_sub(count);
                if *left == 0 {
                    present.remove(&key);
                }
            }
        }
        let after = present.len();
        self.stage.gauges.list_changed(before as u64, after as u64);
    }

    /// Sends a heartbeat that is due, or ends the connection if the last one was not answered.
    pub(super) fn heartbeat(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        if client.line != Line::Open {
            return self.heartbeats_end(place);
        }
        if client.heartbeat != 0 {
            let text = "no reply to the heartbeat before the next one".to_owned();
            return self.break_off(io, place, CloseCode::NORMAL, Outcome::Heartbeat, text);
        }
        let Some(every) = self.heartbeat_interval(place) else { return self.heartbeats_end(place) };
        let Some(client) = self.clients.item_mut(place) else { return };
        let reference = client.next_reference();
        client.heartbeat = reference;
        client.heartbeat_due = now.saturating_add(every);
        let outgoing = Outgoing {
            join_ref: None,
            reference,
            topic: "phoenix",
            event: "heartbeat",
            payload: Payload::Json("{}"),
        };
        self.say(io, place, &outgoing);
    }

    fn heartbeats_end(&mut self, place: u32) {
        if let Some(client) = self.clients.item_mut(place) {
            client.heartbeat_due = NEVER;
        }
    }

    fn heartbeat_interval(&self, place: u32) -> Option<Nanos> {
        let client = self.clients.item(place)?;
        let program = self.programs.get(usize::from(client.session.0))?;
        let Operation::Connect(_, connect) = program.operations.get(client.dialect.opened_by as usize)?
        else {
            return None;
        };
        match connect.dialect {
            Dialect::Phoenix { heartbeat, .. } => heartbeat.map(nanos),
            Dialect::Raw => None,
        }
    }
}
