//! What is to be kept in a stream: sent, and sent again where no answer came, kept once.
//!
//! Each append has an id of its own, by which the server knows one that it has kept already and answers with the place that
//! it gave it. An answer is lost where a stream's leader changes, or a server stood still for a moment; that is no reason to
//! tell anybody that nothing is known of a publication. What was sent again may stand behind what was sent after it.

use super::explain::explain_publish;
use super::line::Line;
use super::order::Order;
use super::rule::Rule;
use crate::failure::Failure;
use crate::frame;
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use hub::{AppendError, AppendToken, BusEvent, Draft, ShardIndex};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::time::{sleep, timeout};

/// How often an append is sent, within the time in which it is to be answered.
const TRIES_MAX: u32 = 4;

/// Those of one session.
pub(crate) struct Appends {
    line: Arc<Line>,
    count: u64,
}

/// One that was sent.
pub(crate) struct Sent {
    shard: ShardIndex,
    token: AppendToken,
    order: Arc<Order>,
    subject: String,
    message: PublishMessage,
    ack: PublishAckFuture,
}

impl Appends {
    pub(crate) fn new(line: Arc<Line>) -> Appends {
        Appends { line, count: 0 }
    }

    /// Sends it to its stream; nothing is awaited of what cannot be sent.
    pub(crate) async fn send(
        &mut self,
        shard: ShardIndex,
        token: AppendToken,
        draft: &Draft,
    ) -> Result<Option<Sent>, Failure> {
        // A topic is appended to because it has a history.
        let retention = self.line.desk.histories.of(&draft.topic).unwrap_or_default();
        let order = self.line.streams.of(Rule::of(retention))?;
        let subject = self.line.subjects.order(order.rule, &draft.topic);
        let payload = frame::kept(self.line.desk.node, draft);
        let message = PublishMessage::build().payload(payload.into()).message_id(self.id());
        match self.line.streams.context().send_publish(subject.clone(), message.clone()).await {
            Ok(ack) => Ok(Some(Sent { shard, token, order, subject, message, ack })),
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                refuse(&self.line, shard, token, "a message that is larger than its `max_payload`");
                Ok(None)
            }
            Err(error) => Err(explain_publish(&error)),
        }
    }

    /// No other append has it, whichever node's or session's it is.
    fn id(&mut self) -> String {
        self.count += 1;
        format!("{:x}.{:x}.{:x}", self.line.desk.node.0, self.line.number, self.count)
    }
}

impl Sent {
    /// Waits for the answer, and hands it on.
    pub(crate) async fn settle(self, line: &Line) -> Result<(), Failure> {
        let Sent { shard, token, order, subject, message, mut ack } = self;
        let patience = line.desk.times.answer_max / TRIES_MAX;
        for _ in 1..TRIES_MAX {
            match timeout(patience, ack).await {
                Ok(Err(error)) if is_of_no_leader(error.kind()) => sleep(patience).await,
                Err(_) => {}
                Ok(answered) => return tell(line, (shard, token), &order, answered),
            }
            line.desk.numbers.retried.fetch_add(1, Relaxed);
            let again = line.streams.context().send_publish(subject.clone(), message.clone());
            ack = again.await.map_err(|error| explain_publish(&error))?;
        }
        tell(line, (shard, token), &order, ack.await)
    }
}

type Answered =
    Result<async_nats::jetstream::publish::PublishAck, async_nats::jetstream::context::PublishError>;

fn tell(
    line: &Line,
    (shard, token): (ShardIndex, AppendToken),
    order: &Order,
    answered: Answered,
) -> Result<(), Failure> {
    match answered {
        Ok(ack) => {
            let position = order.at(ack.sequence);
            order.witness(&position);
            line.desk.answer(shard, BusEvent::Appended { token, result: Ok(position) });
        }
        // The server has no room for it, or something of its own to complain about.
        Err(error) if error.kind() == PublishErrorKind::Other => {
            refuse(line, shard, token, &format!("a publication: {}", explain_publish(&error)));
        }
        Err(error) => return Err(explain_publish(&error)),
    }
    Ok(())
}

/// Whether nobody was there to answer: where streams have copies, one of them is chosen within a moment.
fn is_of_no_leader(kind: PublishErrorKind) -> bool {
    matches!(kind, PublishErrorKind::TimedOut | PublishErrorKind::StreamNotFound)
}

/// This publication is not kept, while everything else goes on.
fn refuse(line: &Line, shard: ShardIndex, token: AppendToken, what: &str) {
    line.refuse(what);
    let result = Err(AppendError::Unavailable);
    line.desk.answer(shard, BusEvent::Appended { token, result });
}
