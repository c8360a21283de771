//! One socket of the simulation: what it asked, what it was told, and whether that conforms to Phoenix's protocol.

use crate::channels::publication_of;
use crate::journal::{ClientId, JoinId};
use crate::oracle::{Checked, Oracle, Violation, violated};
use crate::presence::View;
use crate::wire::{Body, Received};
use hub::{ConnectionKey, Dialect, Ticket, Transport};
use proto::phoenix::Version;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How often a request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    /// Exactly once.
    One,
    /// Exactly once, unless the join that it was for has ended.
    OneWhileJoined,
    /// Once or not at all.
    Perhaps,
}

/// A message that the client sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) topic: String,
    pub(crate) event: &'static str,
    /// For a join its own number, else the client's latest join of the topic.
    pub(crate) join: Option<JoinId>,
    /// The `join_ref` that it carried.
    pub(crate) join_ref: Option<u32>,
    pub(crate) answers: Answers,
    /// Whether its answer must keep the order of the requests; that of a deferred one need not.
    pub(crate) ordered: bool,
    pub(crate) answered: bool,
}

/// What the client knows of one topic.
#[derive(Default, Debug)]
struct Room {
    /// The join that is in effect, according to what the client was told.
    current: Option<JoinId>,
    closed: Option<JoinId>,
    presence: View,
    last_answered: u32,
}

pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) key: ConnectionKey,
    pub(crate) shard: usize,
    pub(crate) dialect: Dialect,
    pub(crate) socket_id: Option<String>,
    /// Whether this client's mount handles joins one after the other.
    pub(crate) sequential: bool,
    /// Whether it sent something that cannot be decoded, and must be closed for it.
    pub(crate) is_broken: bool,
    /// Whether its socket id was kicked since it connected.
    pub(crate) is_kicked: bool,
    pub(crate) tickets: BTreeSet<u32>,
    /// Whether each join was sent with a `join_ref`.
    pub(crate) join_refs: BTreeMap<JoinId, bool>,
    /// The latest join that was requested, by topic.
    pub(crate) latest: BTreeMap<String, JoinId>,
    requests: BTreeMap<u32, Request>,
    rooms: BTreeMap<String, Room>,
    last_answered: u32,
}

impl Client {
    pub(crate) fn new(
        id: ClientId,
        key: ConnectionKey,
        shard: usize,
        dialect: Dialect,
        socket_id: Option<String>,
        sequential: bool,
    ) -> Client {
        Client {
            id,
            key,
            shard,
            dialect,
            socket_id,
            sequential,
            is_broken: false,
            is_kicked: false,
            tickets: BTreeSet::new(),
            join_refs: BTreeMap::new(),
            latest: BTreeMap::new(),
            requests: BTreeMap::new(),
            rooms: BTreeMap::new(),
            last_answered: 0,
        }
    }

    /// Returns whether the server can send it binary payloads.
    pub(crate) fn carries_bytes(&self) -> bool {
        self.dialect.version == Version::V2 && self.dialect.transport != Transport::LongPoll
    }

    pub(crate) fn ask(&mut self, reference: u32, request: Request) {
        self.requests.insert(reference, request);
    }

    pub(crate) fn taken(&mut self, ticket: Ticket) -> Checked {
        match self.tickets.remove(&ticket.0) {
            true => Ok(()),
            false => violated(format!("{ticket:?} was taken twice")),
        }
    }

    /// Checks a message from the server.
    pub(crate) fn receive(&mut self, message: &Received, oracle: &mut Oracle) -> Checked {
        self.message(message, oracle)
            .map_err(|violation| Violation(format!("{:?}: {}", self.id, violation.0)))
    }

    fn message(&mut self, message: &Received, oracle: &mut Oracle) -> Checked {
        match &*message.event {
            "phx_reply" => self.reply(message),
            "phx_close" | "phx_error" => self.end(message),
            "bye" => self.bye(message),
            "presence_state" | "presence_diff" | "presence_count" => self.presence(message),
            "first" | "third" => self.standing(message).map(drop),
            "published" | "intercepted" => {
                let join = self.standing(message)?;
                let mut text = String::new();
                match publication_of(message.payload.as_payload(&mut text)) {
                    Some(id) => oracle.heard(join, id),
                    None => violated(format!("a publication without its number: {message:?}")),
                }
            }
            _ => violated(format!("nobody sends {message:?}")),
        }
    }

    fn reply(&mut self, message: &Received) -> Checked {
        let reference = message.reference.as_str().and_then(|text| text.parse().ok());
        let Some((reference, request)) = reference.and_then(|r| Some((r, self.requests.get_mut(&r)?))) else {
            return violated(format!("a reply to no request: {message:?}"));
        };
        if std::mem::replace(&mut request.answered, true) || request.topic != message.topic {
            return violated(format!("a second reply, or one on another topic: {message:?}"));
        }
        let request = request.clone();
        self.in_order(reference, &request)?;
        let payload = message.payload.json();
        let refused = payload["status"] != "ok";
        let response = &payload["response"];
        let unmatched = response["reason"] == "unmatched topic";
        if self.dialect.version == Version::V2 {
            self.check_reply_ref(message, &request, unmatched)?;
        }
        match request.event {
            "phx_join" if !refused => self.joined(&request, message),
            "deny" if !refused => violated(format!("ok to a request to be denied: {message:?}")),
            "heartbeat" | "phx_leave" if refused => violated(format!("refused: {message:?}")),
            "phx_join" | "deny" | "heartbeat" | "phx_leave" => Ok(()),
            _ if refused && !unmatched => violated(format!("refused: {message:?}")),
            _ => Ok(()),
        }
    }

