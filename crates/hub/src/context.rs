//! The API that a channel's handlers use.

use crate::channel::Task;
use crate::class::Class;
use crate::effect::{Effect, Effects};
use crate::event::ShardMessage;
use crate::hub::Hub;
use crate::ids::{JoinInstance, Micros, TopicId};
use crate::join::JoinState;
use crate::limits::{TASKS_PER_JOIN_MAX, TRACKED_KEYS_MAX};
use crate::outgoing::Outgoing;
use crate::presence::PhxRef;
use crate::publication::{AppendOwner, Draft};
use crate::publish::Publisher;
use crate::tasks::Purpose;
use crate::tracking::tracked_bytes;
use proto::phoenix::Ref;
use std::fmt;
use std::sync::Arc;

/// One handler's view of its join, its socket and its topic. Effects happen in the order of the calls.
pub struct Context<'a> {
    pub(crate) hub: &'a mut Hub,
    pub(crate) out: &'a mut Effects,
    pub(crate) slot: u32,
    pub(crate) topic: TopicId,
    pub(crate) name: Arc<str>,
    pub(crate) instance: JoinInstance,
    /// The ref of the current message.
    pub(crate) reference: Ref,
    /// The state of the join when the handler began.
    pub(crate) state: JoinState,
    /// The events that this join's channel intercepts.
    pub(crate) intercepts: &'static [&'static str],
    pub(crate) outcome: Outcome,
}

/// Whether the channel continues after a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Continue,
    Stop,
    Fail,
}

/// A message to be answered later, with [`Context::reply_to`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyTo(Ref);

/// Why a presence could not be tracked or updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrackError {
    /// This join tracks the key already.
    AlreadyTracked,
    /// This join does not track the key.
    NotTracked,
    /// A meta must be a JSON object.
    NotAnObject,
    /// A join may track 16 keys.
    TooMany,
}

impl fmt::Display for TrackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrackError::AlreadyTracked => "this join tracks the key already",
            TrackError::NotTracked => "this join does not track the key",
            TrackError::NotAnObject => "a presence's meta must be a JSON object",
            TrackError::TooMany => "this join tracks as many keys as it may",
        })
    }
}

impl std::error::Error for TrackError {}

