//! Dispatch of client messages: the first matching rule wins, in Phoenix's order.

use crate::channel::Ended;
use crate::connection::{Extra, Parked};
use crate::effect::{Effect, Effects};
use crate::hub::Hub;
use crate::ids::{ConnectionKey, Ticket, TopicId};
use crate::join::JoinState;
use crate::limits::{PARKED_BYTES_MAX, PARKED_FRAMES_MAX};
use crate::outgoing::Outgoing;
use proto::phoenix::{FrameKind, Message, Name, Ref, decode, encode_lifecycle, encode_push, encode_reply};
use proto::ws::CloseCode;

const JOIN: &str = "phx_join";
const LEAVE: &str = "phx_leave";
pub(crate) const UNMATCHED: Outgoing<'static> = Outgoing::json(r#"{"reason":"unmatched topic"}"#);

impl Hub {
    pub(crate) fn frame(
        &mut self,
        key: ConnectionKey,
        kind: FrameKind,
        bytes: &[u8],
        ticket: Ticket,
        out: &mut Effects,
    ) {
        let Some(connection) = self.connections.keyed(key) else { return };
        match decode(connection.dialect().version, kind, bytes) {
            Ok(message) => {
                let joined = self.joined(key.slot, &message.topic);
                if self.must_wait(key.slot, joined) {
                    self.park(key.slot, kind, bytes, ticket, out);
                } else {
                    self.counters.messages_in += 1;
                    self.message(key, message, joined, ticket, out);
                }
            }
            Err(_) => {
                self.counters.undecodable += 1;
                self.close(key.slot, CloseCode::INTERNAL, out);
            }
        }
    }

    /// Returns whether a message has to wait for an undecided join or for a channel that holds.
    fn must_wait(&self, slot: u32, joined: Option<TopicId>) -> bool {
        let Some(connection) = self.connections.get(slot) else { return false };
        let sequential = self.mounts.get(usize::from(connection.mount.0)).is_some_and(|m| m.sequential_joins);
        let waits = |topic: TopicId| connection.join(topic).is_some_and(|join| join.is_waiting());
        joined.is_some_and(waits)
            || (sequential && connection.joins().any(|join| join.is_waiting() && !join.is_joined()))
    }

    /// Returns the topic with that name, if the connection has a join to it.
    fn joined(&self, slot: u32, name: &Name<'_>) -> Option<TopicId> {
        let Name::Text(name) = name else { return None };
        let topic = self.topic_named(name)?;
        self.connections.join(slot, topic).map(|join| join.topic)
    }

