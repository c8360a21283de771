//! Fan-out: passes over the members of topics, a bounded number of deliveries at a time, with owners and their topics
//! taking turns.

use crate::active::{Pending, Reach};
use crate::backlog::{Encoded, Pass, Queued};
use crate::connection::Extra;
use crate::effect::{Effect, Effects};
use crate::frames::{DIALECTS, Dialect, Transport, wrap};
use crate::guard;
use crate::hub::Hub;
use crate::ids::TopicId;
use crate::limits::{KEPT_BYTES_MAX, WALK_TURN_MAX};
use crate::member::Member;
use crate::publication::Publication;
use crate::topic::Topic;
use bytes::Bytes;
use proto::phoenix::{FrameKind, encode_broadcast};
use proto::ws::deflate::Deflater;
use std::sync::Arc;

/// Encodes messages; owns the buffers for this.
#[derive(Default)]
pub(crate) struct Encoder {
    deflater: Deflater,
    pub(crate) body: Vec<u8>,
    scratch: Vec<u8>,
}

impl Encoder {
    /// Releases the memory that a large message needed.
    pub(crate) fn rest(&mut self) {
        for buffer in [&mut self.body, &mut self.scratch] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Frames `self.body` for one connection. Returns `false` if its transport cannot carry it.
    pub(crate) fn frame_body(&mut self, dialect: Dialect, kind: FrameKind, out: &mut Vec<u8>) -> bool {
        wrap(dialect, kind, &self.body, &mut self.deflater, &mut self.scratch, out)
    }

    /// Encodes the shared frame of a publication in one dialect.
    pub(crate) fn publication(&mut self, dialect: Dialect, publication: &Publication) -> Encoded {
        self.body.clear();
        let Publication { topic, event, payload, .. } = publication;
        let encoded = encode_broadcast(dialect.version, &mut self.body, topic, event, payload.as_payload());
        let Ok(kind) = encoded else { return Encoded::Impossible };
        let mut frame = Vec::with_capacity(self.body.len() + 10);
        if self.frame_body(dialect, kind, &mut frame) {
            Encoded::Frame(frame.into())
        } else {
            Encoded::Impossible
        }
    }

    pub(crate) fn queued(&mut self, dialect: Dialect, queued: &mut Queued) -> Option<Bytes> {
        let encoded = &mut queued.frames[dialect.index()];
        if let Encoded::NotYet = encoded {
            *encoded = self.publication(dialect, &queued.publication);
        }
        match encoded {
            Encoded::Frame(frame) => Some(frame.clone()),
            Encoded::NotYet | Encoded::Impossible => None,
        }
    }

    /// Joins all frames of a pass into one. Not for long-polling, whose messages must stay separate.
    fn together(&mut self, dialect: Dialect, batch: &mut [Queued]) -> Encoded {
        if let [only] = batch {
            return self.queued(dialect, only).map_or(Encoded::Impossible, Encoded::Frame);
        }
        let mut joined = Vec::new();
        for queued in batch {
            let Some(frame) = self.queued(dialect, queued) else { return Encoded::Impossible };
            joined.extend_from_slice(&frame);
        }
        Encoded::Frame(joined.into())
    }
}

impl Hub {
    /// Delivers about `budget` messages of pending publications at most, and returns what is left.
    pub fn pump(&mut self, now: crate::Micros, budget: usize, reach: Reach, out: &mut Effects) -> Pending {
        self.now = now;
        self.begin_waiting_joins(out);
        self.settle_presences(out);
        // Most servers have neither a bus nor histories, and this code runs every turn.
        let is_alone = self.config.bus.is_none() && self.config.histories.is_empty();
        let subscribes = !is_alone && self.settle_orders(out);
        let mut left = budget;
        while left > 0 {
            let Some(id) = self.active.pop(reach) else { break };
            let turn_max = if self.active.pending().any() { left.min(WALK_TURN_MAX) } else { left };
            left = left.saturating_sub(self.walk(id, turn_max, out).max(1));
            if let Some(topic) = self.topics.get_mut(id.0 as usize).filter(|topic| topic.active) {
                topic.active = topic.queued() > 0;
                if topic.active {
                    let is_crowd = topic.members() >= self.config.limits.crowd_members_min;
                    self.active.push(topic.owner, id, is_crowd);
                }
            }
        }
        for key in std::mem::take(&mut self.released) {
            self.resume(key, out);
        }
        self.encoder.rest();
        let pending = self.active.pending();
        let asks = subscribes || !self.questions.is_empty();
        Pending { to_few: pending.to_few || asks, ..pending }
    }

