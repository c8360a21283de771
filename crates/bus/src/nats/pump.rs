//! Does what is wanted, in its order; what has to wait for an answer waits beside.

use super::feeds::{Base, Feed, Feeds};
use super::history::Kept;
use super::people::{Answers, question};
use super::rule::Rule;
use super::session::Line;
use super::streams::{Order, refused};
use crate::failure::Failure;
use crate::frame;
use crate::limits::ANSWER_TIME_MAX;
use crate::queue::Queue;
use async_nats::HeaderMap;
use async_nats::jetstream::context::PublishAckFuture;
use futures_util::StreamExt as _;
use hub::{AppendToken, BusEffect, BusEvent, Draft, ReadToken, ShardIndex, Span, SubscriptionId};
use std::sync::Arc;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Questions for histories and people that are under way at the same time.
const QUESTIONS_MAX: usize = 16;

pub(crate) struct Pump {
    line: Arc<Line>,
    queue: Queue,
    feeds: Feeds,
    questions: JoinSet<()>,
    places: Arc<Semaphore>,
}

/// An answer that is waited for when everything that goes out together is on its way.
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
        begin: oneshot::Sender<Base>,
    },
}

impl Pump {
    pub(crate) fn new(line: Arc<Line>, queue: Queue) -> Pump {
        let (feeds, places) = (Feeds::default(), Arc::new(Semaphore::new(QUESTIONS_MAX)));
        Pump { line, queue, feeds, questions: JoinSet::new(), places }
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
            let answers = timeout(ANSWER_TIME_MAX, self.answers(awaited)).await.unwrap_or(Err(Failure::Late));
            self.queue.done(&self.line.desk, amount);
            if let Err(failure) = answers {
                return self.line.fail(failure);
            }
        }
    }

    async fn begin(
        &mut self,
        (shard, effect): (ShardIndex, BusEffect),
        awaited: &mut Vec<Awaited>,
    ) -> Result<(), Failure> {
        let (desk, node) = (self.line.desk.clone(), self.line.desk.node);
        match effect {
            BusEffect::Publish(publication) => {
                let message = frame::published(node, &publication.event, &publication.payload);
                self.say(&publication.topic, message).await
            }
            BusEffect::Append { draft, token } => {
                awaited.push(self.append(shard, token, &draft).await?);
                Ok(())
            }
            BusEffect::Interest { topic, on: None } => {
                self.feeds.remove(&desk, &topic);
                Ok(())
            }
            BusEffect::Interest { topic, on: Some(subscription) } => {
                awaited.push(self.subscribe(topic, subscription).await?);
                Ok(())
            }
            BusEffect::ReadHistory { topic, span, token } => {
                self.ask(|line| read_history(line, topic, span, token));
                Ok(())
            }
            BusEffect::Heads(heads) => {
                for (topic, position) in heads {
                    self.say(&topic, frame::head(node, &position)).await?;
                }
                Ok(())
            }
            BusEffect::PresenceHeads(heads) => {
                for (topic, version) in heads {
                    self.say(&topic, frame::presence_head(node, version)).await?;
                }
                Ok(())
            }
            BusEffect::Present { topic, version, previous, change } => {
                self.line.own.change(&topic, version, &change);
                self.say(&topic, frame::present(node, version, previous, &change)).await
            }
            BusEffect::People { topic, version, people } => {
                self.line.own.replace(&topic, version, people);
                self.say(&topic, frame::presence_head(node, version)).await
            }
            BusEffect::ReadPeople { topic } => {
                // Subscriptions before it are to be the server's before anybody answers: it takes both in their order.
                self.ask(|line| read_people(line, topic));
                Ok(())
            }
        }
    }

    async fn say(&self, topic: &str, message: Vec<u8>) -> Result<(), Failure> {
        let subject = self.line.subjects.topic(topic);
        self.line.client.publish(subject, message.into()).await.map_err(refused)
    }

    async fn order(&self, topic: &str) -> Result<Option<Arc<Order>>, Failure> {
        match self.line.desk.histories.of(topic) {
            Some(retention) => self.line.streams.of(Rule::of(retention)).await.map(Some),
            None => Ok(None),
        }
    }

    async fn append(&self, shard: ShardIndex, token: AppendToken, draft: &Draft) -> Result<Awaited, Failure> {
        // A topic is appended to because it has a history.
        let retention = self.line.desk.histories.of(&draft.topic).unwrap_or_default();
        let order = self.line.streams.of(Rule::of(retention)).await?;
        let subject = self.line.subjects.order(order.rule, &draft.topic);
        let message = frame::kept(self.line.desk.node, draft);
        let jetstream = self.line.streams.context();
        let ack = jetstream.publish_with_headers(subject, HeaderMap::new(), message.into()).await;
        Ok(Awaited::Append { shard, token, order, ack: ack.map_err(refused)? })
    }

    async fn subscribe(&mut self, topic: Arc<str>, subscription: SubscriptionId) -> Result<Awaited, Failure> {
        let order = self.order(&topic).await?;
        let subscriber =
            self.line.client.subscribe(self.line.subjects.topic(&topic)).await.map_err(refused)?;
        let (begin, begun) = oneshot::channel();
        let feed = Feed { desk: self.line.desk.clone(), topic: topic.clone(), order: order.clone() };
        self.feeds.add(feed, subscriber, begun);
        Ok(Awaited::Subscribed { topic, subscription, order, begin })
    }

    async fn answers(&self, awaited: Vec<Awaited>) -> Result<(), Failure> {
        let is_subscription = |awaited: &Awaited| matches!(awaited, Awaited::Subscribed { order: None, .. });
        if awaited.iter().any(is_subscription) {
            // What was asked before an answer is the server's.
            self.line.streams.answers().await?;
        }
        let desk = &self.line.desk;
        for awaited in awaited {
            match awaited {
                Awaited::Append { shard, token, order, ack } => {
                    let position = order.at(ack.await.map_err(refused)?.sequence);
                    order.witness(&position);
                    desk.answer(shard, BusEvent::Appended { token, result: Ok(position) });
                }
                Awaited::Subscribed { topic, subscription, order, begin } => {
                    let (mut position, mut base) = (None, None);
                    if let Some(order) = order {
                        let head = order.head(&self.line.subjects.order(order.rule, &topic)).await?;
                        base = head.is_empty.then_some(head.position.offset);
                        position = Some(head.position);
                    }
                    desk.tell(BusEvent::Subscribed { topic, subscription, position });
                    // Refused only when nobody wants it any more.
                    let _ = begin.send(base);
                }
            }
        }
        Ok(())
    }

    fn ask<F>(&mut self, asking: impl FnOnce(Arc<Line>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        while self.questions.try_join_next().is_some() {}
        let (places, asking) = (self.places.clone(), asking(self.line.clone()));
        self.questions.spawn(async move {
            let _place = places.acquire().await;
            asking.await;
        });
    }
}

