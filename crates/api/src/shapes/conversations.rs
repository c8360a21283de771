//! Rooms, direct conversations and groups; who is in them, and how far they have read.

use super::{Message, Role, ids};
use chat::{ConversationId, InvitationId, PersonId, RoomName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A room, a direct conversation or a group.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Conversation {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: ConversationId,
    /// Its kind.
    kind: Kind,
    /// The room's name in URLs; only of rooms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Room>")]
    name: Option<RoomName>,
    /// The title that people see; may be empty for anything but a room.
    title: String,
    /// The topic text: what it is about.
    topic: String,
    /// Slow mode: the minimum seconds between two messages of one member; 0: off.
    slow_mode_s: u32,
    /// The number of members.
    members: u64,
    /// The `seq` of the newest message; 0 if there is none.
    last: u64,
    /// The `seq` of the oldest message that is kept; `last` + 1 if none is.
    first: u64,
    /// The number of edits, deletions and reactions so far.
    revision: u64,
    /// When it was created.
    created: u64,
    /// When the newest message was sent.
    active: u64,
}

/// The kind of a conversation.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// A room that everyone can see and enter, including guests.
    Public,
    /// A room that everyone with an account can see and enter.
    Members,
    /// A room for invited people, hidden from others.
    Private,
    /// A conversation of two people.
    Direct,
    /// A conversation of up to 50 people, without a name in URLs.
    Group,
}

/// The kind of a room.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoomKind {
    /// Everyone can see and enter it, including guests.
    Public,
    /// Everyone with an account can see and enter it.
    Members,
    /// For invited people; hidden from others.
    Private,
}

/// What was erased of a room or a group.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversationErasure {
    /// Messages, with their former texts, mentions and search index entries.
    messages: u64,
    /// Everything else: reactions, memberships, invitations, sanctions, reports and its entries of the audit log.
    records: u64,
    /// Ids of the files that its messages referred to.
    attachments: Vec<String>,
    /// Whether the erasure is complete; otherwise send the request again. The server also continues by itself within
    /// about a minute.
    done: bool,
}

impl From<chat::verbs::ConversationErasure> for ConversationErasure {
    fn from(report: chat::verbs::ConversationErasure) -> Self {
        let chat::verbs::ConversationErasure { messages, records, attachments, begun: _, done } = report;
        Self { messages, records, attachments, done }
    }
}

/// A new room.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRoom {
    /// Its name in URLs.
    #[schemars(with = "ids::Room")]
    pub(crate) name: RoomName,
    /// Who can see and enter it.
    pub(crate) kind: RoomKind,
    /// The title that people see; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) title: String,
    /// The topic text: what it is about; up to 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) topic: String,
    /// Slow mode: the minimum seconds between two messages of one member.
    #[serde(default)]
    #[schemars(range(max = 21_600))]
    pub(crate) slow_mode_s: u32,
}

/// Changes to a conversation; absent fields stay as they are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Describe {
    /// Who can see and enter the room.
    #[serde(default)]
    pub(crate) kind: Option<RoomKind>,
    /// The new title.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub(crate) title: Option<String>,
    /// The new topic text.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) topic: Option<String>,
    /// The new slow mode, in seconds.
    #[serde(default)]
    #[schemars(range(max = 21_600))]
    pub(crate) slow_mode_s: Option<u32>,
}

/// A member of a conversation. `delivered`, `read`, `muted` and `archived` are only present in the caller's own
/// membership.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Member {
    /// The conversation.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Their role in the conversation.
    role: Role,
    /// When they joined.
    joined: u64,
    /// The `seq` up to which everything has reached one of their devices.
    delivered: u64,
    /// The `seq` up to which they have read everything.
    read: u64,
    /// Whether they have turned off its notifications.
    muted: bool,
    /// Whether they have archived it.
    archived: bool,
}

/// An invitation to a conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Invitation {
    /// Its id. Anyone who knows the id may use the invitation, unless `person` is present.
    #[schemars(with = "ids::Made")]
    id: InvitationId,
    /// The conversation.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// Who is invited; absent: anyone who knows the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Person>")]
    person: Option<PersonId>,
    /// Who invited them.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// When it was created.
    at: u64,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// How many times it can still be used.
    uses: u32,
}

