//! Executes requests in order; answers are awaited concurrently.

use super::explain::explain_publish;
use super::feeds::{Feed, Feeds};
use super::line::{Line, subscribe};
use super::order::Order;
use super::questions::Questions;
use super::rule::Rule;
use crate::failure::Failure;
use crate::frame;
use crate::limits::{BATCH_BYTES_MAX, BATCH_WEIGHT_MAX};
use crate::queue::QueueReceiver;
use crate::requests::Request;
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hub::{AppendError, AppendToken, BusEffect, BusEvent, Draft, ShardIndex, SubscriptionId};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub(crate) struct Pump {
    line: Arc<Line>,
    queue: QueueReceiver,
    feeds: Feeds,
    questions: Questions,
    /// What was sent since the last confirmation of the server, as number and bytes: bounds what the client buffers.
    unconfirmed: (usize, usize),
}

/// A pending answer, awaited when all requests of a batch have been sent.
enum Awaited {
    Append {
        shard: ShardIndex,
        token: AppendToken,
        order: Arc<Order>,
        ack: PublishAckFuture,
    },
    Subscribed {
        topic: Arc<str>,
        subscription: SubscriptionId,
        order: Option<Arc<Order>>,
        begin: oneshot::Sender<u64>,
    },
}

impl Pump {
    pub(crate) fn new(line: Arc<Line>, queue: QueueReceiver) -> Pump {
        Pump { line, queue, feeds: Feeds::default(), questions: Questions::new(), unconfirmed: (0, 0) }
    }

    /// Runs until a failure, which it reports.
    pub(crate) async fn run(mut self) {
        while let Some(batch) = self.queue.next().await {
            let amount = batch.amount();
            let mut awaited = Vec::new();
            for request in batch.requests {
                if let Err(failure) = self.begin(request, &mut awaited).await {
                    return self.line.fail(failure);
                }
            }
            self.unconfirmed = (self.unconfirmed.0 + amount.0, self.unconfirmed.1 + amount.1);
            let answers = timeout(self.line.context.times.answer_max, self.answers(awaited)).await;
            self.queue.done(&self.line.context, amount);
            if let Err(failure) = answers.unwrap_or(Err(Failure::Late)) {
                return self.line.fail(failure);
            }
        }
    }

    async fn begin(&mut self, request: Request, awaited: &mut Vec<Awaited>) -> Result<(), Failure> {
        let node = self.line.context.node;
        let (shard, effect, passage) = match request {
            Request::Effect { shard, effect, passage } => (shard, effect, passage),
            Request::Lost(passage) => {
                let message = frame::lost(node, passage.age());
                let subject = self.line.subjects.topic(passage.topic());
                return self.line.send(subject, message, Some(passage)).await;
            }
        };
        match effect {
            BusEffect::Publish(publication) => {
                let message = frame::published(node, &publication.event, &publication.payload);
                let subject = self.line.subjects.topic(&publication.topic);
                self.line.send(subject, message, passage).await?;
            }
            BusEffect::Append { draft, token } => awaited.extend(self.append(shard, token, &draft).await?),
            BusEffect::Interest { topic, on: None } => self.feeds.remove(&self.line.context, &topic),
            BusEffect::Interest { topic, on: Some(subscription) } => {
                awaited.push(self.subscribe(topic, subscription).await?);
            }
            BusEffect::ReadHistory { topic, span, token } => {
                self.questions.history(self.line.clone(), topic, span, token);
            }
            BusEffect::Heads(heads) => {
                for (topic, position) in heads {
                    self.say(&topic, frame::head(node, &position)).await?;
                }
            }
            BusEffect::PresenceHeads(heads) => {
                for (topic, version) in heads {
                    self.say(&topic, frame::presence_head(node, version)).await?;
                }
            }
            BusEffect::Present { topic, version, previous, change } => {
                self.line.own.change(&topic, version, &change);
                self.say(&topic, frame::present(node, version, previous, &change)).await?;
            }
            BusEffect::People { topic, version, people } => {
                self.line.own.replace(&topic, version, people);
                self.say(&topic, frame::presence_head(node, version)).await?;
            }
            BusEffect::Dismiss(dismissal) => {
                let subject = self.line.subjects.everybody();
                self.line.say(subject, frame::dismissed(node, &dismissal)).await?;
            }
            BusEffect::Tell(words) => {
                self.line.say(self.line.subjects.everybody(), frame::told(node, &words)).await?;
            }
            // The server handles earlier subscriptions first, so nothing after the answer is missed.
            BusEffect::ReadPeople { topic } => self.questions.people(self.line.clone(), topic),
        }
        Ok(())
    }

