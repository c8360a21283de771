//! Joins, from the request to the end, and the calls into their channels.

use crate::channel::{Channel, ChannelFactory, Ended, Joining};
use crate::class::Class;
use crate::connection::Connections;
use crate::context::{Context, Outcome};
use crate::dispatch::UNMATCHED;
use crate::effect::{Effect, Effects};
use crate::event::ShardMessage;
use crate::follow::RecoverRequest;
use crate::guard;
use crate::hub::{Hub, Routes};
use crate::ids::{ConnectionKey, InterestEpoch, JoinInstance, Ticket, TopicId};
use crate::join::{Join, JoinState, NOT_A_MEMBER, channel_bytes};
use crate::join_queue::{JoinQueueFull, QueuedJoin};
use crate::outgoing::Outgoing;
use crate::recover_request::parse_recover;
use crate::recovery::Start;
use crate::sizes::shared_text_bytes;
use crate::splice::with_member;
use crate::tasks::Purpose;
use crate::topic::{Interest, Topic};
use proto::phoenix::{Message, Name, Payload, Ref, Version};
use std::sync::Arc;

const TOO_MANY: Outgoing<'static> = Outgoing::json(r#"{"reason":"too many channels joined"}"#);
const BAD_WISH: Outgoing<'static> = Outgoing::json(
    r#"{"reason":"bad recover: write {\"epoch\": \"…\", \"offset\": 17} as the last reply had it"}"#,
);
/// The member of a join's reply that contains the client's position.
const RECOVER_KEY: &str = "recover";
const CRASHED: Outgoing<'static> = Outgoing::json(r#"{"reason":"join crashed"}"#);