async fn read_history(line: Arc<Line>, topic: Arc<str>, span: Span, token: ReadToken) {
    let retention = line.desk.histories.of(&topic).unwrap_or_default();
    let history = match line.streams.of(Rule::of(retention)).await {
        Ok(order) => {
            let subject = line.subjects.order(order.rule, &topic);
            Kept { order: &order, subject: &subject, topic: &topic }.read(span, line.desk.now()).await
        }
        Err(failure) => Err(failure),
    };
    let history = history.inspect_err(|failure| tracing::debug!("a history could not be read: {failure}"));
    line.desk.tell(BusEvent::History { topic, token, history: history.ok().map(Box::new) });
}

async fn read_people(line: Arc<Line>, topic: Arc<str>) {
    let mut answers = Answers::of(line.others());
    let asked = async {
        let inbox = line.client.new_inbox();
        let mut replies = line.client.subscribe(inbox.clone()).await.ok()?;
        let message = question(line.desk.node, &topic);
        line.client.publish_with_reply(line.subjects.who(), inbox, message.into()).await.ok()?;
        while !answers.is_whole() {
            answers.add(&replies.next().await?.payload)?;
        }
        Some(())
    };
    let asked = timeout(ANSWER_TIME_MAX, asked).await.ok().flatten();
    let nodes = asked.map(|()| answers.into_nodes());
    line.desk.tell(BusEvent::People { topic, nodes });
}