impl Context<'_> {
    /// Returns the topic of this join.
    pub fn topic(&self) -> &str {
        &self.name
    }

    /// Returns the time of the current event, in microseconds since the driver's start.
    pub fn now(&self) -> Micros {
        self.hub.now
    }

    /// Returns the socket's id, if its connect callback gave it one.
    pub fn socket_id(&self) -> Option<&str> {
        let extra = self.hub.connections.get(self.slot)?.extra()?;
        extra.identity.as_ref().map(|identity| identity.id.as_str())
    }

    /// Returns the value that the connect callback assigned to this socket, if it is a `T`.
    pub fn assigns<T: 'static>(&self) -> Option<&T> {
        let extra = self.hub.connections.get(self.slot)?.extra()?;
        extra.assigns.as_ref()?.downcast_ref()
    }

    /// Like [`Context::assigns`], but returns a shared reference that can be kept.
    pub fn shared_assigns<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let extra = self.hub.connections.get(self.slot)?.extra()?;
        extra.assigns.clone()?.downcast().ok()
    }

    /// Returns the name of this join's topic as the shard stores it, so that it can be kept without a copy.
    pub fn shared_topic(&self) -> &Arc<str> {
        &self.name
    }

    /// Replies to the current message with any status; clients know `ok` and `error`.
    pub fn reply<'p>(&mut self, status: &str, response: impl Into<Outgoing<'p>>) {
        let message = self.defer();
        self.reply_to(&message, status, response);
    }

    /// Replies to the current message with status `ok`.
    pub fn reply_ok<'p>(&mut self, response: impl Into<Outgoing<'p>>) {
        self.reply("ok", response);
    }

    /// Replies to the current message with status `error`.
    pub fn reply_error<'p>(&mut self, response: impl Into<Outgoing<'p>>) {
        self.reply("error", response);
    }

    /// Returns a handle to the current message, to reply to it later.
    pub fn defer(&self) -> ReplyTo {
        ReplyTo(self.reference.clone())
    }

    /// Replies to a deferred message.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join), like every reply: there, the return value is the reply.
    pub fn reply_to<'p>(&mut self, message: &ReplyTo, status: &str, response: impl Into<Outgoing<'p>>) {
        self.assert_speaks();
        if !self.hub.reply(self.slot, self.topic, &message.0, status, response.into(), self.out) {
            self.outcome = Outcome::Fail;
        }
    }

    /// Pushes an event to this client. The payload must be a JSON object or bytes.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join): the reply is the first frame of a join.
    pub fn push<'p>(&mut self, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.assert_speaks();
        if !self.hub.push(self.slot, self.topic, event, payload.into(), self.out) {
            self.outcome = Outcome::Fail;
        }
    }

    /// Broadcasts an event to every member of this topic, including this client.
    ///
    /// On a recoverable topic the payload must be a JSON object, to which a member `phx_offset` is added; bytes and
    /// other JSON fail the channel as [`Context::fail`] does. There this client gets its copy in the topic's order,
    /// which may be after the reply that follows.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn broadcast<'p>(&mut self, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.publish(self.name.clone(), event, payload.into(), false);
    }

    /// Like [`Context::broadcast`], and replies to the current message when the publication has been accepted: with
    /// `ok` (on a recoverable topic with `{"epoch": …, "offset": …}`), or with `error` and `{"reason": "overloaded"}`
    /// or `"unavailable"`. A publication that was accepted on a recoverable topic can be recovered, within the
    /// history's bounds. On an ephemeral topic the reply is immediate.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn broadcast_and_reply<'p>(&mut self, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.publish_and_reply(event, payload.into(), false);
    }

    /// Like [`Context::broadcast_and_reply`], but to every other member of this topic.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn broadcast_from_and_reply<'p>(&mut self, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.publish_and_reply(event, payload.into(), true);
    }

    /// Broadcasts an event to every other member of this topic.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn broadcast_from<'p>(&mut self, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.publish(self.name.clone(), event, payload.into(), true);
    }

    /// Broadcasts an event to every member of another topic. The event `disconnect` on a socket id closes the sockets
    /// with that id.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn broadcast_to<'p>(&mut self, topic: &str, event: &str, payload: impl Into<Outgoing<'p>>) {
        self.publish(topic.into(), event, payload.into(), false);
    }

    fn publish_and_reply(&mut self, event: &str, payload: Outgoing<'_>, excluded: bool) {
        if self.hub.is_recoverable(&self.name) {
            self.assert_speaks();
            let owner = self.hub.append_owner(self.slot, self.instance, self.reference.clone());
            return self.append(self.name.clone(), event, payload, excluded, Some(owner));
        }
        self.publish(self.name.clone(), event, payload, excluded);
        self.reply_ok(Outgoing::empty());
    }

    fn publish(&mut self, topic: Arc<str>, event: &str, payload: Outgoing<'_>, excluded: bool) {
        self.assert_speaks();
        if self.hub.is_recoverable(&topic) {
            return self.append(topic, event, payload, excluded, None);
        }
        let publisher = Publisher { slot: self.slot, excluded, intercepts: self.intercepts };
        self.hub.publish(publisher, topic, event, payload, self.out);
    }

    /// Publishes on a recoverable topic. Only an object can carry its offset: anything else fails the channel.
    fn append(
        &mut self,
        topic: Arc<str>,
        event: &str,
        payload: Outgoing<'_>,
        excluded: bool,
        owner: Option<AppendOwner>,
    ) {
        if !payload.is_object() {
            self.outcome = Outcome::Fail;
            return;
        }
        let except = excluded.then(|| self.hub.publisher(self.slot, self.topic, self.instance));
        let (event, payload, received) = (event.into(), payload.into_owned(), self.hub.now);
        self.hub.append(Draft { topic, event, payload, received, except }, owner, self.out);
    }

    /// Ends this channel with `phx_close` when the handler returns.
    pub fn stop(&mut self) {
        self.outcome = Outcome::Stop;
    }

    /// Ends this channel with `phx_error` when the handler returns; the client joins again.
    pub fn fail(&mut self) {
        self.outcome = Outcome::Fail;
    }

    /// Runs `task` elsewhere and passes its answer to [`Channel::handle_info`](crate::Channel::handle_info).
    ///
    /// One join may have 32 tasks in progress, including those of [`Context::hold`]. A further one is not run, and the
    /// channel fails as by [`Context::fail`].
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join): a join that needs a task returns
    /// [`Joining::Later`](crate::Joining::Later).
    pub fn spawn(&mut self, task: Task) {
        self.run(Purpose::Info, task);
    }

    /// Like [`Context::spawn`], but this channel handles no further message of its client until the answer has arrived;
    /// after several holds, until all answers have.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join) and [`Channel::terminate`](crate::Channel::terminate).
    pub fn hold(&mut self, task: Task) {
        self.assert_stands();
        self.run(Purpose::Hold, task);
    }

    fn run(&mut self, purpose: Purpose, task: Task) {
        self.assert_speaks();
        let join = self.hub.connections.join_mut(self.slot, self.topic);
        let join = join.expect("a handler's join is there while it runs");
        if join.extra().tasks >= TASKS_PER_JOIN_MAX {
            self.outcome = Outcome::Fail;
            return;
        }
        join.extra().tasks += 1;
        if purpose == Purpose::Hold {
            join.extra().holds += 1;
            join.state = JoinState::Held;
        }
        let owner = self.hub.task_owner(self.slot, self.instance, purpose);
        self.out.push(Effect::Spawn { owner, task });
    }

    /// Makes this join present under `key`; `meta` is a JSON object that everybody on the topic can see.
    pub fn track<'p>(&mut self, key: &str, meta: impl Into<Outgoing<'p>>) -> Result<(), TrackError> {
        let extra = self.tracked();
        if extra.iter().any(|(tracked, _)| &**tracked == key) {
            return Err(TrackError::AlreadyTracked);
        }
        if extra.len() >= TRACKED_KEYS_MAX {
            return Err(TrackError::TooMany);
        }
        let meta = object(meta.into())?;
        let reference = self.hub.next_reference();
        self.tracked().push((key.into(), reference));
        self.hub.memory.presence += tracked_bytes(key);
        self.track_at_home(key, reference, None, meta);
        Ok(())
    }

    /// Replaces the meta under `key`.
    pub fn update<'p>(&mut self, key: &str, meta: impl Into<Outgoing<'p>>) -> Result<(), TrackError> {
        let meta = object(meta.into())?;
        let reference = self.hub.next_reference();
        let tracked = self.tracked().iter_mut().find(|(tracked, _)| &**tracked == key);
        let (_, current) = tracked.ok_or(TrackError::NotTracked)?;
        let previous = std::mem::replace(current, reference);
        self.track_at_home(key, reference, Some(previous), meta);
        Ok(())
    }

    /// Ends this join's presence under `key`.
    pub fn untrack(&mut self, key: &str) -> Result<(), TrackError> {
        let tracked = self.tracked();
        let at = tracked.iter().position(|(tracked, _)| &**tracked == key).ok_or(TrackError::NotTracked)?;
        let (key, reference) = tracked.swap_remove(at);
        self.hub.memory.presence -= tracked_bytes(&key);
        let message = ShardMessage::Untrack { topic: self.name.clone(), key, reference };
        self.hub.send_home(message, Class::Control, self.out);
        Ok(())
    }

    /// Pushes `presence_state` to this client: everybody on the topic, including what was tracked before this call. In
    /// a crowd it is `presence_count` instead.
    ///
    /// # Panics
    /// In [`Channel::join`](crate::Channel::join).
    pub fn push_presence_state(&mut self) {
        self.assert_speaks();
        let owner = self.hub.presence_owner(self.slot, self.instance);
        let message = ShardMessage::PresenceWanted { topic: self.name.clone(), owner };
        self.hub.send_home(message, Class::Control, self.out);
    }

    fn track_at_home(&mut self, key: &str, reference: PhxRef, previous: Option<PhxRef>, meta: Box<str>) {
        let (topic, key) = (self.name.clone(), key.into());
        let message = ShardMessage::Track { topic, key, reference, previous, meta };
        self.hub.send_home(message, Class::Control, self.out);
    }

    fn tracked(&mut self) -> &mut Vec<(Box<str>, PhxRef)> {
        self.assert_stands();
        let join = self.hub.connections.join_mut(self.slot, self.topic);
        &mut join.expect("a handler's join stands while it runs").extra().tracked
    }

    fn assert_speaks(&self) {
        let speaks = !matches!(self.state, JoinState::Deciding | JoinState::Subscribing);
        assert!(speaks, "`join` only decides: reply, push, broadcast and spawn from `joined` on");
    }

    fn assert_stands(&self) {
        let stands = matches!(self.state, JoinState::Joined | JoinState::Held);
        assert!(stands, "only a join that stands can hold and track: not in `join` and `terminate`");
    }
}

fn object(meta: Outgoing<'_>) -> Result<Box<str>, TrackError> {
    match meta {
        Outgoing::Json(text) if text.trim_start().starts_with('{') => Ok(text.into()),
        Outgoing::Json(_) | Outgoing::Binary(_) => Err(TrackError::NotAnObject),
    }
}
