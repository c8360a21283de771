//! The subscribed topics: each has a task that handles its messages, as soon as the hub knows the topic's position.

use super::order::{Order, is_mark};
use super::reorder::ReorderBuffer;
use crate::decode;
use crate::frame;
use crate::session::SessionContext;
use async_nats::header::{NATS_LAST_SEQUENCE, NATS_SEQUENCE};
use async_nats::{Message, Subscriber};
use futures_util::StreamExt as _;
use hub::{BusEvent, Ordered};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep_until;

#[derive(Default)]
pub(crate) struct Feeds {
    tasks: JoinSet<()>,
    by_topic: HashMap<Arc<str>, AbortHandle>,
}

/// The feed of one topic.
pub(crate) struct Feed {
    pub(crate) context: SessionContext,
    pub(crate) topic: Arc<str>,
    /// `None` for an ephemeral topic.
    pub(crate) order: Option<Arc<Order>>,
}

impl Feeds {
    /// Starts a feed. It handles messages once `begin` provides the offset that the hub was given; 0 for an ephemeral
    /// topic.
    pub(crate) fn add(&mut self, feed: Feed, subscriber: Subscriber, begin: oneshot::Receiver<u64>) {
        while self.tasks.try_join_next().is_some() {}
        let (context, topic) = (feed.context.clone(), feed.topic.clone());
        let task = self.tasks.spawn(feed.run(subscriber, begin));
        if let Some(before) = self.by_topic.insert(topic, task) {
            before.abort();
        }
        context.numbers.subscriptions.store(self.by_topic.len() as u64, Relaxed);
    }

    pub(crate) fn remove(&mut self, context: &SessionContext, topic: &str) {
        if let Some(task) = self.by_topic.remove(topic) {
            task.abort();
        }
        context.numbers.subscriptions.store(self.by_topic.len() as u64, Relaxed);
    }
}

impl Feed {
    async fn run(self, mut subscriber: Subscriber, begin: oneshot::Receiver<u64>) {
        // Fails only when the session is over.
        let Ok(offset) = begin.await else { return };
        let mut reached = ReorderBuffer::new(offset);
        loop {
            let until = reached.until();
            let message = tokio::select! {
                message = subscriber.next() => message,
                () = sleep_until(until.unwrap_or_else(Instant::now).into()), if until.is_some() => {
                    self.tell(reached.give_up());
                    continue;
                }
            };
            let Some(message) = message else { return };
            if self.hear(&message, &mut reached).is_none() {
                self.context.numbers.undecodable.fetch_add(1, Relaxed);
            }
        }
    }

    /// Returns `None` for a message that this version does not understand.
    fn hear(&self, message: &Message, reached: &mut ReorderBuffer) -> Option<()> {
        match (&self.order, &message.headers) {
            (Some(order), Some(headers)) => {
                let number = |name| headers.get(name)?.as_str().parse::<u64>().ok();
                let (sequence, previous) = (number(NATS_SEQUENCE)?, number(NATS_LAST_SEQUENCE)?);
                self.tell(self.kept(order, (sequence, previous), &message.payload, reached)?);
            }
            // Republished messages come with headers. A message without them cannot be an ordered publication.
            (Some(_), None) | (None, _) => {
                self.context.tell(decode::said(
                    &self.context,
                    self.topic.clone(),
                    frame::read(&message.payload)?,
                )?);
            }
        }
        Some(())
    }

    fn tell(&self, ordered: Vec<Ordered>) {
        ordered.into_iter().for_each(|ordered| self.context.tell(BusEvent::Ordered(Box::new(ordered))));
    }

    /// Handles a message that a stream republished, or its mark; returns the publications to pass on now.
    fn kept(
        &self,
        order: &Order,
        (sequence, previous): (u64, u64),
        payload: &[u8],
        reached: &mut ReorderBuffer,
    ) -> Option<Vec<Ordered>> {
        let (position, now) = (order.at(sequence), Instant::now());
        if is_mark(payload) {
            return Some(reached.mark(position.offset, now));
        }
        let kept = frame::read_kept(payload)?;
        order.witness(&position);
        // If the stream has nothing older of the topic, the publication follows what this node knows.
        let previous = (previous > 0).then(|| order.places.offset(previous));
        let ordered = decode::ordered(&self.context, self.topic.clone(), (position, 0), kept);
        Some(reached.take(ordered, previous, now))
    }
}
