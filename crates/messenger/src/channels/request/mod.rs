//! The requests that clients can send on their topics: one table for rooms and people.
//!
//! In a room the conversation is the room's; on a person's topic the payload names it. An event becomes a command of
//! `chat`, submitted at once on behalf of the person; the store decides the outcome.

#[cfg(test)]
mod changed;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod limited;
mod listing;
mod messages;
mod moderation;
#[cfg(test)]
mod order;
mod people;
#[cfg(test)]
mod rate;
#[cfg(test)]
mod roles;
mod rooms;
mod table;
#[cfg(test)]
mod twins;
#[cfg(test)]
mod unknown;

pub use table::{EVENTS, EventRow, Surface};

pub(super) use listing::{tab, tab_position};

use super::connection::Me;
use super::payload::read as payload;
use super::turns::Turns;
use crate::fault::{ErrorCode, Fault};
use crate::message_permit::MessagePermit;
use crate::messenger::Messenger;
use crate::news::News;
use crate::promise::{Promised, promise};
use crate::reading::PAGE;
use chat::{Asked, ConversationId, Verb};
use futures_util::FutureExt as _;
use gateway::{Outgoing, Payload};
use identity::Action;
use serde::Deserialize;
use std::future::Future;
use std::pin::Pin;

/// A pending answer.
pub(super) enum Answering {
    /// Delivered by a callback, with nothing in between.
    Called(Promised<Outcome>),
    /// Has to be awaited, because it takes more than one request.
    Awaited(Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

/// A response as it is sent, or the error. It is formatted on the thread that has the answer, not on a shard.
pub(super) type Outcome = Result<Outgoing<'static>, Fault>;

impl Answering {
    /// Wraps a future.
    pub(super) fn of<R>(future: impl Future<Output = Result<R, Fault>> + Send + 'static) -> Self
    where
        R: Into<Outgoing<'static>>,
    {
        // An `async` block instead would hold the future twice: as captured, and as awaited.
        Self::Awaited(Box::pin(future.map(|outcome| outcome.map(R::into))))
    }
}

#[cfg(test)]
impl std::future::IntoFuture for Answering {
    type Output = Result<serde_json::Value, Fault>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let read = |response: Outgoing<'_>| serde_json::from_slice(response.as_bytes()).expect("it is JSON");
        match self {
            Self::Called(promised) => Box::pin(async move {
                let (told, tells) = tokio::sync::oneshot::channel();
                promised.then(|outcome| drop(told.send(outcome)));
                tells.await.ok().flatten().expect("the store answers").map(read)
            }),
            Self::Awaited(future) => Box::pin(async move { future.await.map(read) }),
        }
    }
}

/// The requester, and the topic of the request.
pub(super) struct Asker<'a> {
    pub(super) messenger: &'a Messenger,
    pub(super) me: &'a Me,
    /// The room whose topic it is; `None` on a person's topic.
    pub(super) room: Option<ConversationId>,
    /// The order of the join's messages.
    pub(super) turns: &'a Turns,
}

/// A person is typing, or has stopped.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Typing {
    #[serde(default = "yes")]
    pub(super) on: bool,
    #[serde(default)]
    pub(super) conversation: Option<ConversationId>,
}

const fn yes() -> bool {
    true
}

/// The default number of rows.
const fn page() -> usize {
    PAGE
}

/// Takes an event's cost from its person's limit, for events that channels handle themselves.
///
/// # Errors
/// The person has reached their limit.
pub(super) fn spend(messenger: &Messenger, me: &Me, event: &str) -> Result<(), Fault> {
    spend_units(messenger, me, table::cost_of(event))
}

fn spend_units(messenger: &Messenger, me: &Me, cost: u32) -> Result<(), Fault> {
    if cost == 0 {
        return Ok(());
    }
    messenger.inner.limited.request(&me.community, me.id(), cost)
}

/// Handles an event.
///
/// # Errors
/// The topic has no such event, the payload does not match, or the person has reached their limit. Errors of the store
/// come with the answer.
pub(super) fn answer(asker: &Asker<'_>, event: &str, payload: Payload<'_>) -> Result<Answering, Fault> {
    let here = if asker.room.is_some() { Surface::Room } else { Surface::Person };
    let row = EVENTS.iter().find(|row| row.event == event && row.surface.covers(here));
    let unknown = || Fault::new(ErrorCode::UnknownEvent, "there is no such event on this topic");
    let row = row.ok_or_else(unknown)?;
    let ask = row.ask.ok_or_else(unknown)?;
    spend_units(asker.messenger, asker.me, row.cost)?;
    ask(asker, payload)
}