impl Hub {
    /// Handles a `phx_join`: reference section 3.2.
    pub(crate) fn join(
        &mut self,
        key: ConnectionKey,
        message: Message<'_>,
        ticket: Ticket,
        out: &mut Effects,
    ) {
        let slot = key.slot;
        let Name::Text(name) = &message.topic else {
            return self.refuse_directly(slot, &Ref::NULL, &message, UNMATCHED, ticket, out);
        };
        let Some(factory) = factory_for(&self.connections, &self.mounts, slot, name) else {
            return self.refuse_directly(slot, &Ref::NULL, &message, UNMATCHED, ticket, out);
        };
        let joins = self.connections.get(slot).map_or(0, |connection| connection.joins().count());
        if joins >= self.channels_max(slot) {
            return self.refuse_directly(slot, &message.join_ref, &message, TOO_MANY, ticket, out);
        }
        let request = if self.is_recoverable(name) { parse_recover(message.payload) } else { Ok(None) };
        let Ok(request) = request else {
            return self.refuse_directly(slot, &message.join_ref, &message, BAD_WISH, ticket, out);
        };
        let waits = self.join_line.must_wait(self.now);
        if waits
            && let Err(JoinQueueFull { retry_after_ms }) = self.join_line.has_room(payload_bytes(&message))
        {
            self.counters.joins_overloaded += 1;
            let response = format!(r#"{{"reason":"overloaded","retry_after_ms":{retry_after_ms}}}"#);
            let response = Outgoing::Json(response.into());
            return self.refuse_directly(slot, &message.join_ref, &message, response, ticket, out);
        }
        let Some(channel) = guard::make(factory, name) else {
            return self.refuse_directly(slot, &message.join_ref, &message, CRASHED, ticket, out);
        };
        let topic = self.topic_id(name);
        self.begin_join(slot, topic, channel, &message, ticket);
        if let Some(request) = request {
            self.request_recovery(slot, topic, request);
        }
        let payload = message.payload;
        if waits {
            return self.queue_join(key, topic, payload);
        }
        let decision = self.call(slot, topic, Ref::NULL, out, |channel, cx| channel.join(cx, payload));
        self.decide(slot, topic, decision, out);
    }

    /// Queues the join that has just begun until its turn comes. Meanwhile its client's messages for the topic wait, as
    /// they do for any join that is not decided yet.
    fn queue_join(&mut self, key: ConnectionKey, topic: TopicId, payload: Payload<'_>) {
        let Some(instance) = self.connections.join(key.slot, topic).map(|join| join.instance) else { return };
        self.counters.joins_queued += 1;
        let payload = Outgoing::from(payload).into_owned();
        self.join_line.push(QueuedJoin { key, topic, instance, payload });
    }

    /// Calls the channels of the queued joins whose turn has come.
    pub(crate) fn begin_waiting_joins(&mut self, out: &mut Effects) {
        loop {
            let connections = &self.connections;
            let is_there =
                |join: &QueuedJoin| connections.topic_of(join.key, join.instance) == Some(join.topic);
            let Some(join) = self.join_line.next(self.now, is_there) else { return };
            let QueuedJoin { key, topic, payload, .. } = join;
            let decision = self
                .call(key.slot, topic, Ref::NULL, out, |channel, cx| channel.join(cx, payload.as_payload()));
            self.decide(key.slot, topic, decision, out);
            self.resume(key, out);
        }
    }

    /// Refuses a join that has no [`Join`] yet.
    fn refuse_directly(
        &mut self,
        slot: u32,
        join_ref: &Ref,
        message: &Message<'_>,
        response: Outgoing<'_>,
        ticket: Ticket,
        out: &mut Effects,
    ) {
        self.counters.joins_refused += 1;
        self.answer_directly(slot, join_ref, message, "error", response, out);
        self.taken(slot, ticket, out);
    }

    fn channels_max(&self, slot: u32) -> usize {
        let mount = self.connections.get(slot).map(|connection| usize::from(connection.mount.0));
        let routes = mount.and_then(|mount| self.mounts.get(mount));
        routes.and_then(|routes| routes.channels_max).unwrap_or(self.config.limits.channels_max)
    }

    fn topic_id(&mut self, name: &str) -> TopicId {
        if let Some(id) = self.topic_named(name) {
            return id;
        }
        let name: Arc<str> = name.into();
        self.memory.topics += shared_text_bytes(&name) as u64;
        let (owner, is_recoverable) = (self.owners.add(&name), self.is_recoverable(&name));
        let id = TopicId(self.topics.insert(Topic::new(name, owner, is_recoverable)) as u32);
        self.recount_follow(id);
        id
    }

    fn begin_join(
        &mut self,
        slot: u32,
        topic: TopicId,
        channel: Box<dyn Channel>,
        message: &Message<'_>,
        ticket: Ticket,
    ) {
        self.instances = self.instances.wrapping_add(1);
        let mut join = Join {
            topic,
            member: NOT_A_MEMBER,
            instance: JoinInstance(self.instances),
            state: JoinState::Deciding,
            join_ref: message.join_ref.clone(),
            channel: Some(channel),
            extra: None,
        };
        join.extra().reference = message.reference.clone();
        join.extra().ticket = Some(ticket);
        self.topics[topic.0 as usize].joins += 1;
        if let Some(connection) = self.connections.get_mut(slot) {
            connection.add_join(join);
            self.connections.recount(slot);
        }
    }

    /// Stores what a join wants to recover, until it is accepted.
    fn request_recovery(&mut self, slot: u32, topic: TopicId, request: RecoverRequest) {
        let Some(instance) = self.connections.join(slot, topic).map(|join| join.instance) else { return };
        if let Some(follow) = self.topics[topic.0 as usize].follow_mut() {
            follow.recover(slot, instance, request);
            self.recount_follow(topic);
        }
    }

    /// Carries out a join handler's decision; `None` if it panicked.
    pub(crate) fn decide(&mut self, slot: u32, topic: TopicId, decision: Option<Joining>, out: &mut Effects) {
        match decision {
            None => self.refuse(slot, topic, CRASHED, out),
            Some(Joining::Refuse(response)) => self.refuse(slot, topic, response, out),
            Some(Joining::Accept(response)) => self.accept(slot, topic, response, out),
            Some(Joining::Later(task)) => {
                let Some(join) = self.connections.join(slot, topic) else { return guard::discard(task) };
                let owner = self.task_owner(slot, join.instance, Purpose::Join);
                out.push(Effect::Spawn { owner, task });
            }
        }
    }

    fn refuse(&mut self, slot: u32, topic: TopicId, response: Outgoing<'_>, out: &mut Effects) {
        self.counters.joins_refused += 1;
        self.answer_join(slot, topic, "error", response, out);
        let ticket = self.connections.join_mut(slot, topic).map_or(Ticket::NONE, Join::take_ticket);
        self.drop_join(slot, topic, out);
        self.taken(slot, ticket, out);
    }

    /// Accepts a join. It becomes a member once publications are known to reach this shard.
    fn accept(&mut self, slot: u32, topic: TopicId, response: Outgoing<'static>, out: &mut Effects) {
        let Some(join) = self.connections.join_mut(slot, topic) else { return };
        join.state = JoinState::Subscribing;
        join.extra().response = Some(response);
        let instance = join.instance;
        let part = &mut self.topics[topic.0 as usize];
        match part.interest() {
            Interest::Confirmed => self.admit(slot, topic, out),
            Interest::Requested(_) => part.wait(slot, instance),
            Interest::None => {
                self.epochs = self.epochs.wrapping_add(1);
                let epoch = InterestEpoch(self.epochs);
                part.request(epoch, slot, instance);
                self.tell_interest(topic, true, epoch, out);
            }
        }
    }

    fn tell_interest(&mut self, topic: TopicId, on: bool, epoch: InterestEpoch, out: &mut Effects) {
        let topic = self.topics[topic.0 as usize].name.clone();
        let message = ShardMessage::Interest { topic, shard: self.config.shard, on, epoch };
        self.send_home(message, Class::Control, out);
    }

    /// Makes an accepted join a member. Its reply is the first frame of this join; what it missed on a recoverable
    /// topic comes next.
    pub(crate) fn establish(
        &mut self,
        slot: u32,
        topic: TopicId,
        start: Option<Start<'_>>,
        out: &mut Effects,
    ) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let dialect = connection.dialect();
        let Some(join) = connection.join_mut(topic).filter(|join| join.state == JoinState::Subscribing)
        else {
            return;
        };
        let intercepts =
            join.channel.as_deref().is_some_and(|channel| !guard::intercepts(channel).is_empty());
        join.member = self.topics[topic.0 as usize].add_member(slot, dialect, intercepts);
        join.state = JoinState::Joined;
        let channel_bytes = join.channel_bytes();
        let mut response = join.extra().response.take().unwrap_or(Outgoing::empty());
        let ticket = join.take_ticket();
        if let Some(start) = &start {
            response = with_member(response, RECOVER_KEY, &start.recover);
        }
        self.recount_topic(topic);
        self.counters.joins += 1;
        self.counters.joined += 1;
        self.memory.channels += channel_bytes;
        self.answer_join(slot, topic, "ok", response, out);
        if let Some(start) = start {
            self.give_missed(slot, topic, start, out);
        }
        self.call(slot, topic, Ref::NULL, out, |channel, cx| channel.joined(cx));
        self.settle(slot, topic);
        self.taken(slot, ticket, out);
    }