    fn park(&mut self, slot: u32, kind: FrameKind, bytes: &[u8], ticket: Ticket, out: &mut Effects) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let parked = connection.extra_mut().parked();
        parked.bytes += bytes.len();
        if parked.frames.len() >= PARKED_FRAMES_MAX || parked.bytes > PARKED_BYTES_MAX {
            self.counters.parked_overflows += 1;
            self.close(slot, CloseCode::POLICY, out);
            return;
        }
        parked.frames.push_back(Parked { kind, bytes: bytes.into(), ticket });
        self.connections.recount(slot);
    }

    /// Handles the parked frames in order; those that still must wait are parked again.
    pub(crate) fn resume(&mut self, key: ConnectionKey, out: &mut Effects) {
        let extra = self.connections.keyed(key).and_then(|connection| connection.extra());
        if !extra.is_some_and(Extra::has_parked) {
            return;
        }
        let Some(connection) = self.connections.get_mut(key.slot) else { return };
        let parked = connection.extra_mut().take_parked();
        self.connections.recount(key.slot);
        for parked in parked {
            self.frame(key, parked.kind, &parked.bytes, parked.ticket, out);
        }
    }

    /// Handles one message: reference section 3.1.
    fn message(
        &mut self,
        key: ConnectionKey,
        message: Message<'_>,
        joined: Option<TopicId>,
        ticket: Ticket,
        out: &mut Effects,
    ) {
        let slot = key.slot;
        let event = match message.event.clone() {
            Name::Text(text) => Some(text),
            Name::Other(_) => None,
        };
        let event = event.as_deref();
        if event == Some("heartbeat") && message.topic == Name::Text("phoenix".into()) {
            self.answer_directly(slot, &Ref::NULL, &message, "ok", Outgoing::empty(), out);
            return self.taken(slot, ticket, out);
        }
        match (joined, event) {
            (None, Some(JOIN)) => return self.join(key, message, ticket, out),
            (Some(topic), Some(JOIN)) => {
                self.end_join(slot, topic, Ended::Replaced, out);
                return self.join(key, message, ticket, out);
            }
            (Some(topic), Some(LEAVE)) => self.leave(slot, topic, &message, out),
            (Some(topic), event) => return self.give_to_channel(slot, topic, event, message, ticket, out),
            (None, Some(LEAVE)) => {
                self.answer_directly(slot, &message.join_ref, &message, "ok", Outgoing::empty(), out);
            }
            (None, _) => self.answer_directly(slot, &Ref::NULL, &message, "error", UNMATCHED, out),
        }
        self.taken(slot, ticket, out);
    }

    /// Messages of an earlier join of the same topic are dropped silently.
    fn is_stale(&self, slot: u32, topic: TopicId, join_ref: &Ref) -> bool {
        !join_ref.is_null()
            && self.connections.join(slot, topic).is_some_and(|join| join.join_ref != *join_ref)
    }

    fn leave(&mut self, slot: u32, topic: TopicId, message: &Message<'_>, out: &mut Effects) {
        if self.is_stale(slot, topic, &message.join_ref) {
            return;
        }
        self.reply(slot, topic, &message.reference, "ok", Outgoing::empty(), out);
        self.end_join(slot, topic, Ended::Left, out);
    }

    fn give_to_channel(
        &mut self,
        slot: u32,
        topic: TopicId,
        event: Option<&str>,
        message: Message<'_>,
        ticket: Ticket,
        out: &mut Effects,
    ) {
        if self.is_stale(slot, topic, &message.join_ref) {
            return self.taken(slot, ticket, out);
        }
        match event {
            Some(event) => {
                let (reference, payload) = (message.reference, message.payload);
                self.call(slot, topic, reference, out, |channel, cx| channel.handle_in(cx, event, payload));
            }
            // No handler knows an event that is not a string; Phoenix's would crash.
            None => self.end_join(slot, topic, Ended::Failed, out),
        }
        match self.connections.join_mut(slot, topic) {
            Some(join) if join.state == JoinState::Held => join.extra().ticket = Some(ticket),
            Some(_) | None => self.taken(slot, ticket, out),
        }
    }

    /// Sends a reply that does not come from a channel.
    pub(crate) fn answer_directly(
        &mut self,
        slot: u32,
        join_ref: &Ref,
        message: &Message<'_>,
        status: &str,
        response: Outgoing<'_>,
        out: &mut Effects,
    ) {
        self.send(slot, out, |version, body| {
            encode_reply(
                version,
                body,
                join_ref,
                &message.reference,
                &message.topic,
                status,
                response.as_payload(),
            )
        });
    }

    /// Sends a channel's reply. Returns `false` if the client's dialect cannot carry the response.
    pub(crate) fn reply(
        &mut self,
        slot: u32,
        topic: TopicId,
        reference: &Ref,
        status: &str,
        response: Outgoing<'_>,
        out: &mut Effects,
    ) -> bool {
        let Some(join) = self.connections.join(slot, topic) else { return true };
        let join_ref = join.push_ref().clone();
        let name = self.topics[topic.0 as usize].name.clone();
        let name = Name::Text((&*name).into());
        self.send(slot, out, |version, body| {
            encode_reply(version, body, &join_ref, reference, &name, status, response.as_payload())
        })
    }

    /// Pushes to one client. Returns `false` if the client's dialect cannot carry the payload.
    pub(crate) fn push(
        &mut self,
        slot: u32,
        topic: TopicId,
        event: &str,
        payload: Outgoing<'_>,
        out: &mut Effects,
    ) -> bool {
        let Some(join) = self.connections.join(slot, topic) else { return true };
        let join_ref = join.push_ref().clone();
        let name = self.topics[topic.0 as usize].name.clone();
        self.send(slot, out, |version, body| {
            encode_push(version, body, &join_ref, &name, event, payload.as_payload())
        })
    }

    /// Sends `phx_close` or `phx_error`, with the join_ref as the client sent it.
    pub(crate) fn announce_end(
        &mut self,
        slot: u32,
        topic: TopicId,
        event: &str,
        payload: &str,
        out: &mut Effects,
    ) {
        let Some(join) = self.connections.join(slot, topic) else { return };
        let join_ref = join.join_ref.clone();
        let name = self.topics[topic.0 as usize].name.clone();
        self.send(slot, out, |version, body| {
            Ok::<_, std::convert::Infallible>(encode_lifecycle(
                version, body, &join_ref, &name, event, payload,
            ))
        });
    }

    fn send<E>(
        &mut self,
        slot: u32,
        out: &mut Effects,
        encode: impl FnOnce(proto::phoenix::Version, &mut Vec<u8>) -> Result<FrameKind, E>,
    ) -> bool {
        let Some(connection) = self.connections.get(slot) else { return true };
        let dialect = connection.dialect();
        self.encoder.body.clear();
        let encoded = encode(dialect.version, &mut self.encoder.body);
        let start = out.bytes.len();
        let sent = encoded.is_ok_and(|kind| self.encoder.frame_body(dialect, kind, &mut out.bytes));
        if sent {
            self.counters.messages_out += 1;
            out.push(Effect::Send { slot, range: start..out.bytes.len() });
        } else {
            self.counters.undeliverable += 1;
        }
        sent
    }
}