impl Asker<'_> {
    /// Returns the conversation of the request.
    ///
    /// # Errors
    /// None is named, or not the one of the room.
    pub(super) fn conversation(&self, named: Option<ConversationId>) -> Result<ConversationId, Fault> {
        match (self.room, named) {
            (Some(room), None) => Ok(room),
            (Some(room), Some(named)) if room == named => Ok(room),
            (Some(_), Some(_)) => Err(Fault::not_found()),
            (None, Some(named)) => Ok(named),
            (None, None) => Err(Fault::new(
                ErrorCode::BadPayload,
                "missing field `conversation`: it is required on a person's \
                     topic",
            )),
        }
    }

    /// Returns the conversation of the request, or `None` for all of them if none is named.
    ///
    /// # Errors
    /// One is named that is not the room's.
    pub(super) fn place(&self, named: Option<ConversationId>) -> Result<Option<ConversationId>, Fault> {
        if self.room.is_none() && named.is_none() {
            return Ok(None);
        }
        self.conversation(named).map(Some)
    }

    /// Checks that the requester's token is valid for all rooms.
    ///
    /// # Errors
    /// It is valid for some rooms only.
    pub(super) fn require_all_rooms(&self) -> Result<(), Fault> {
        if self.me.rooms().are_all() { Ok(()) } else { Err(Fault::token_limited()) }
    }

    /// Takes a message from the limits of the person, of their address, and of their community; the community's share
    /// is given back if nothing is sent. `None` if the limits are not cached: then one has to be taken after reading
    /// them.
    ///
    /// # Errors
    /// One of the limits is reached.
    pub(super) fn spend_message(&self) -> Result<Option<MessagePermit>, Fault> {
        Ok(self.messenger.spend_message_now(&self.me.community, self.me.id(), self.me.remote())?)
    }

    /// Submits a command about a conversation, and formats its answer as JSON.
    pub(super) fn ask_about<C, R>(
        &self,
        conversation: ConversationId,
        command: C,
        write: fn(<Asked<C> as Verb>::Answer) -> R,
    ) -> Answering
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        if self.is_open() {
            return self.ask(command, write);
        }
        let (messenger, me) = (self.messenger.clone(), self.me.clone());
        let permission = async move {
            require_within(&messenger, &me, conversation).await?;
            Ok(MessagePermit::nothing())
        };
        self.ask_in_turn(permission, command, write)
    }

    /// Submits a command about a conversation, or about all of them.
    ///
    /// # Errors
    /// It is about all, and the token is valid for some rooms only.
    pub(super) fn ask_where<C, R>(
        &self,
        place: Option<ConversationId>,
        command: C,
        write: fn(<Asked<C> as Verb>::Answer) -> R,
    ) -> Result<Answering, Fault>
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        match place {
            Some(conversation) => Ok(self.ask_about(conversation, command, write)),
            None => self.require_all_rooms().map(|()| self.ask(command, write)),
        }
    }

    /// Like [`Self::ask_about`], for what others will see: the community's own site is asked for permission first, if
    /// it wants to be.
    pub(super) fn ask_to_send<C, R>(
        &self,
        conversation: ConversationId,
        spent: Option<MessagePermit>,
        command: C,
        write: fn(<Asked<C> as Verb>::Answer) -> R,
    ) -> Answering
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        let is_open = self.is_open();
        let asks_nobody = self.messenger.asks_nobody(&self.me.community, Action::Send);
        let goes_at_once = is_open && asks_nobody && self.turns.are_free();
        let spent = match spent {
            Some(spent) if goes_at_once => return self.ask_spending(spent, command, write),
            spent => spent,
        };
        let (messenger, me) = (self.messenger.clone(), self.me.clone());
        let permission = async move {
            let spent = match spent {
                Some(spent) => spent,
                None => messenger.spend_message_from(&me.community, me.id(), me.remote()).await?,
            };
            if !is_open {
                require_within(&messenger, &me, conversation).await?;
            }
            messenger.permit_send(&me.community, me.id(), conversation).await?;
            Ok(spent)
        };
        self.ask_in_turn(permission, command, write)
    }

    /// Submits a command when it is permitted, after the earlier ones of the same join.
    fn ask_in_turn<C, R>(
        &self,
        permission: impl Future<Output = Result<MessagePermit, Fault>> + Send + 'static,
        command: C,
        write: fn(<Asked<C> as Verb>::Answer) -> R,
    ) -> Answering
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        let (messenger, me, turn) = (self.messenger.clone(), self.me.clone(), self.turns.next());
        Answering::of(async move {
            let act = |spent| {
                messenger.perform_spending(messenger.call(&me.community, me.by()).ask(command), spent)
            };
            let answer = turn.take(permission, act).await?.await;
            Ok(write(answer.map_err(Fault::of::<Asked<C>>)?))
        })
    }

    /// Returns whether it is known without a request that the token is valid for the conversation: on a room's topic it
    /// was checked when the topic was joined.
    fn is_open(&self) -> bool {
        self.me.rooms().are_all() || self.room.is_some()
    }

    /// Submits a command, and formats its answer as JSON.
    pub(super) fn ask<C, R>(
        &self,
        command: C,
        write: impl FnOnce(<Asked<C> as Verb>::Answer) -> R + Send + 'static,
    ) -> Answering
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        self.ask_spending(MessagePermit::nothing(), command, write)
    }

    fn ask_spending<C, R>(
        &self,
        spent: MessagePermit,
        command: C,
        write: impl FnOnce(<Asked<C> as Verb>::Answer) -> R + Send + 'static,
    ) -> Answering
    where
        C: Send + 'static,
        Asked<C>: News,
        R: Into<Outgoing<'static>> + 'static,
    {
        // It is submitted here, on the shard, so that a client's messages are stored in the order in which they came.
        let call = self.messenger.call(&self.me.community, self.me.by());
        let (promise, promised) = promise();
        self.messenger.perform_calling(call.ask(command), move |outcome| {
            spent.settle(&outcome);
            promise.keep(outcome.map(|answer| write(answer).into()).map_err(Fault::of::<Asked<C>>));
        });
        Answering::Called(promised)
    }
}

/// Checks that a person's token is valid for a conversation.
///
/// # Errors
/// It is not, or the person may not read it.
async fn require_within(messenger: &Messenger, me: &Me, conversation: ConversationId) -> Result<(), Fault> {
    let standing = messenger.standing(&me.community, conversation, me.id()).await?;
    if me.rooms().allow_named(standing.name.as_ref()) { Ok(()) } else { Err(Fault::not_found()) }
}
