//! Conversations: rooms, direct conversations of two, and groups; who is in them.

use crate::ids::{ConversationId, InvitationId, PersonId, Revision, RoomName, Seq};
use crate::kind::Kind;
use crate::message::Message;
use crate::moment::Moment;
use crate::permissions::Role;
use serde::{Deserialize, Serialize};

/// A room or a direct conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// Which.
    pub id: ConversationId,
    /// What kind.
    pub kind: Kind,
    /// A room's name in its URL.
    pub name: Option<RoomName>,
    /// The two people of a direct conversation, in order.
    pub pair: Option<Pair>,
    /// A title for people; may be empty where it is no room.
    pub title: String,
    /// What it is about.
    pub topic: String,
    /// Seconds between two messages of one member; 0 without slow mode.
    pub slow_mode_s: u32,
    /// How many are in it.
    pub members: u64,
    /// The newest message; 0 before the first.
    pub last: Seq,
    /// The oldest message that is kept; `last` + 1 if none is.
    pub first: Seq,
    /// Counts edits, deletes and reactions.
    pub revision: Revision,
    /// When it was made.
    pub created: Moment,
    /// When the newest message was sent; when it was made, if there is none.
    pub active: Moment,
}

/// The two people of a direct conversation, in the order of their ids: the same whoever of them asks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Pair(PersonId, PersonId);

impl Pair {
    /// Of two different people; none if they are the same.
    pub fn of(one: &PersonId, other: &PersonId) -> Option<Self> {
        match one.cmp(other) {
            std::cmp::Ordering::Less => Some(Self(one.clone(), other.clone())),
            std::cmp::Ordering::Greater => Some(Self(other.clone(), one.clone())),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// As it is stored: a blank cannot be in an id.
    pub fn key(&self) -> String {
        format!("{} {}", self.0, self.1)
    }

    /// From what was stored.
    pub fn from_key(key: &str) -> Option<Self> {
        let (one, other) = key.split_once(' ')?;
        Some(Self(PersonId::parse(one).ok()?, PersonId::parse(other).ok()?))
    }

    /// The one who is not `person`.
    pub fn other(&self, person: &PersonId) -> &PersonId {
        if self.0 == *person { &self.1 } else { &self.0 }
    }
}

/// Somebody in a conversation, with their cursors.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Where.
    pub conversation: ConversationId,
    /// Who.
    pub person: PersonId,
    /// As what.
    pub role: Role,
    /// Since when.
    pub joined: Moment,
    /// Everything up to here has reached one of their devices.
    pub delivered: Seq,
    /// Everything up to here they have read.
    pub read: Seq,
    /// Whether it notifies them no more.
    pub muted: bool,
    /// Whether they put it away.
    pub archived: bool,
    /// When they sent last. Before that, when they came in, if the room was in slow mode: who goes and comes back waits as
    /// others do. Otherwise 0.
    pub sent: Moment,
}

impl Conversation {
    /// The next message is there.
    pub fn go_on_with(&mut self, message: &Message) {
        self.last = message.seq;
        self.active = self.active.max(message.at);
    }
}

impl Member {
    /// They have sent that message: what one says oneself one has read.
    pub fn note_own(&mut self, message: &Message) {
        self.sent = message.at;
        self.delivered = self.delivered.max(message.seq);
        self.read = self.read.max(message.seq);
    }

    /// Somebody who comes in now: what was said before is not unread.
    pub fn new(conversation: &Conversation, person: PersonId, role: Role, now: Moment) -> Self {
        Self {
            conversation: conversation.id,
            person,
            role,
            joined: now,
            delivered: conversation.last,
            read: conversation.last,
            muted: false,
            archived: false,
            sent: if conversation.slow_mode_s > 0 { now } else { Moment::default() },
        }
    }

    /// How many messages are unread: newest minus read, without those that are not kept any more.
    pub fn unread(&self, conversation: &Conversation) -> u64 {
        let read = self.read.0.max(conversation.first.0.saturating_sub(1));
        conversation.last.0.saturating_sub(read)
    }
}

/// Lets somebody into a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Invitation {
    /// Which. Whoever knows it may use it, unless `person` says for whom it is.
    pub id: InvitationId,
    /// Into which conversation.
    pub conversation: ConversationId,
    /// For whom; none: for whoever knows the id.
    pub person: Option<PersonId>,
    /// Who invites.
    pub by: PersonId,
    /// When it was made.
    pub at: Moment,
    /// When it is over; none: never.
    pub until: Option<Moment>,
    /// How often it may still be used.
    pub uses: u32,
}
