//! The topics that this node subscribed: a task each takes what comes, as soon as the hub knows where the topic stands.

use super::order::{Order, is_mark};
use crate::frame;
use crate::heard;
use crate::session::Desk;
use async_nats::header::{NATS_LAST_SEQUENCE, NATS_SEQUENCE};
use async_nats::{Message, Subscriber};
use futures_util::StreamExt as _;
use hub::BusEvent;
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

/// What the hub knows of a recoverable topic.
struct Reached {
    /// The offset that it was told last.
    offset: u64,
    /// The mark that the order began with again, when everything had grown too old.
    mark: Option<u64>,
}

impl Feed {
    async fn run(self, mut subscriber: Subscriber, begin: oneshot::Receiver<u64>) {
        // Refused only when the session is over.
        let Ok(offset) = begin.await else { return };
        let mut reached = Reached { offset, mark: None };
        while let Some(message) = subscriber.next().await {
            if self.hear(&message, &mut reached).is_none() {
                self.desk.numbers.undecodable.fetch_add(1, Relaxed);
            }
        }
    }

    /// `None` for what this version does not understand.
    fn hear(&self, message: &Message, reached: &mut Reached) -> Option<()> {
        let event = match (&self.order, &message.headers) {
            (Some(order), Some(headers)) => {
                let number = |name| headers.get(name)?.as_str().parse::<u64>().ok();
                let (sequence, previous) = (number(NATS_SEQUENCE)?, number(NATS_LAST_SEQUENCE)?);
                self.kept(order, (sequence, previous), &message.payload, reached)?
            }
            // What has a place comes with headers; without, only another engine would write it.
            (Some(_), None) | (None, _) => {
                Some(heard::said(&self.desk, self.topic.clone(), frame::read(&message.payload)?)?)
            }
        };
        if let Some(event) = event {
            self.desk.tell(event);
        }
        Some(())
    }

    /// What a stream published again; nothing to tell if it is a mark.
    fn kept(
        &self,
        order: &Order,
        (sequence, previous): (u64, u64),
        payload: &[u8],
        reached: &mut Reached,
    ) -> Option<Option<BusEvent>> {
        let position = order.at(sequence);
        if is_mark(payload) {
            reached.mark = (position.offset > reached.offset).then_some(position.offset);
            return Some(None);
        }
        let previous = match previous {
            // The stream has nothing older of the topic, so that it follows what this node knows.
            0 => reached.offset,
            previous => order.places.offset(previous),
        };
        let previous = if reached.mark == Some(previous) { reached.offset } else { previous };
        let kept = frame::read_kept(payload)?;
        order.witness(&position);
        reached.offset = position.offset.max(reached.offset);
        let ordered = heard::ordered(&self.desk, self.topic.clone(), (position, previous), kept);
        Some(Some(BusEvent::Ordered(Box::new(ordered))))
    }
}