    /// Continues the requests of recoverable topics and to the bus. Returns `true` when there is more to subscribe.
    fn settle_orders(&mut self, out: &mut Effects) -> bool {
        self.stop_believing();
        let subscribes =
            self.resubscribe(out) | self.verify(out) | self.settle_doubts(out) | self.ask_unanswered(out);
        self.settle_histories(out);
        self.ask_questions(out);
        subscribes
    }

    /// Continues a topic's pass and returns how many members it served.
    fn walk(&mut self, id: TopicId, turn_max: usize, out: &mut Effects) -> usize {
        let Some(pass) = self.topics.get_mut(id.0 as usize).and_then(Topic::begin_pass) else { return 0 };
        // The index of each dialect's frames among the shared frames of these effects.
        let mut shared = [None; DIALECTS];
        let mut served = 0;
        while served < turn_max {
            let Some(topic) = self.topics.get_mut(id.0 as usize) else { return served };
            let Some(member) = topic.next_member() else { break };
            served += 1;
            self.serve(id, pass, member, &mut shared, out);
            // Nearly all members that follow get the same frames.
            let Some(topic) = self.topics.get_mut(id.0 as usize) else { return served };
            let alike = topic.serve(turn_max - served, |members| deliver_shared(members, pass, &shared, out));
            self.counters.deliveries += u64::from(pass.publications) * alike as u64;
            served += alike;
        }
        self.complete_pass(id, out);
        served
    }

    /// Delivers to a member what it gets from the pass, and shares the pass's frames in its dialect if it gets them
    /// all.
    fn serve(
        &mut self,
        id: TopicId,
        pass: Pass,
        member: Member,
        shared: &mut [Option<u32>; DIALECTS],
        out: &mut Effects,
    ) {
        let Some((batch, together)) = self.topics[id.0 as usize].batch() else { return };
        let dialect = member.dialect();
        let plain = !member.intercepts && dialect.transport != Transport::LongPoll;
        if !plain || !batch.iter().all(|queued| queued.is_for(member)) {
            return self.serve_singly(id, member, out);
        }
        let at = dialect.index();
        if let Encoded::NotYet = together[at] {
            together[at] = self.encoder.together(dialect, batch);
        }
        let Encoded::Frame(frame) = &together[at] else {
            return self.serve_singly(id, member, out);
        };
        let frame = *shared[at].get_or_insert_with(|| out.share(frame));
        self.counters.deliveries += u64::from(pass.publications);
        out.deliver([member.slot], frame);
    }

    fn complete_pass(&mut self, id: TopicId, out: &mut Effects) {
        let Some(topic) = self.topics.get_mut(id.0 as usize).filter(|topic| topic.is_pass_complete()) else {
            return;
        };
        let members = topic.members() as u32;
        topic.end_pass(&mut self.spare_backlogs, |received| out.push(Effect::Walked { received, members }));
        self.recount_topic(id);
        self.list_question(id);
        // Before anything else takes the room.
        if !self.owed_gaps.is_empty() {
            self.tell_owed_gap(id);
        }
    }

