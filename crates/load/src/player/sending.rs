//! What a user sends: messages on a plain WebSocket, pushes on a Phoenix topic.

use engine::Io;
use proto::phoenix::{FrameKind, Payload};
use proto::ws::Opcode;

use super::client::{Doing, Line};
use super::clock::nanos;
use super::deliveries::{Publication, c10k_ping, topic_tag};
use super::interpret::{Flow, scene};
use super::phoenix::Outgoing;
use super::shard::Shard;
use crate::scenario::plan::{Body, LabelId, Push, Send};

impl Shard {
    /// Sends a plain message.
    pub(super) fn send(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        label: Option<LabelId>,
        send: &Send,
    ) -> Flow {
        let is_open = self.clients.item(place).is_some_and(|client| client.line == Line::Open);
        if !is_open {
            return self.not_ready(place, "send: no WebSocket is open");
        }
        let Some(publication) = self.publish(place, &send.audience, &send.body, None) else {
            return self.not_ready(place, "send: the user is not in a room");
        };
        self.write_body(place, &send.body, &publication);
        let bytes = self.body.len();
        let opcode = if send.binary { Opcode::Binary } else { Opcode::Text };
        if !self.transmit(io, place, opcode) {
            // The engine reports next that the connection has ended.
            self.withdraw(place, &publication);
            return Flow::Waits;
        }
        self.report_send(place, label, &publication, bytes);
        if let Some(client) = self.clients.item_mut(place) {
            client.ready_at = publication.at;
        }
        Flow::Next
    }

    /// Pushes an event to a joined topic.
    pub(super) fn push(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        label: Option<LabelId>,
        push: &Push,
    ) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let Some(version) = client.dialect.phoenix.filter(|_| client.line == Line::Open) else {
            return self.not_ready(place, "push: no Phoenix socket is open");
        };
        let host = &self.stage.targets.target(client.target).host;
        let scene = scene(&self.stage, host, b"");
        let (topic, event) = (scene.text(&push.topic, client), scene.text(&push.event, client));
        let tag = topic_tag(&topic);
        let Some(join_ref) = client.memberships().find(|one| one.topic == tag).map(|one| one.join_ref) else {
            return self.not_ready(place, "push: the topic is not joined");
        };
        let reference = client.next_reference();
        let Some(publication) = self.publish(place, &push.audience, &push.body, Some(tag)) else {
            return self.not_ready(place, "push: the topic is not joined");
        };
        self.write_body(place, &push.body, &publication);
        let payload = std::mem::take(&mut self.body);
        let bytes = payload.len();
        let payload_of = |bytes| match push.binary || push.body_is_bytes() {
            true => Some(Payload::Binary(bytes)),
            false => std::str::from_utf8(bytes).ok().map(Payload::Json),
        };
        let written = payload_of(&payload[..]).map(|payload| {
            Outgoing { join_ref: Some(join_ref), reference, topic: &topic, event: &event, payload }
                .write(version, &mut self.body)
        });
        let is_gone = match written {
            Some(Ok(kind)) => !self.transmit(io, place, opcode_of(kind)),
            Some(Err(_)) | None => {
                self.withdraw(place, &publication);
                return self.not_ready(place, "push: the message cannot be encoded for this Phoenix version");
            }
        };
        if is_gone {
            self.withdraw(place, &publication);
            return Flow::Waits;
        }
        // Keeps the buffer's memory for the next message.
        self.body = payload;
        self.report_send(place, label, &publication, bytes);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.ready_at = publication.at;
        let Some(timeout) = push.reply else { return Flow::Next };
        self.await_answer(place, tag, reference, &publication);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.doing = Doing::Pushing;
        client.awaited = reference;
        client.step_began = publication.at;
        client.intended = publication.intended;
        client.step_due = publication.at.saturating_add(nanos(timeout));
        Flow::Waits
    }

    /// Writes a message's payload into `body`.
    fn write_body(&mut self, place: u32, body: &Body, publication: &Publication) {
        self.body.clear();
        match body {
            Body::C10kPing => {
                let time_us = self.stage.clock.unix_us(publication.at);
                self.body.extend_from_slice(&c10k_ping(time_us));
            }
            Body::Template(template) => {
                let Some(client) = self.clients.item_mut(place) else { return };
                let host = &self.stage.targets.target(client.target).host;
                let stamp = publication.stamp.as_ref().map_or(&b""[..], |stamp| &stamp[..]);
                scene(&self.stage, host, stamp).render(template, client, &mut self.body);
            }
        }
    }
}

impl Push {
    /// Returns whether the body cannot be represented as text.
    fn body_is_bytes(&self) -> bool {
        matches!(self.body, Body::C10kPing)
    }
}

/// Returns the frame opcode for a message of this kind.
pub(super) fn opcode_of(kind: FrameKind) -> Opcode {
    match kind {
        FrameKind::Text => Opcode::Text,
        FrameKind::Binary => Opcode::Binary,
    }
}
