//! Encodes the hub's requests as commands.

use super::instance::Instance;
use super::keys::name;
use super::scripts::call;
use crate::frame;
use crate::limits::{NOBODY_KEPT, PLACE_KEPT, READ_BYTES_MAX, READ_MESSAGES_MAX};
use crate::losses::LossGuard;
use crate::requests::Request;
use crate::session::SessionContext;
use ::redis::{Cmd, cmd};
use hub::{
    AppendToken, BusEffect, Draft, NodeId, PhxRef, PresenceChange, PresenceMeta, ReadToken, ShardIndex, Span,
    SubscriptionId,
};
use std::sync::Arc;

/// What an answer belongs to. Each question consumes the answers of as many commands as [`encode`] added for it.
pub(crate) enum Question {
    /// The answer contains whether the node's lease is valid.
    Lease,
    /// Any answer means that the command was executed, and that the publication has arrived.
    Done(Option<LossGuard>),
    /// A change of people: executed, unless the node's lease has expired.
    People,
    Append {
        shard: ShardIndex,
        token: AppendToken,
    },
    /// A subscription to an ephemeral topic, or to a recoverable one, which has a second answer.
    Subscribe {
        topic: Arc<str>,
        subscription: SubscriptionId,
        recoverable: bool,
    },
    History {
        topic: Arc<str>,
        token: ReadToken,
        span: Span,
    },
    Who {
        topic: Arc<str>,
    },
}

/// Appends the commands of one request, and the questions that their answers belong to.
pub(crate) fn encode(
    instance: &Instance,
    context: &SessionContext,
    request: Request,
    commands: &mut Vec<Cmd>,
    questions: &mut Vec<Question>,
) {
    let keys = &instance.keys;
    let mut ask = |command: Cmd, question: Question| {
        commands.push(command);
        questions.push(question);
    };
    let (shard, effect, passage) = match request {
        Request::Effect { shard, effect, passage } => (shard, effect, passage),
        Request::Lost(passage) => {
            let message = frame::lost(context.node, passage.age());
            let lost = publish(instance, &keys.channel(passage.topic()), message);
            return ask(lost, Question::Done(Some(passage)));
        }
    };
    match effect {
        BusEffect::Publish(publication) => {
            let message = frame::published(context.node, &publication.event, &publication.payload);
            ask(publish(instance, &keys.channel(&publication.topic), message), Question::Done(passage));
        }
        BusEffect::Append { draft, token } => {
            ask(append(instance, context, &draft), Question::Append { shard, token });
        }
        BusEffect::Interest { topic, on: None } => {
            instance.inbox.forget(&topic);
            ask(
                cmd(instance.channels.unsubscribe()).arg(keys.channel(&topic)).to_owned(),
                Question::Done(None),
            );
        }
        BusEffect::Interest { topic, on: Some(subscription) } => {
            instance.inbox.expect(&topic, subscription);
            let retention = context.histories.of(&topic);
            let recoverable = retention.is_some();
            let head = retention.map(|retention| {
                let mut head = call(&instance.scripts.head, &[keys.marks(), keys.newest(&topic)]);
                head.arg(kept_ms(retention.age_us_max));
                head
            });
            let subscribe = cmd(instance.channels.subscribe()).arg(keys.channel(&topic)).to_owned();
            ask(subscribe, Question::Subscribe { topic, subscription, recoverable });
            commands.extend(head);
        }
        BusEffect::ReadHistory { topic, span, token } => {
            ask(history(instance, context, &topic, span), Question::History { topic, token, span });
        }
        BusEffect::Heads(heads) => {
            for (topic, position) in heads {
                ask(
                    publish(instance, &keys.channel(&topic), frame::head(context.node, &position)),
                    Question::Done(None),
                );
            }
        }
        BusEffect::PresenceHeads(heads) => {
            for (topic, version) in heads {
                let message = frame::presence_head(context.node, version);
                ask(publish(instance, &keys.channel(&topic), message), Question::Done(None));
            }
        }
        BusEffect::Dismiss(dismissal) => {
            ask(
                publish(instance, &keys.everybody(), frame::dismissed(context.node, &dismissal)),
                Question::Done(None),
            );
        }
        BusEffect::Tell(words) => {
            ask(publish(instance, &keys.everybody(), frame::told(context.node, &words)), Question::Done(None))
        }
        BusEffect::Present { topic, version, previous, change } => {
            let message = frame::present(context.node, version, previous, &change);
            ask(present(instance, context.node, &topic, version, &change, message), Question::People);
        }
        BusEffect::People { topic, version, people } => {
            ask(all_people(instance, context.node, &topic, version, &people), Question::People);
        }
        BusEffect::ReadPeople { topic } => {
            let mut who = call(&instance.scripts.who, &[keys.leases()]);
            who.arg(keys.people_prefix()).arg(&*topic).arg(name(context.node));
            ask(who, Question::Who { topic });
        }
    }
}