    /// Delivers each publication of the pass that the member gets, one by one; those that its channel intercepts go to
    /// the channel.
    fn serve_singly(&mut self, id: TopicId, member: Member, out: &mut Effects) {
        let batch = self.topics[id.0 as usize].batch().map_or(0, |(batch, _)| batch.len());
        for at in 0..batch {
            // A channel's handler may have ended its join, and with it even the topic.
            if !self.connections.join(member.slot, id).is_some_and(|join| join.is_joined()) {
                return;
            }
            let Some((batch, _)) = self.topics[id.0 as usize].batch() else { return };
            if !batch[at].is_for(member) {
                continue;
            }
            let publication = member.intercepts.then(|| batch[at].publication.clone());
            if let Some(publication) = publication.filter(|one| self.intercepts(member.slot, id, one)) {
                self.hand_out(member.slot, id, &publication, out);
                continue;
            }
            let Some((batch, _)) = self.topics[id.0 as usize].batch() else { return };
            match self.encoder.queued(member.dialect(), &mut batch[at]) {
                Some(frame) => {
                    self.counters.deliveries += 1;
                    let frame = out.share(&frame);
                    out.deliver([member.slot], frame);
                }
                None => self.counters.undeliverable += 1,
            }
        }
    }

    pub(crate) fn intercepts(&self, slot: u32, id: TopicId, publication: &Publication) -> bool {
        let channel = self.connections.join(slot, id).and_then(|join| join.channel.as_deref());
        channel.is_some_and(|channel| guard::intercepts(channel).contains(&&*publication.event))
    }

    pub(crate) fn hand_out(
        &mut self,
        slot: u32,
        id: TopicId,
        publication: &Arc<Publication>,
        out: &mut Effects,
    ) {
        self.call(slot, id, proto::phoenix::Ref::NULL, out, |channel, cx| {
            channel.handle_out(cx, &publication.event, publication.payload.as_payload());
        });
        // A held channel may have ended here; then nothing else resumes the frames that waited for it.
        let Some(connection) = self.connections.get(slot).filter(|connection| connection.join(id).is_none())
        else {
            return;
        };
        if connection.extra().is_some_and(Extra::has_parked) {
            self.released.extend(self.connections.key_of(slot));
        }
    }
}

/// Delivers a pass's shared frames to the first of these members, up to one who does not get all of it, or in whose dialect
/// it is not shared yet. Returns how many got it.
fn deliver_shared(
    members: &[Member],
    pass: Pass,
    shared: &[Option<u32>; DIALECTS],
    out: &mut Effects,
) -> usize {
    let mut rest = members;
    while let [first, ..] = rest
        && !first.intercepts
        && let Some(frame) = shared[first.dialect_index()]
    {
        let gets_it = |member: &Member| member.is_served_like(*first) && pass.is_all_for(*member);
        let alike = rest.iter().position(|member| !gets_it(member)).unwrap_or(rest.len());
        if alike == 0 {
            break;
        }
        let receivers;
        (receivers, rest) = rest.split_at(alike);
        out.deliver(receivers.iter().map(|member| member.slot), frame);
    }
    members.len() - rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::Outgoing;
    use proto::phoenix::Version;

    #[test]
    fn what_a_large_message_needed_is_given_back() {
        let mut encoder = Encoder::default();
        let payload = Outgoing::from(serde_json::Value::from("x".repeat(KEPT_BYTES_MAX * 4)));
        let received = crate::Micros(0);
        let publication =
            Publication { topic: "t".into(), event: "e".into(), payload, received, place: None };
        let dialect = Dialect { version: Version::V2, transport: Transport::WebSocketDeflate };
        assert!(matches!(encoder.publication(dialect, &publication), Encoded::Frame(_)));
        encoder.scratch.resize(KEPT_BYTES_MAX * 2, 0);
        encoder.rest();
        assert!(encoder.body.capacity() <= KEPT_BYTES_MAX, "{}", encoder.body.capacity());
        assert!(encoder.scratch.capacity() <= KEPT_BYTES_MAX, "{}", encoder.scratch.capacity());
    }
}
