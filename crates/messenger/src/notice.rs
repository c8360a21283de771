//! What came of an answer, as nodes tell it to each other.
//!
//! A notice says what happened, and never whom it concerns: each node knows that of the people who are there. It is written
//! only where there are other nodes; what a node of another version says and this one cannot read counts as missed.

use crate::audience::DoubtedChange;
use crate::news::ChangedAt;
use crate::topics::Event;
use chat::{Conversation, ConversationId, KeyId, Member, Message, Moment, Person, PersonId, Revision};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// How somebody went from a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Departure {
    /// On their own.
    Left,
    /// Somebody removed them.
    Removed,
}

impl Departure {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Removed => "removed",
        }
    }
}

/// Reactions of somebody who is erased that are gone from one message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ErasedReactions<'a> {
    pub(crate) at: ChangedAt,
    pub(crate) person: Cow<'a, PersonId>,
    /// Which.
    pub(crate) emoji: Cow<'a, [String]>,
    /// How often which reaction is left.
    pub(crate) counts: Value,
}

/// Something in a community that is durable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notice<'a> {
    /// A message was sent.
    Said { message: Cow<'a, Message> },
    /// A conversation may have a message that nobody was told of.
    Doubted { conversation: ConversationId },
    /// A message may have been edited, deleted or reacted to without anybody having been told.
    ChangeDoubted { conversation: ConversationId, change: Cow<'a, DoubtedChange> },
    /// Any message of the community may have been changed without anybody having been told.
    ChangesDoubted,
    /// A message was edited, deleted or reacted to: whoever follows the conversation is told the event.
    Revised { conversation: ConversationId, revision: Revision, event: Event, payload: Cow<'a, str> },
    /// Reactions of somebody who is erased are gone: whoever follows the conversation is told `react` of each, unless it is one of
    /// many.
    ReactionsErased(ErasedReactions<'a>),
    /// Something else of a conversation changed.
    Changed { conversation: ConversationId, event: Event, payload: Cow<'a, str> },
    /// All devices of a person are told the event.
    Person { person: Cow<'a, PersonId>, event: Event, payload: Cow<'a, str> },
    /// How far somebody has read.
    Receipt { conversation: ConversationId, person: Cow<'a, PersonId>, payload: Cow<'a, str> },
    /// Somebody writes something, in a conversation that has no topic; it is not durable.
    Typing { conversation: ConversationId, person: Cow<'a, PersonId>, on: bool },
    /// Somebody came into a conversation.
    Entered { conversation: Cow<'a, Conversation>, member: Cow<'a, Member> },
    /// People are in a conversation that was just opened, or was there already.
    Opened { conversation: Cow<'a, Conversation>, people: Cow<'a, [PersonId]> },
    /// Somebody is in a conversation no more.
    Left { conversation: ConversationId, person: Cow<'a, PersonId>, how: Departure },
    /// Somebody is kept out of a conversation until then, or for good.
    Banned { conversation: ConversationId, person: Cow<'a, PersonId>, until: Option<Moment> },
    /// Somebody is kept out of the whole community.
    Expelled { person: Cow<'a, PersonId> },
    /// Somebody is no more.
    Erased { person: Cow<'a, PersonId> },
    /// A token of a person is believed no more; without a name all that were issued up to that second.
    Revoked { person: Cow<'a, PersonId>, token: Option<Cow<'a, str>>, until_s: u64 },
    /// Who may be in a room is another question now.
    JudgeAgain { conversation: ConversationId },
    /// Who may be in anything of the community is another question now.
    JudgeEverybody,
    /// What somebody may follow is to be read again.
    FollowAgain { person: Cow<'a, PersonId> },
    /// Somebody said who they are.
    Met { person: Cow<'a, Person> },
    /// How somebody stands to a conversation is stale.
    StandingStale { conversation: ConversationId, person: Cow<'a, PersonId> },
    /// Everything about a person is stale.
    PersonStale { person: Cow<'a, PersonId> },
    /// A community's keys are others, without that one, if one was revoked.
    KeysChanged { revoked: Option<KeyId> },
    /// Pages of a community's messages are stale.
    PagesStale,
    /// Everything of a community is stale.
    CommunityStale,
    /// A community is there for nobody any more.
    CommunityClosed,
}
