//! The effects of an answer, as nodes send them to each other.
//!
//! A notice says what happened, never whom it concerns: each node knows that for the people connected to it. Notices
//! are serialized only where there are other nodes. A notice from a node of another version that this one cannot parse
//! counts as missed.

use crate::audience::DoubtedChange;
use crate::news::ChangedAt;
use crate::topics::Event;
use chat::{
    Conversation, ConversationId, KeyId, Member, Message, Moment, Person, PersonId, Revision, RoomName,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// How a person left a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Departure {
    /// They left.
    Left,
    /// They were removed.
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

/// The reactions that one message lost because the person who gave them is being erased.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ErasedReactions<'a> {
    pub(crate) at: ChangedAt,
    pub(crate) person: Cow<'a, PersonId>,
    /// The removed reactions.
    pub(crate) emoji: Cow<'a, [String]>,
    /// The remaining count of each reaction.
    pub(crate) counts: Value,
}

/// Something durable that happened in a community.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notice<'a> {
    /// A message was sent.
    Said { message: Cow<'a, Message> },
    /// A message may have been stored without having been announced.
    Doubted { conversation: ConversationId },
    /// An edit, delete or reaction may have been stored without having been announced.
    ChangeDoubted { conversation: ConversationId, change: Cow<'a, DoubtedChange> },
    /// Any message of the community may have changed without an announcement.
    ChangesDoubted,
    /// A message was edited, deleted or reacted to: the conversation's followers are sent the event.
    Revised { conversation: ConversationId, revision: Revision, event: Event, payload: Cow<'a, str> },
    /// Reactions of a person who is being erased are gone: the conversation's followers are sent a `react` for each, up
    /// to a limit per round.
    ReactionsErased(ErasedReactions<'a>),
    /// Something else about a conversation changed.
    Changed { conversation: ConversationId, event: Event, payload: Cow<'a, str> },
    /// All devices of a person are sent the event.
    Person { person: Cow<'a, PersonId>, event: Event, payload: Cow<'a, str> },
    /// How far a person has read.
    Receipt { conversation: ConversationId, person: Cow<'a, PersonId>, payload: Cow<'a, str> },
    /// A person is typing in a conversation that has no topic, or has stopped; not durable.
    Typing { conversation: ConversationId, person: Cow<'a, PersonId>, on: bool },
    /// A person joined a conversation.
    Entered { conversation: Cow<'a, Conversation>, member: Cow<'a, Member> },
    /// These people are in a conversation that was just opened, or existed already.
    Opened { conversation: Cow<'a, Conversation>, people: Cow<'a, [PersonId]> },
    /// A person left a conversation, or was removed.
    Left { conversation: ConversationId, person: Cow<'a, PersonId>, how: Departure },
    /// A conversation is being erased; with a room's name.
    ConversationErased { conversation: ConversationId, name: Option<Cow<'a, RoomName>> },
    /// A person is banned from a conversation, until the given time or for good.
    Banned { conversation: ConversationId, person: Cow<'a, PersonId>, until: Option<Moment> },
    /// A person is banned from the whole community.
    Expelled { person: Cow<'a, PersonId> },
    /// A person was erased.
    Erased { person: Cow<'a, PersonId> },
    /// A token of a person was revoked; without a token id, all tokens issued up to that second.
    Revoked { person: Cow<'a, PersonId>, token: Option<Cow<'a, str>>, until_s: u64 },
    /// The rules for who may be in a room changed.
    JudgeAgain { conversation: ConversationId },
    /// The rules for who may be in any conversation of the community changed.
    JudgeEverybody,
    /// A person's conversations have to be read again.
    FollowAgain { person: Cow<'a, PersonId> },
    /// A person was met: they came in with this profile.
    Met { person: Cow<'a, Person> },
    /// A person's standing in a conversation is stale.
    StandingStale { conversation: ConversationId, person: Cow<'a, PersonId> },
    /// Everything about a person is stale.
    PersonStale { person: Cow<'a, PersonId> },
    /// A community's keys changed; `revoked` is the key that was revoked, if any.
    KeysChanged { revoked: Option<KeyId> },
    /// Cached pages of a community's messages are stale.
    PagesStale,
    /// Everything cached of a community is stale.
    CommunityStale,
    /// A community was closed for everybody.
    CommunityClosed,
}
