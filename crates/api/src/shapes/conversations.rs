//! Rooms, direct conversations and groups; who is in them, and how far they have read.

use super::{Message, Role, ids};
use chat::{ConversationId, InvitationId, PersonId, RoomName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A room, a direct conversation or a group.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Conversation {
    /// Which.
    #[schemars(with = "ids::Made")]
    id: ConversationId,
    /// What kind.
    kind: Kind,
    /// A room's name in its URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Room>")]
    name: Option<RoomName>,
    /// A title for people; may be empty where it is no room.
    title: String,
    /// What it is about.
    topic: String,
    /// Seconds between two messages of one member; 0 without slow mode.
    slow_mode_s: u32,
    /// How many are in it.
    members: u64,
    /// The newest message; 0 before the first.
    last: u64,
    /// The oldest message that is kept; `last` + 1 if none is.
    first: u64,
    /// Counts edits, deletions and reactions.
    revision: u64,
    /// When it was made.
    created: u64,
    /// When the newest message was sent.
    active: u64,
}

/// What kind of conversation it is.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// A room that everybody may see and enter, guests too.
    Public,
    /// A room that everybody with an account may see and enter.
    Members,
    /// A room for the invited; others do not learn of it.
    Private,
    /// Two people.
    Direct,
    /// Up to 50 people, without a name in a URL.
    Group,
}

/// What kind of room it is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoomKind {
    /// Everybody may see and enter it, guests too.
    Public,
    /// Everybody with an account may see and enter it.
    Members,
    /// For the invited; others do not learn of it.
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

/// A room that is to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRoom {
    /// Its name in its URL.
    #[schemars(with = "ids::Room")]
    pub(crate) name: RoomName,
    /// Who may see and enter it.
    pub(crate) kind: RoomKind,
    /// For people; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) title: String,
    /// What it is about; up to 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) topic: String,
    /// Seconds between two messages of one member.
    #[serde(default)]
    #[schemars(range(max = 21_600))]
    pub(crate) slow_mode_s: u32,
}

/// What is to change of a conversation; what is absent stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Describe {
    /// Who may see and enter the room.
    #[serde(default)]
    pub(crate) kind: Option<RoomKind>,
    /// Another title.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub(crate) title: Option<String>,
    /// Another topic text.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) topic: Option<String>,
    /// Another slow mode.
    #[serde(default)]
    #[schemars(range(max = 21_600))]
    pub(crate) slow_mode_s: Option<u32>,
}

/// Somebody in a conversation. Of others, `delivered`, `read`, `muted` and `archived` are not told.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Member {
    /// Where.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// Who.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// As what.
    role: Role,
    /// Since when.
    joined: u64,
    /// Everything up to here has reached one of their devices.
    delivered: u64,
    /// Everything up to here they have read.
    read: u64,
    /// Whether it notifies them no more.
    muted: bool,
    /// Whether they put it away.
    archived: bool,
}

/// Lets somebody into a conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Invitation {
    /// Which. Whoever knows it may use it, unless `person` says for whom it is.
    #[schemars(with = "ids::Made")]
    id: InvitationId,
    /// Into which conversation.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// For whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Person>")]
    person: Option<PersonId>,
    /// Who invites.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// When it was made.
    at: u64,
    /// When it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// How often it may still be used.
    uses: u32,
}

/// An invitation that is to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewInvitation {
    /// Whom; none: whoever knows the invitation's id.
    #[serde(default)]
    #[schemars(with = "Option<ids::Person>")]
    pub(crate) person: Option<PersonId>,
    /// When it is over; none: never.
    #[serde(default)]
    pub(crate) until: Option<ids::When>,
    /// How often it may be used; for a person it is 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) uses: Option<u32>,
}

/// A line of the conversations tab.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Tab {
    /// The conversation.
    conversation: Conversation,
    /// The person's part in it.
    member: Member,
    /// The newest message, if there is one that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Message>,
    /// How many are unread.
    unread: u64,
    /// How many of the unread mention the person.
    mentions: u64,
}

/// Somebody's cursors.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cursors {
    /// Whose.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Up to here it was delivered.
    delivered: u64,
    /// Up to here they have read.
    read: u64,
}

/// How far a message has come.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Receipts {
    /// In conversations of up to 50: the cursors of each, without those who let nobody know.
    #[serde(skip_serializing_if = "Option::is_none")]
    each: Option<Vec<Cursors>>,
    /// In larger ones: how many it was delivered to.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<u64>,
    /// In larger ones: how many have read it.
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
