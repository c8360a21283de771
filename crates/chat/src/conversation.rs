//! Conversations: rooms, direct conversations of two, and groups; their members and invitations.

use crate::ids::{ConversationId, InvitationId, PersonId, Revision, RoomName, Seq};
use crate::kind::Kind;
use crate::message::Message;
use crate::moment::Moment;
use crate::permissions::Role;
use serde::{Deserialize, Serialize};

/// A room or a direct conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// The kind of conversation.
    pub kind: Kind,
    /// A room's name in URLs.
    pub name: Option<RoomName>,
    /// The two people of a direct conversation, ordered by id.
    pub pair: Option<Pair>,
    /// Display title; may be empty except for rooms.
    pub title: String,
    /// What the conversation is about.
    pub topic: String,
    /// Slow mode: minimum seconds between two messages of one member; 0 when off.
    pub slow_mode_s: u32,
    /// Number of members.
    pub members: u64,
    /// The newest message; 0 if there never was one.
    pub last: Seq,
    /// The oldest message still kept; `last` + 1 if there is none.
    pub first: Seq,
    /// Revision, incremented by edits, deletes and reactions.
    pub revision: Revision,
    /// When it was created.
    pub created: Moment,
    /// When the newest message was sent; the creation time if there is none.
    pub active: Moment,
}

/// The two people of a direct conversation, ordered by id: the same pair from either side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Pair(PersonId, PersonId);

impl Pair {
    /// The pair of two different people; `None` if they are the same.
    pub fn of(one: &PersonId, other: &PersonId) -> Option<Self> {
        match one.cmp(other) {
            std::cmp::Ordering::Less => Some(Self(one.clone(), other.clone())),
            std::cmp::Ordering::Greater => Some(Self(other.clone(), one.clone())),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Storage form: the two ids separated by a space, which cannot occur in an id.
    pub fn key(&self) -> String {
        format!("{} {}", self.0, self.1)
    }

    /// Parses the storage form.
    pub fn from_key(key: &str) -> Option<Self> {
        let (one, other) = key.split_once(' ')?;
        Some(Self(PersonId::parse(one).ok()?, PersonId::parse(other).ok()?))
    }

    /// Returns the member of the pair who is not `person`.
    pub fn other(&self, person: &PersonId) -> &PersonId {
        if self.0 == *person { &self.1 } else { &self.0 }
    }
}

/// A conversation that is being erased: its own row is gone, but other rows are left. Neither this nor those rows are
/// exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnfinishedErasure {
    /// The conversation.
    pub conversation: ConversationId,
    /// A room's name, which stays taken until nothing is left.
    pub name: Option<RoomName>,
    /// Who is erasing it.
    pub by: PersonId,
    /// When the last step ran.
    pub last: Moment,
}

/// A person's membership in a conversation, with their cursors.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// The conversation.
    pub conversation: ConversationId,
    /// The person.
    pub person: PersonId,
    /// Their role.
    pub role: Role,
    /// When they joined.
    pub joined: Moment,
    /// Every message up to here has reached at least one of their devices.
    pub delivered: Seq,
    /// They have read every message up to here.
    pub read: Seq,
    /// Whether notifications are off.
    pub muted: bool,
    /// Whether they archived the conversation.
    pub archived: bool,
    /// When they last sent a message. Until then, when they joined, if the room was in slow mode, so that leaving and
    /// rejoining does not skip the wait; otherwise 0.
    pub sent: Moment,
}

impl Conversation {
    /// Records the next message.
    pub fn go_on_with(&mut self, message: &Message) {
        self.last = message.seq;
        self.active = self.active.max(message.at);
    }

    /// Takes over where the same conversation is in another store, as far as that one is further; and who is in it
    /// there.
    pub(crate) fn go_on_from(&mut self, other: &Self) {
        self.first = match (self.is_empty(), other.is_empty()) {
            (false, false) => self.first.min(other.first),
            (true, false) => other.first,
            (false, true) => self.first,
            (true, true) => self.first.max(other.first),
        };
        self.last = self.last.max(other.last);
        self.revision = self.revision.max(other.revision);
        self.active = self.active.max(other.active);
        self.members = other.members;
    }

    /// Whether no message is kept.
    fn is_empty(&self) -> bool {
        self.last < self.first
    }
}

impl Member {
    /// Records a message that this member sent: a sender has read their own message.
    pub fn note_own(&mut self, message: &Message) {
        self.sent = message.at;
        self.delivered = self.delivered.max(message.seq);
        self.read = self.read.max(message.seq);
    }

    /// A member who joins now: earlier messages do not count as unread.
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

    /// Number of unread messages: newest minus read, not counting messages that are no longer kept.
    pub fn unread(&self, conversation: &Conversation) -> u64 {
        let read = self.read.0.max(conversation.first.0.saturating_sub(1));
        conversation.last.0.saturating_sub(read)
    }
}

/// An invitation to a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Invitation {
    /// Its id. Anybody who knows it may use the invitation, unless `person` is set.
    pub id: InvitationId,
    /// The conversation to join.
    pub conversation: ConversationId,
    /// The invited person; `None`: anybody who knows the id.
    pub person: Option<PersonId>,
    /// Who created it.
    pub by: PersonId,
    /// When it was created.
    pub at: Moment,
    /// When it expires; `None`: never.
    pub until: Option<Moment>,
    /// Remaining uses.
    pub uses: u32,
}
