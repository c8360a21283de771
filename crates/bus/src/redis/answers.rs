//! Converts an instance's answers to the hub's events.

use super::commands::Question;
use super::explain::{is_full, sound};
use super::inbox::Inbox;
use super::keys;
use super::own_lease::leases;
use crate::failure::Failure;
use crate::frame::{read_kept, read_person};
use crate::session::{SessionContext, Standing};
use ::redis::{Value, from_redis_value};
use hub::{
    AppendError, BusEvent, BusHistory, Epoch, Micros, NodeId, NodePeople, Ordered, PhxRef, Position, Span,
};
use std::sync::Arc;

/// Consumes the answers of one question from `answers` and informs the hub. Returns the nodes with valid leases, if
/// they were requested.
pub(crate) fn tell(
    context: &SessionContext,
    inbox: &Inbox,
    question: Question,
    answers: &mut impl Iterator<Item = Value>,
) -> Result<Option<Standing>, Failure> {
    let mut next = || answers.next().ok_or_else(|| unexpected("too few replies"));
    let mut answer = || next().and_then(sound);
    match question {
        Question::Lease => return leases(answer()?).map(Some),
        Question::Done(passage) => {
            answer()?;
            if let Some(passage) = passage {
                passage.arrive();
            }
        }
        Question::People => {
            if answer()? != Value::Int(1) {
                return Err(Failure::LeaseOver);
            }
        }
        Question::Append { shard, token } => {
            let result = appended(context, inbox, next()?)?;
            context.answer(shard, BusEvent::Appended { token, result });
        }
        Question::Subscribe { topic, subscription, recoverable } => {
            answer()?;
            let position = if recoverable { Some(position(answer()?)?) } else { None };
            inbox.open(topic, subscription, position);
        }
        Question::History { topic, token, span } => {
            let history = history(&topic, span, context.now(), answer()?)?;
            context.tell(BusEvent::History { topic, token, history: Some(Box::new(history)) });
        }
        Question::Who { topic } => {
            let nodes = who(answer()?)?;
            context.tell(BusEvent::People { topic, nodes: Some(nodes) });
        }
    }
    Ok(None)
}

/// Returns the position of a publication, or `Unavailable` if the server is full: only this publication is refused.
fn appended(
    context: &SessionContext,
    inbox: &Inbox,
    answer: Value,
) -> Result<Result<Position, AppendError>, Failure> {
    if is_full(&answer) {
        context.refuse("a publication: the server has reached its `maxmemory`");
        return Ok(Err(AppendError::Unavailable));
    }
    let position = position(sound(answer)?)?;
    inbox.witness(&position);
    Ok(Ok(position))
}

fn unexpected(what: impl ToString) -> Failure {
    Failure::Refused(what.to_string())
}

fn values(answer: Value) -> Result<std::vec::IntoIter<Value>, Failure> {
    let values: Vec<Value> = from_redis_value(answer).map_err(unexpected)?;
    Ok(values.into_iter())
}

fn position(answer: Value) -> Result<Position, Failure> {
    let (epoch, offset): (String, u64) = from_redis_value(answer).map_err(unexpected)?;
    let epoch = Epoch::new(&epoch).ok_or_else(|| unexpected("an invalid epoch"))?;
    Ok(Position { epoch, offset })
}

/// Parses the answer of `scripts/history.lua`.
fn history(topic: &Arc<str>, span: Span, received: Micros, answer: Value) -> Result<BusHistory, Failure> {
    let mut values = values(answer)?;
    let mut next = || values.next().ok_or_else(|| unexpected("an incomplete history"));
    let head = position(Value::Array(vec![next()?, next()?]))?;
    let floor: u64 = from_redis_value(next()?).map_err(unexpected)?;
    let cut: String = from_redis_value(next()?).map_err(unexpected)?;
    let mut ordered = Vec::with_capacity(values.len() / 3);
    while let (Some(offset), Some(previous), Some(data)) = (values.next(), values.next(), values.next()) {
        let offset = from_redis_value(offset).map_err(unexpected)?;
        let previous = from_redis_value(previous).map_err(unexpected)?;
        let data: Vec<u8> = from_redis_value(data).map_err(unexpected)?;
        let kept = read_kept(&data).ok_or_else(|| unexpected("a publication that cannot be read"))?;
        let position = Position { epoch: head.epoch.clone(), offset };
        ordered.push(Ordered { position, previous, draft: kept.into_draft(topic.clone(), received) });
    }
    Ok(match span {
        Span::Oldest { since } => {
            let from = since.max(floor).min(head.offset);
            let to = ordered.last().map_or(head.offset, |last| last.position.offset);
            BusHistory { head, from, to, ordered }
        }
        Span::Newest { since, until, .. } => {
            ordered.reverse();
            let reached = cut.parse().unwrap_or(since).max(floor);
            BusHistory { head, from: reached.max(since).min(until), to: until, ordered }
        }
    })
}

/// Parses the answer of `scripts/who.lua`.
fn who(answer: Value) -> Result<Vec<NodePeople>, Failure> {
    let mut values = values(answer)?;
    let mut nodes = Vec::with_capacity(values.len() / 2);
    while let (Some(name), Some(fields)) = (values.next(), values.next()) {
        let name: String = from_redis_value(name).map_err(unexpected)?;
        let node = keys::node(&name).ok_or_else(|| unexpected("a node without a name"))?;
        nodes.push(people(node, fields)?);
    }
    Ok(nodes)
}

fn people(node: NodeId, fields: Value) -> Result<NodePeople, Failure> {
    let fields: Vec<(String, Vec<u8>)> = from_redis_value(fields).map_err(unexpected)?;
    let mut of = NodePeople { node, version: 0, people: Vec::with_capacity(fields.len()) };
    for (field, value) in fields {
        if field == VERSION_FIELD {
            let version = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
            of.version = version.ok_or_else(|| unexpected("people without a version"))?;
        } else {
            let meta = PhxRef::parse(&field).and_then(|reference| read_person(reference, &value));
            of.people.push(meta.ok_or_else(|| unexpected("a person who cannot be read"))?);
        }
    }
    of.people.sort_by_key(|meta| meta.reference);
    Ok(of)
}

/// The field next to the people of a node; see `scripts/present.lua`.
const VERSION_FIELD: &str = "v";