fn publish(instance: &Instance, channel: &str, message: Vec<u8>) -> Cmd {
    cmd(instance.channels.publish()).arg(channel).arg(message).to_owned()
}

fn append(instance: &Instance, context: &SessionContext, draft: &Draft) -> Cmd {
    let (keys, topic) = (&instance.keys, &*draft.topic);
    // Only topics with a history are appended to.
    let retention = context.histories.of(topic).unwrap_or_default();
    let mut append = call(&instance.scripts.append, &[keys.marks(), keys.newest(topic), keys.order(topic)]);
    append.arg(keys.channel(topic)).arg(frame::kept(context.node, draft));
    append.arg(retention.messages_max).arg(retention.age_us_max).arg(kept_ms(retention.age_us_max));
    append
}

/// How long a topic's place is kept while nothing happens.
fn kept_ms(age_us_max: u64) -> u64 {
    age_us_max / 1000 + PLACE_KEPT.as_millis() as u64
}

fn history(instance: &Instance, context: &SessionContext, topic: &str, span: Span) -> Cmd {
    let keys = &instance.keys;
    let mut history = call(&instance.scripts.history, &[keys.marks(), keys.newest(topic), keys.order(topic)]);
    match span {
        Span::Oldest { since } => {
            history.arg("oldest").arg(since).arg("").arg(READ_MESSAGES_MAX).arg(READ_BYTES_MAX)
        }
        Span::Newest { since, until, messages_max, bytes_max } => {
            history.arg("newest").arg(since).arg(until).arg(messages_max).arg(bytes_max)
        }
    };
    history.arg(context.histories.of(topic).unwrap_or_default().age_us_max);
    history
}

fn people_keys(instance: &Instance, node: NodeId, topic: &str) -> [String; 3] {
    let keys = &instance.keys;
    [keys.leases(), keys.people(node, topic), keys.topics(node)]
}

fn present(
    instance: &Instance,
    node: NodeId,
    topic: &str,
    version: u64,
    change: &PresenceChange,
    message: Vec<u8>,
) -> Cmd {
    let mut present = call(&instance.scripts.present, &people_keys(instance, node, topic));
    present.arg(name(node)).arg(topic).arg(version);
    present.arg(change.left.as_ref().map_or("", |(_, reference)| PhxRef::as_str(reference)));
    match &change.joined {
        Some(meta) => present.arg(meta.reference.as_str()).arg(frame::person(meta)),
        None => present.arg("").arg(""),
    };
    present.arg(instance.keys.channel(topic)).arg(message).arg(NOBODY_KEPT.as_millis() as u64);
    present
}

fn all_people(instance: &Instance, node: NodeId, topic: &str, version: u64, people: &[PresenceMeta]) -> Cmd {
    let mut all = call(&instance.scripts.people, &people_keys(instance, node, topic));
    all.arg(name(node)).arg(topic).arg(version);
    all.arg(instance.keys.channel(topic)).arg(frame::presence_head(node, version));
    all.arg(NOBODY_KEPT.as_millis() as u64);
    for meta in people {
        all.arg(meta.reference.as_str()).arg(frame::person(meta));
    }
    all
}
