//! `room:COMMUNITY/ROOM`: one client in one room.
//!
//! The reply to a join has the newest messages, or those missed since `recover`. The page is read before the join is
//! accepted, and the topic is received from then on. When it is accepted, the room's head shows what was sent in
//! between, and that is pushed, so that no client has a gap.

mod join;
mod recovery;

pub(super) use join::{JoinRequest, enter};

use super::connection::Connection;
use super::payload::{read, refuse};
use super::request::{self, Asker};
use super::sending::Sending;
use super::waiting::Waiting;
use crate::fault::{ErrorCode, Fault};
use crate::topics::{ROOM, parts};
use chat::verbs::Page;
use chat::{Failure, RoomName};
use gateway::{Channel, Context, Ended, Info, Joining, Micros, Payload, Task};
use join::Place;
use recovery::Snapshot;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct RoomChannel {
    joined: Option<Joined>,
}

/// An accepted join.
pub(super) struct Joined {
    place: Place,
    rare: Option<Box<Rare>>,
}

/// What most joins do not need once they are accepted and as long as the client is silent.
#[derive(Default)]
struct Rare {
    sending: Sending,
    /// Until nothing can be missing between it and what the client receives.
    snapshot: Option<Snapshot>,
    /// Whether they are a visitor, not a member.
    visits: bool,
}

/// Results that arrive on the shard.
enum Brought {
    Join(Result<Box<(Joined, Value)>, Fault>),
    Missed(Result<Arc<Page>, Failure>),
    Changed(Result<Arc<Page>, Failure>),
    Conversation(Result<Arc<Page>, Failure>),
}

impl Channel for RoomChannel {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let Some(connection) = Connection::of(cx) else {
            return refuse(&Fault::new(ErrorCode::NoCommunity, "connect with the parameter `community`"));
        };
        let request = match read::<JoinRequest>(payload) {
            Ok(request) => request,
            Err(fault) => return refuse(&fault),
        };
        let room = parts(cx.topic(), ROOM).filter(|(community, _)| *community == connection.community());
        let Some(room) = room.and_then(|(_, room)| RoomName::parse(room).ok()) else {
            return refuse(&Fault::not_found());
        };
        Joining::Later(Task::future(async move {
            Brought::Join(enter(connection, room, request).await.map(Box::new))
        }))
    }

    fn join_answered(&mut self, _: &mut Context<'_>, answer: Info) -> Joining {
        match answer.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Join(Ok(entered))) => {
                let (joined, response) = *entered;
                self.joined = Some(joined);
                Joining::Accept(response.into())
            }
            Ok(Brought::Join(Err(fault))) => refuse(&fault),
            Ok(Brought::Missed(_) | Brought::Changed(_) | Brought::Conversation(_)) | Err(_) => {
                refuse(&Fault::new(ErrorCode::Internal, "the join failed"))
            }
        }
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        let Some(joined) = &mut self.joined else { return };
        let Place { connection, conversation, .. } = &joined.place;
        let audience = &connection.messenger.inner.audience;
        if audience.is_evicted(&connection.here().community, *conversation, connection.socket.0) {
            return cx.stop();
        }
        joined.catch_up(cx);
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Some(joined) = &mut self.joined else { return cx.fail() };
        if event == "typing" {
            let typed = joined.types(payload, cx.now());
            let answer =
                typed.map(|told| told.into_iter().for_each(|told| cx.broadcast_from("typing", told)));
            return Waiting::answer_now(cx, answer.map(|()| json!({})));
        }
        let state = joined.rare.get_or_insert_default().sending.state();
        if !state.waiting.has_room(cx) {
            return;
        }
        let asker = Asker {
            messenger: joined.place.messenger(),
            me: joined.place.me(),
            room: Some(joined.place.conversation),
            turns: &state.turns,
        };
        match request::answer(&asker, event, payload) {
            Ok(answer) => state.waiting.answer_later(cx, answer),
            Err(fault) => Waiting::answer_now(cx, Err(fault)),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, info: Info) {
        let Some(joined) = &mut self.joined else { return };
        let settled = match &mut joined.rare {
            Some(rare) => rare.sending.settle(cx, info),
            None => Err(info),
        };
        let Err(info) = settled else { return };
        match info.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Missed(Ok(page))) => joined.push_missed(cx, &page),
            // Otherwise the client would have a gap: it joins again and recovers.
            Ok(Brought::Missed(Err(_)) | Brought::Changed(Err(_)) | Brought::Conversation(Err(_))) => {
                cx.fail()
            }
            Ok(Brought::Conversation(Ok(page))) => cx.push("conversation:changed", json!(page.conversation)),
            Ok(Brought::Changed(Ok(page))) => {
                for shown in &page.messages {
                    cx.push("msg:changed", json!(shown));
                }
            }
            Ok(Brought::Join(_)) | Err(_) => {}
        }
    }

    fn terminate(&mut self, _: &mut Context<'_>, _: Ended) {
        self.joined = None;
    }
}

impl Joined {
    /// Returns whether they are a member, not a visitor.
    fn speaks(&self) -> bool {
        self.rare.as_ref().is_none_or(|rare| !rare.visits)
    }

    /// Returns the event for the others: none if it is too early, or from a visitor.
    pub(super) fn types(&mut self, payload: Payload<'_>, now: Micros) -> Result<Option<Value>, Fault> {
        let typing = read::<request::Typing>(payload)?;
        let passes =
            self.speaks() && self.rare.get_or_insert_default().sending.state().typing.passes(typing.on, now);
        Ok(passes.then(|| {
            json!({
                "conversation": self.place.conversation,
                "person": self.place.me().id(),
                "on": typing.on,
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_of_a_room_stays_within_its_bytes() {
        assert!(size_of::<RoomChannel>() <= 32, "{} bytes", size_of::<RoomChannel>());
    }
}
