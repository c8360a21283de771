//! Does what is wanted, in its order; what has to wait for an answer waits beside.

use super::appends::{Appends, Sent};
use super::feeds::{Feed, Feeds};
use super::line::{Line, subscribe};
use super::order::Order;
use super::questions::Questions;
use super::rule::Rule;
use crate::failure::Failure;
use crate::frame;
use crate::limits::{BATCH_BYTES_MAX, BATCH_WEIGHT_MAX};
use crate::queue::Queue;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hub::{BusEffect, BusEvent, ShardIndex, SubscriptionId};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub(crate) struct Pump {
    line: Arc<Line>,
    queue: Queue,
    feeds: Feeds,
    questions: Questions,
    appends: Appends,
    /// What was said since the server last confirmed something: as much as the client may hold.
    unconfirmed: (usize, usize),
}

/// An answer that is waited for when everything that goes out together is on its way.
enum Awaited {
    Append(Sent),
    Subscribed {
        topic: Arc<str>,
        subscription: SubscriptionId,
        order: Option<Arc<Order>>,
        begin: oneshot::Sender<u64>,
    },
}

impl Pump {
    pub(crate) fn new(line: Arc<Line>, queue: Queue) -> Pump {
        let (feeds, questions, appends) = (Feeds::default(), Questions::new(), Appends::new(line.clone()));
        Pump { line, queue, feeds, questions, appends, unconfirmed: (0, 0) }
    }

    /// Goes on until something is wrong, which it says.
    pub(crate) async fn run(mut self) {
        while let Some(batch) = self.queue.next().await {
            let amount = batch.amount();
            let mut awaited = Vec::new();
            for wish in batch.wishes {
                if let Err(failure) = self.begin(wish, &mut awaited).await {
                    return self.line.fail(failure);
                }
            }
            self.unconfirmed = (self.unconfirmed.0 + amount.0, self.unconfirmed.1 + amount.1);
            let answers = timeout(self.line.desk.times.answer_max, self.answers(awaited)).await;
            self.queue.done(&self.line.desk, amount);
            if let Err(failure) = answers.unwrap_or(Err(Failure::Late)) {
                return self.line.fail(failure);
            }
        }
    }

    async fn begin(
        &mut self,
        (shard, effect): (ShardIndex, BusEffect),
        awaited: &mut Vec<Awaited>,
    ) -> Result<(), Failure> {
        let node = self.line.desk.node;
        match effect {
            BusEffect::Publish(publication) => {
                let message = frame::published(node, &publication.event, &publication.payload);
                self.say(&publication.topic, message).await?;
            }
            BusEffect::Append { draft, token } => {
                awaited.extend(self.appends.send(shard, token, &draft).await?.map(Awaited::Append));
            }
            BusEffect::Interest { topic, on: None } => self.feeds.remove(&self.line.desk, &topic),
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
            // The server takes subscriptions before it, and then nothing is missed behind the answer.
            BusEffect::ReadPeople { topic } => self.questions.people(self.line.clone(), topic),
        }
        Ok(())
    }

    async fn say(&self, topic: &str, message: Vec<u8>) -> Result<(), Failure> {
        self.line.say(self.line.subjects.topic(topic), message).await
    }

    async fn subscribe(&mut self, topic: Arc<str>, subscription: SubscriptionId) -> Result<Awaited, Failure> {
        let order = match self.line.desk.histories.of(&topic) {
            Some(retention) => Some(self.line.streams.of(Rule::of(retention))?),
            None => None,
        };
        let subscriber = subscribe(&self.line.client, self.line.subjects.topic(&topic)).await?;
        let (begin, begun) = oneshot::channel();
        let feed = Feed { desk: self.line.desk.clone(), topic: topic.clone(), order: order.clone() };
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
    let desk = &line.desk;
    match awaited {
        Awaited::Append(sent) => sent.settle(line).await?,
        Awaited::Subscribed { topic, subscription, order, begin } => {
            let position = match order {
                Some(order) => {
                    let subject = line.subjects.order(order.rule, &topic);
                    Some(order.stand(line.streams.context(), &subject).await?)
                }
                None => None,
            };
            let reached = position.as_ref().map_or(0, |position| position.offset);
            desk.tell(BusEvent::Subscribed { topic, subscription, position });
            // Refused only when nobody wants it any more.
            let _ = begin.send(reached);
        }
    }
    Ok(())
}
