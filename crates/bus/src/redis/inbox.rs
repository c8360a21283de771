//! Handles the messages that an instance pushes: publications on the topics that this node has subscribed to.

use super::held::Held;
use super::keys::Keys;
use crate::decode;
use crate::frame::{self, Frame};
use crate::node_channel;
use crate::session::SessionContext;
use crate::stored_head::StoredHead;
use ::redis::{PushInfo, PushKind, Value};
use hub::{BusEvent, Position, SubscriptionId};
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Called by the connection for each message, in order.
pub(crate) struct Inbox {
    context: SessionContext,
    keys: Keys,
    nodes_channel: String,
    everybody_channel: String,
    witness: Arc<StoredHead>,
    /// The run id of the server; set before the first subscription.
    run: OnceLock<Box<str>>,
    topics: Mutex<HashMap<Arc<str>, Feed>>,
    /// How often each channel was unsubscribed without a confirmation so far.
    leaving: Mutex<HashMap<Box<str>, u32>>,
    /// A node joined or left.
    pub(crate) nodes_changed: Notify,
    /// The connection is lost.
    pub(crate) lost: Notify,
    /// The server ended a subscription on its own: the slot has moved to another master.
    pub(crate) moved: Notify,
}

/// How publications on a subscribed topic are passed on.
enum Feed {
    /// The hub does not know the topic's position yet: ordered publications are held, so that none after it is missed.
    Held(Held),
    Open,
}

impl Inbox {
    pub(crate) fn new(context: &SessionContext, keys: Keys, witness: Arc<StoredHead>) -> Inbox {
        Inbox {
            context: context.clone(),
            nodes_channel: keys.nodes(),
            everybody_channel: keys.everybody(),
            keys,
            witness,
            run: OnceLock::new(),
            topics: Mutex::default(),
            leaving: Mutex::default(),
            nodes_changed: Notify::new(),
            lost: Notify::new(),
            moved: Notify::new(),
        }
    }

    /// Sets the run id of the server.
    ///
    /// # Panics
    /// If it was set already: a connection is to one run.
    pub(crate) fn set_run(&self, run: &str) {
        assert!(self.run.set(run.into()).is_ok(), "a connection is to one run of the server");
    }

    /// Records a stored publication, which a restarted server must still have.
    pub(crate) fn witness(&self, position: &Position) {
        if let Some(run) = self.run.get() {
            self.witness.see(position, run);
        }
    }

    /// Prepares for a subscription to the topic.
    pub(crate) fn expect(&self, topic: &Arc<str>, subscription: SubscriptionId) {
        if self.topics().insert(topic.clone(), Feed::Held(Held::new(subscription))).is_none() {
            self.context.numbers.subscriptions.fetch_add(1, Relaxed);
        }
    }

    /// Notes that a channel is being unsubscribed.
    pub(crate) fn leaves(&self, channel: &str) {
        *self.leaving().entry(channel.into()).or_default() += 1;
    }

    /// Removes a topic whose channel is being unsubscribed.
    pub(crate) fn forget(&self, topic: &str) {
        self.leaves(&self.keys.channel(topic));
        if self.topics().remove(topic).is_some() {
            self.context.numbers.subscriptions.fetch_sub(1, Relaxed);
        }
    }

    /// Reports that the topic is subscribed, and then what was held, unless it was subscribed again meanwhile.
    pub(crate) fn open(&self, topic: Arc<str>, subscription: SubscriptionId, position: Option<Position>) {
        let mut topics = self.topics();
        let mut held = Vec::new();
        match topics.get_mut(&topic) {
            Some(Feed::Held(of)) if of.subscription == subscription => {
                held = of.take();
                topics.insert(topic.clone(), Feed::Open);
            }
            Some(Feed::Held(_) | Feed::Open) | None => {}
        }
        self.context.tell(BusEvent::Subscribed { topic, subscription, position });
        held.into_iter().for_each(|ordered| self.context.tell(BusEvent::Ordered(Box::new(ordered))));
    }

    pub(crate) fn take(&self, push: PushInfo) {
        match push.kind {
            PushKind::Message | PushKind::SMessage => self.message(push.data),
            PushKind::Unsubscribe | PushKind::SUnsubscribe => self.left(push.data.first()),
            PushKind::Disconnection => self.lost.notify_one(),
            _ => {}
        }
    }

    fn left(&self, channel: Option<&Value>) {
        let Some(Value::BulkString(channel)) = channel else { return };
        let mut leaving = self.leaving();
        let expected = std::str::from_utf8(channel).ok().and_then(|channel| leaving.get_key_value(channel));
        match expected.map(|(channel, count)| (channel.clone(), *count)) {
            None => self.moved.notify_one(),
            Some((channel, 1)) => drop(leaving.remove(&channel)),
            Some((channel, count)) => drop(leaving.insert(channel, count - 1)),
        }
    }

    fn message(&self, data: Vec<Value>) {
        let [Value::BulkString(channel), Value::BulkString(bytes)] = &data[..] else { return };
        let Ok(channel) = std::str::from_utf8(channel) else { return };
        if channel == self.nodes_channel {
            return self.nodes_changed.notify_one();
        }
        if frame::sender(bytes) == Some(self.context.node) {
            return;
        }
        if channel == self.everybody_channel {
            return node_channel::hear(&self.context, bytes);
        }
        let mut topics = self.topics();
        let Some((topic, feed)) = self.keys.topic_of(channel).and_then(|name| {
            let topic = topics.get_key_value(name)?.0.clone();
            Some((topic, topics.get_mut(name)?))
        }) else {
            return;
        };
        match frame::read(bytes) {
            Some(frame) => self.hand_on(topic, feed, frame),
            None => self.undecodable(),
        }
    }

    fn undecodable(&self) {
        self.context.numbers.undecodable.fetch_add(1, Relaxed);
    }

    fn hand_on(&self, topic: Arc<str>, feed: &mut Feed, frame: Frame) {
        if let Frame::Ordered { epoch, offset, previous, kept } = frame {
            let position = Position { epoch, offset };
            self.witness(&position);
            let ordered = decode::ordered(&self.context, topic, (position, previous), kept);
            return match feed {
                Feed::Held(held) => held.hold(ordered),
                Feed::Open => self.context.tell(BusEvent::Ordered(Box::new(ordered))),
            };
        }
        match decode::said(&self.context, topic, frame) {
            Some(event) => self.context.tell(event),
            None => self.undecodable(),
        }
    }

    fn leaving(&self) -> MutexGuard<'_, HashMap<Box<str>, u32>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<Arc<str>, Feed>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