    /// Releases what a settled join no longer needs.
    pub(crate) fn settle(&mut self, slot: u32, topic: TopicId) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let keep_reference = connection.dialect().version == Version::V2;
        if let Some(join) = connection.join_mut(topic).filter(|join| join.is_joined()) {
            join.settle(keep_reference);
        }
    }

    /// Answers the join itself; the reply echoes both refs as they came.
    fn answer_join(
        &mut self,
        slot: u32,
        topic: TopicId,
        status: &str,
        response: Outgoing<'_>,
        out: &mut Effects,
    ) {
        let Some(join) = self.connections.join(slot, topic) else { return };
        let reference = join.extra.as_ref().map(|extra| extra.reference.clone()).unwrap_or_default();
        let join_ref = join.join_ref.clone();
        let name = self.topics[topic.0 as usize].name.clone();
        let payload = Payload::Json("{}");
        let message = Message {
            join_ref: join_ref.clone(),
            reference,
            topic: Name::Text((&*name).into()),
            event: Name::Text("".into()),
            payload,
        };
        self.answer_directly(slot, &join_ref, &message, status, response, out);
    }

    /// Ends a join: tells the client if the reason calls for it, lets the channel clean up, and removes the join.
    pub(crate) fn end_join(&mut self, slot: u32, topic: TopicId, reason: Ended, out: &mut Effects) {
        let Some(join) = self.connections.join_mut(slot, topic) else { return };
        let was_joined = join.is_joined();
        join.state = JoinState::Ending;
        let ticket = join.take_ticket();
        let channel_bytes = join.channel_bytes();
        if was_joined {
            match reason {
                Ended::Left | Ended::Stopped | Ended::Replaced => {
                    self.announce_end(slot, topic, "phx_close", "{}", out);
                }
                Ended::Failed => {
                    self.counters.channels_failed += 1;
                    self.announce_end(slot, topic, "phx_error", r#"{"reason":"channel_crash"}"#, out);
                }
                Ended::Disconnected => {}
            }
            self.leave_members(slot, topic);
            self.counters.joined -= 1;
            self.memory.channels -= channel_bytes;
            self.untrack_all(slot, topic, out);
            self.call(slot, topic, Ref::NULL, out, |channel, cx| channel.terminate(cx, reason));
        }
        self.drop_join(slot, topic, out);
        self.taken(slot, ticket, out);
    }

    fn leave_members(&mut self, slot: u32, topic: TopicId) {
        let Some(join) = self.connections.join_mut(slot, topic) else { return };
        let place = std::mem::replace(&mut join.member, NOT_A_MEMBER);
        let connections = &mut self.connections;
        self.topics[topic.0 as usize]
            .remove_member(place, |slot, place| connections.place_member(slot, topic, place));
        self.recount_topic(topic);
    }

    /// Removes a join that is not a member, and its topic after the last join.
    fn drop_join(&mut self, slot: u32, topic: TopicId, out: &mut Effects) {
        let removed = self.connections.get_mut(slot).and_then(|connection| connection.remove_join(topic));
        let Some(join) = removed else { return };
        if let Some(channel) = join.channel {
            guard::discard(channel);
        }
        let part = &mut self.topics[topic.0 as usize];
        part.joins -= 1;
        if part.joins > 0 {
            if let Some(follow) = part.follow_mut() {
                follow.forget(slot, join.instance);
                self.recount_follow(topic);
            }
            return;
        }
        if part.interest() != Interest::None {
            self.tell_interest(topic, false, InterestEpoch::default(), out);
        }
        let part = self.topics.remove(topic.0 as usize);
        self.owed_gaps.forget(topic);
        self.owners.remove(&part.name);
        self.discount_topic(&part);
    }

    /// Runs one handler of a join's channel and applies its outcome. Returns `None` if the handler panicked, or if the
    /// join has no channel any more.
    pub(crate) fn call<R>(
        &mut self,
        slot: u32,
        topic: TopicId,
        reference: Ref,
        out: &mut Effects,
        handler: impl FnOnce(&mut dyn Channel, &mut Context<'_>) -> R,
    ) -> Option<R> {
        let join = self.connections.join_mut(slot, topic);
        let taken =
            join.and_then(|join| Some((join.channel.take()?, join.instance, join.state, join.is_joined())));
        let Some((mut channel, instance, state, is_joined)) = taken else {
            // A task's answer may have been in the handler: drop it under the guard, too.
            guard::discard(handler);
            return None;
        };
        let name = self.topics[topic.0 as usize].name.clone();
        let (intercepts, outcome) = (guard::intercepts(&*channel), Outcome::Continue);
        let mut cx =
            Context { hub: self, out, slot, topic, name, instance, reference, state, intercepts, outcome };
        // A panic leaves the hub itself whole: handlers reach it only through the context, whose calls either
        // complete or have not begun. The channel's own state may be torn, and is dropped.
        let result = guard::run(|| handler(&mut *channel, &mut cx));
        let outcome = if result.is_some() { cx.outcome } else { Outcome::Fail };
        if result.is_none() {
            self.memory.channels -= if is_joined { channel_bytes(&*channel) } else { 0 };
            guard::discard(channel);
        } else if let Some(join) = self.connections.join_mut(slot, topic) {
            join.channel = Some(channel);
        } else {
            guard::discard(channel);
        }
        match outcome {
            Outcome::Stop if is_joined => self.end_join(slot, topic, Ended::Stopped, out),
            Outcome::Fail if is_joined => self.end_join(slot, topic, Ended::Failed, out),
            Outcome::Continue | Outcome::Stop | Outcome::Fail => {}
        }
        result
    }
}

fn factory_for<'h>(
    connections: &Connections,
    mounts: &'h [Routes],
    slot: u32,
    topic: &str,
) -> Option<&'h dyn ChannelFactory> {
    let mount = connections.get(slot)?.mount;
    let routes = mounts.get(usize::from(mount.0))?;
    let (_, factory) = routes.channels.iter().find(|(pattern, _)| pattern.matches(topic))?;
    Some(&**factory)
}

fn payload_bytes(message: &Message<'_>) -> usize {
    match message.payload {
        Payload::Json(text) => text.len(),
        Payload::Binary(bytes) => bytes.len(),
    }
}
