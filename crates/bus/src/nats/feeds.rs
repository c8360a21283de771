//! The topics that this node subscribed: a task each takes what comes, as soon as the hub knows where the topic stands.

use super::streams::Order;
use crate::frame::{self, Frame, Kept};
use crate::session::Desk;
use async_nats::header::{NATS_LAST_SEQUENCE, NATS_SEQUENCE};
use async_nats::{Message, Subscriber};
use futures_util::StreamExt as _;
use hub::{BusEvent, Ordered, Position, Publication};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

#[derive(Default)]
pub(crate) struct Feeds {
    tasks: JoinSet<()>,
    by_topic: HashMap<Arc<str>, AbortHandle>,
}

/// One topic's.
pub(crate) struct Feed {
    pub(crate) desk: Desk,
    pub(crate) topic: Arc<str>,
    /// None for an ephemeral topic.
    pub(crate) order: Option<Arc<Order>>,
}

impl Feeds {
    /// Begins to take what comes, once `begin` says the offset that the hub was told; 0 for an ephemeral topic.
    pub(crate) fn add(&mut self, feed: Feed, subscriber: Subscriber, begin: oneshot::Receiver<u64>) {
        while self.tasks.try_join_next().is_some() {}
        let (desk, topic) = (feed.desk.clone(), feed.topic.clone());
        let task = self.tasks.spawn(feed.run(subscriber, begin));
        if let Some(before) = self.by_topic.insert(topic, task) {
            before.abort();
        }
        desk.numbers.subscriptions.store(self.by_topic.len() as u64, Relaxed);
    }

    pub(crate) fn remove(&mut self, desk: &Desk, topic: &str) {
        if let Some(task) = self.by_topic.remove(topic) {
            task.abort();
        }
        desk.numbers.subscriptions.store(self.by_topic.len() as u64, Relaxed);
    }
}

impl Feed {
    async fn run(self, mut subscriber: Subscriber, begin: oneshot::Receiver<u64>) {
        // Refused only when the session is over.
        let Ok(mut reached) = begin.await else { return };
        while let Some(message) = subscriber.next().await {
            let event = match &self.order {
                Some(order) => self.kept(order, &message, &mut reached).or_else(|| self.said(&message)),
                None => self.said(&message),
            };
            match event {
                Some(event) => self.desk.tell(event),
                None => drop(self.desk.numbers.undecodable.fetch_add(1, Relaxed)),
            }
        }
    }

    /// What a stream published again.
    fn kept(&self, order: &Order, message: &Message, reached: &mut u64) -> Option<BusEvent> {
        let headers = message.headers.as_ref()?;
        let number = |name| headers.get(name)?.as_str().parse::<u64>().ok();
        let position = order.at(number(NATS_SEQUENCE)?);
        let previous = match number(NATS_LAST_SEQUENCE)? {
            // The stream has nothing older of the topic, so that it follows what this node knows.
            0 => *reached,
            previous => order.places.offset(previous),
        };
        let kept = frame::read_kept(&message.payload)?;
        order.witness(&position);
        *reached = position.offset.max(*reached);
        Some(self.ordered(position, previous, kept))
    }

    fn ordered(&self, position: Position, previous: u64, kept: Kept) -> BusEvent {
        if kept.node != self.desk.node {
            self.desk.numbers.delivered.fetch_add(1, Relaxed);
        }
        let draft = kept.into_draft(self.topic.clone(), self.desk.now());
        BusEvent::Ordered(Box::new(Ordered { position, previous, draft }))
    }

    /// What a node said.
    fn said(&self, message: &Message) -> Option<BusEvent> {
        let topic = self.topic.clone();
        Some(match frame::read(&message.payload)? {
            Frame::Published { node, event, payload } => {
                self.desk.numbers.delivered.fetch_add(1, Relaxed);
                let received = self.desk.now();
                let publication = Arc::new(Publication { topic, event, payload, received, place: None });
                BusEvent::Delivered { node, publication }
            }
            Frame::Head { position, .. } => BusEvent::Head { topic, position },
            Frame::Present { node, version, previous, change } => {
                BusEvent::Present { topic, node, version, previous, change: Box::new(change) }
            }
            Frame::PresenceHead { node, version } => BusEvent::PresenceHead { topic, node, version },
            // Only another engine writes these.
            Frame::Ordered { .. } => return None,
        })
    }
}