    /// Checks that answers keep the order of the requests on their topic, and if joins are sequential, that those of
    /// joins and heartbeats keep it on the whole socket.
    fn in_order(&mut self, reference: u32, request: &Request) -> Checked {
        let room = self.rooms.entry(request.topic.clone()).or_default();
        if request.ordered {
            if reference < room.last_answered {
                return violated(format!("{reference} was answered after {}", room.last_answered));
            }
            room.last_answered = reference;
        }
        if self.sequential && matches!(request.event, "phx_join" | "heartbeat") {
            if reference < self.last_answered {
                return violated(format!("{reference} was answered after {}", self.last_answered));
            }
            self.last_answered = reference;
        }
        Ok(())
    }

    /// Checks the join_ref of a reply, by reference sections 3.1 to 3.3.
    fn check_reply_ref(&self, message: &Received, request: &Request, unmatched: bool) -> Checked {
        let is = |join_ref: Option<u32>| match join_ref {
            Some(join_ref) => names(&message.join_ref, join_ref),
            None => message.join_ref.is_null(),
        };
        let channel = is(request.join.map(|join| join.0));
        let right = match request.event {
            _ if unmatched => is(None),
            "heartbeat" => is(None),
            "phx_join" => is(request.join_ref),
            // If the topic is not joined, a leave's join_ref is echoed as it was sent.
            "phx_leave" => channel || is(request.join_ref),
            _ => channel,
        };
        if right { Ok(()) } else { violated(format!("the wrong join_ref: {message:?} to {request:?}")) }
    }

    fn joined(&mut self, request: &Request, message: &Received) -> Checked {
        let room = self.rooms.entry(request.topic.clone()).or_default();
        if let Some(current) = room.current {
            return violated(format!("joined while {current:?} was not closed: {message:?}"));
        }
        room.current = request.join;
        room.presence = View::default();
        Ok(())
    }

    fn end(&mut self, message: &Received) -> Checked {
        let room = self.rooms.entry(message.topic.clone()).or_default();
        let Some(join) = room.current.take() else {
            return violated(format!("an end of no join: {message:?}"));
        };
        room.closed = Some(join);
        let expected = match self.join_refs.get(&join) {
            Some(true) => Value::from(join.0.to_string()),
            Some(false) | None => Value::Null,
        };
        let join_ref = if self.dialect.version == Version::V2 { &message.join_ref } else { &expected };
        match (&message.reference, join_ref) == (&expected, &expected) {
            true => Ok(()),
            false => violated(format!("not the join_ref of {join:?}: {message:?}")),
        }
    }

    /// Only a channel that ends sends this: after its close, or while its socket is being closed.
    fn bye(&mut self, message: &Received) -> Checked {
        let room = self.rooms.entry(message.topic.clone()).or_default();
        match room.current.or(room.closed) {
            Some(join) => self.check_push_ref(message, join),
            None => violated(format!("a farewell before any join: {message:?}")),
        }
    }

    fn presence(&mut self, message: &Received) -> Checked {
        self.standing(message)?;
        let room = self.rooms.entry(message.topic.clone()).or_default();
        match (&message.payload, room.presence.take(&message.event, message.payload.json())) {
            (Body::Json(_), Some(())) => Ok(()),
            _ => violated(format!("not a presence: {message:?}")),
        }
    }

    /// Returns the join that a push or a broadcast is for.
    fn standing(&self, message: &Received) -> Checked<JoinId> {
        match self.rooms.get(&message.topic).and_then(|room| room.current) {
            Some(join) => self.check_push_ref(message, join).map(|()| join),
            None => violated(format!("before the reply to a join or after its end: {message:?}")),
        }
    }

    /// Broadcasts carry no join_ref; pushes carry that of the current join, or its ref if it has none.
    fn check_push_ref(&self, message: &Received, join: JoinId) -> Checked {
        let right = message.join_ref.is_null() || names(&message.join_ref, join.0);
        match right && message.reference.is_null() {
            true => Ok(()),
            false => violated(format!("not a push to {join:?}: {message:?}")),
        }
    }

    /// Checks the state at rest, when nothing is in flight any more.
    pub(crate) fn at_rest(&self, oracle: &Oracle) -> Checked {
        if self.is_broken || self.is_kicked {
            return violated(format!("{:?} should have been closed", self.id));
        }
        if let Some(ticket) = self.tickets.first() {
            return violated(format!("{:?}: ticket {ticket} was never taken", self.id));
        }
        let due = |request: &Request| match request.answers {
            Answers::One => true,
            Answers::OneWhileJoined => !request.join.is_some_and(|join| oracle.has_ended(join)),
            Answers::Perhaps => false,
        };
        if let Some((reference, request)) = self.requests.iter().find(|(_, r)| !r.answered && due(r)) {
            return violated(format!("{:?}: no answer to {reference}: {request:?}", self.id));
        }
        for (topic, room) in &self.rooms {
            if room.current.is_some_and(|join| !oracle.stands(join)) {
                return violated(format!("{:?}: was not told of the end of {room:?} on {topic}", self.id));
            }
        }
        Ok(())
    }

    /// Returns the joins in effect, with their topics and the presence that they show.
    pub(crate) fn joins(&self) -> impl Iterator<Item = (JoinId, &str, &View)> {
        self.rooms.iter().filter_map(|(topic, room)| Some((room.current?, topic.as_str(), &room.presence)))
    }
}

/// Returns whether a ref is that number, as the string that clients send.
fn names(value: &Value, number: u32) -> bool {
    value.as_str().is_some_and(|text| text.parse() == Ok(number))
}