    async fn say(&self, topic: &str, message: Vec<u8>) -> Result<(), Failure> {
        self.line.say(self.line.subjects.topic(topic), message).await
    }

    /// Sends a draft to its stream. Returns `None` if it cannot be sent.
    async fn append(
        &self,
        shard: ShardIndex,
        token: AppendToken,
        draft: &Draft,
    ) -> Result<Option<Awaited>, Failure> {
        // Only topics with a history are appended to.
        let retention = self.line.context.histories.of(&draft.topic).unwrap_or_default();
        let order = self.line.streams.of(Rule::of(retention))?;
        let subject = self.line.subjects.order(order.rule, &draft.topic);
        let message = PublishMessage::build().payload(frame::kept(self.line.context.node, draft).into());
        match self.line.streams.context().send_publish(subject, message).await {
            Ok(ack) => Ok(Some(Awaited::Append { shard, token, order, ack })),
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                refuse(&self.line, shard, token, "a message that is larger than its `max_payload`");
                Ok(None)
            }
            Err(error) => Err(explain_publish(&error)),
        }
    }

    async fn subscribe(&mut self, topic: Arc<str>, subscription: SubscriptionId) -> Result<Awaited, Failure> {
        let order = match self.line.context.histories.of(&topic) {
            Some(retention) => Some(self.line.streams.of(Rule::of(retention))?),
            None => None,
        };
        let subscriber = subscribe(&self.line.client, self.line.subjects.topic(&topic)).await?;
        let (begin, begun) = oneshot::channel();
        let feed = Feed { context: self.line.context.clone(), topic: topic.clone(), order: order.clone() };
        self.feeds.add(feed, subscriber, begun);
        Ok(Awaited::Subscribed { topic, subscription, order, begin })
    }

    async fn answers(&mut self, awaited: Vec<Awaited>) -> Result<(), Failure> {
        let is_much = self.unconfirmed.0 >= BATCH_WEIGHT_MAX || self.unconfirmed.1 >= BATCH_BYTES_MAX;
        if is_much || awaited.iter().any(|awaited| matches!(awaited, Awaited::Subscribed { order: None, .. }))
        {
            self.line.round_trip().await?;
            self.unconfirmed = (0, 0);
        }
        let mut answers: FuturesUnordered<_> =
            awaited.into_iter().map(|awaited| answer(&self.line, awaited)).collect();
        while let Some(answered) = answers.next().await {
            answered?;
        }
        Ok(())
    }
}

async fn answer(line: &Line, awaited: Awaited) -> Result<(), Failure> {
    let context = &line.context;
    match awaited {
        Awaited::Append { shard, token, order, ack } => match ack.await {
            Ok(ack) => {
                let position = order.at(ack.sequence);
                order.witness(&position);
                context.answer(shard, BusEvent::Appended { token, result: Ok(position) });
            }
            // The server has no room for it, or reports a problem of its own.
            Err(error) if error.kind() == PublishErrorKind::Other => {
                refuse(line, shard, token, &format!("a publication: {}", explain_publish(&error)));
            }
            Err(error) => return Err(explain_publish(&error)),
        },
        Awaited::Subscribed { topic, subscription, order, begin } => {
            let position = match order {
                Some(order) => {
                    let subject = line.subjects.order(order.rule, &topic);
                    Some(order.stand(line.streams.context(), &subject).await?)
                }
                None => None,
            };
            let reached = position.as_ref().map_or(0, |position| position.offset);
            context.tell(BusEvent::Subscribed { topic, subscription, position });
            // Fails only when the subscription is no longer wanted.
            let _ = begin.send(reached);
        }
    }
    Ok(())
}

/// Refuses one publication, while everything else continues.
fn refuse(line: &Line, shard: ShardIndex, token: AppendToken, what: &str) {
    line.context.refuse(what);
    let result = Err(AppendError::Unavailable);
    line.context.answer(shard, BusEvent::Appended { token, result });
}