/// A new invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewInvitation {
    /// Who is invited; absent: anyone who knows the invitation's id.
    #[serde(default)]
    #[schemars(with = "Option<ids::Person>")]
    pub(crate) person: Option<PersonId>,
    /// When it expires; absent: never.
    #[serde(default)]
    pub(crate) until: Option<ids::When>,
    /// How many times it can be used; an invitation of one person can be used once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) uses: Option<u32>,
}

/// An entry of a person's list of conversations.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Tab {
    /// The conversation.
    conversation: Conversation,
    /// The person's membership.
    member: Member,
    /// The newest message, if any is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Message>,
    /// The number of unread messages.
    unread: u64,
    /// The number of unread messages that mention the person.
    mentions: u64,
}

/// The cursors of a person.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cursors {
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// The `seq` up to which everything was delivered to them.
    delivered: u64,
    /// The `seq` up to which they have read everything.
    read: u64,
}

/// Who has received and read a message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Receipts {
    /// In conversations of up to 50 people: the cursors of each, except people who have turned read receipts off.
    #[serde(skip_serializing_if = "Option::is_none")]
    each: Option<Vec<Cursors>>,
    /// In larger conversations: the number of people to whom it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<u64>,
    /// In larger conversations: the number of people who have read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<u64>,
}

impl From<chat::Conversation> for Conversation {
    fn from(conversation: chat::Conversation) -> Self {
        Self {
            id: conversation.id,
            kind: conversation.kind.into(),
            name: conversation.name,
            title: conversation.title,
            topic: conversation.topic,
            slow_mode_s: conversation.slow_mode_s,
            members: conversation.members,
            last: conversation.last.0,
            first: conversation.first.0,
            revision: conversation.revision.0,
            created: conversation.created.millis(),
            active: conversation.active.millis(),
        }
    }
}

impl From<chat::Kind> for Kind {
    fn from(kind: chat::Kind) -> Self {
        match kind {
            chat::Kind::Public => Self::Public,
            chat::Kind::Members => Self::Members,
            chat::Kind::Private => Self::Private,
            chat::Kind::Direct => Self::Direct,
            chat::Kind::Group => Self::Group,
        }
    }
}

impl From<RoomKind> for chat::Kind {
    fn from(kind: RoomKind) -> Self {
        match kind {
            RoomKind::Public => Self::Public,
            RoomKind::Members => Self::Members,
            RoomKind::Private => Self::Private,
        }
    }
}

impl From<chat::Member> for Member {
    fn from(member: chat::Member) -> Self {
        Self {
            conversation: member.conversation,
            person: member.person,
            role: member.role.into(),
            joined: member.joined.millis(),
            delivered: member.delivered.0,
            read: member.read.0,
            muted: member.muted,
            archived: member.archived,
        }
    }
}

impl From<chat::Invitation> for Invitation {
    fn from(invitation: chat::Invitation) -> Self {
        Self {
            id: invitation.id,
            conversation: invitation.conversation,
            person: invitation.person,
            by: invitation.by,
            at: invitation.at.millis(),
            until: invitation.until.map(chat::Moment::millis),
            uses: invitation.uses,
        }
    }
}

impl From<chat::verbs::Tab> for Tab {
    fn from(tab: chat::verbs::Tab) -> Self {
        Self {
            conversation: tab.conversation.into(),
            member: tab.member.into(),
            last: tab.last.map(Message::from),
            unread: tab.unread,
            mentions: tab.mentions,
        }
    }
}

impl From<chat::verbs::Receipts> for Receipts {
    fn from(receipts: chat::verbs::Receipts) -> Self {
        match receipts {
            chat::verbs::Receipts::Each(each) => {
                let cursors = |one: chat::verbs::Cursors| Cursors {
                    person: one.person,
                    delivered: one.delivered.0,
                    read: one.read.0,
                };
                Self { each: Some(each.into_iter().map(cursors).collect()), delivered: None, read: None }
            }
            chat::verbs::Receipts::Counts(counts) => {
                Self { each: None, delivered: Some(counts.delivered), read: Some(counts.read) }
            }
        }
    }
}
