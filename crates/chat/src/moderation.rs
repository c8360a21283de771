//! Bans and mutes, reports, and the audit log.

use crate::ids::{AuditId, ConversationId, PersonId, ReportId, Seq};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};

/// Kinds of sanctions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SanctionKind {
    /// The person is excluded.
    Ban,
    /// The person may not write.
    Mute,
}

impl SanctionKind {
    /// The name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
        }
    }

    /// Parses a [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        [Self::Ban, Self::Mute].into_iter().find(|kind| kind.name() == name)
    }
}

/// A ban or a mute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sanction {
    /// The sanctioned person.
    pub person: PersonId,
    /// Where it applies; `None`: in the whole community.
    pub conversation: Option<ConversationId>,
    /// The kind of sanction.
    pub kind: SanctionKind,
    /// When it ends; `None`: never.
    pub until: Option<Moment>,
    /// Who imposed it.
    pub by: PersonId,
    /// When it was imposed.
    pub at: Moment,
    /// The reason, shown to moderators.
    pub reason: String,
}

impl Sanction {
    /// Whether it is still in force.
    pub fn holds(&self, now: Moment) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether it applies to that conversation; a community-wide one always does.
    pub fn covers(&self, conversation: Option<ConversationId>) -> bool {
        self.conversation.is_none() || self.conversation == conversation
    }
}

/// A report of a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Its id.
    pub id: ReportId,
    /// The conversation of the message.
    pub conversation: ConversationId,
    /// The reported message.
    pub seq: Seq,
    /// The message's author.
    pub author: PersonId,
    /// Who reported it.
    pub by: PersonId,
    /// When it was reported.
    pub at: Moment,
    /// The reason given.
    pub reason: String,
    /// When and by whom it was settled; `None` while it is open.
    pub settled: Option<Settlement>,
}

/// The outcome of a report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settlement {
    /// When it was settled.
    pub at: Moment,
    /// Who settled it.
    pub by: PersonId,
    /// The outcome, in words.
    pub note: String,
}

/// An entry of the audit log: an action that somebody took by virtue of their role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Audit {
    /// Its id.
    pub id: AuditId,
    /// Where it happened; `None`: in the whole community.
    pub conversation: Option<ConversationId>,
    /// When it happened.
    pub at: Moment,
    /// Who acted.
    pub by: PersonId,
    /// The kind of action.
    pub deed: AuditAction,
    /// The affected person.
    pub person: Option<PersonId>,
    /// The affected message.
    pub seq: Option<Seq>,
    /// Further details: a reason, the new role, a count.
    pub note: String,
}

macro_rules! deeds {
    ($($(#[$docs:meta])* $deed:ident $name:literal)*) => {
        /// The kinds of audited actions.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AuditAction {
            $($(#[$docs])* $deed,)*
        }

        impl AuditAction {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$deed),*];

            /// The name in storage and on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$deed => $name,)* }
            }

            /// Parses a [name](Self::name).
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|deed| deed.name() == name)
            }
        }
    };
}

deeds! {
    /// Somebody was banned.
    Ban "ban"
    /// A ban was lifted.
    Unban "unban"
    /// Somebody was muted.
    Mute "mute"
    /// A mute was lifted.
    Unmute "unmute"
    /// Somebody was removed from a conversation.
    Remove "remove"
    /// Somebody's role was changed.
    SetRole "set_role"
    /// Somebody else's message was deleted.
    DeleteMessage "delete_message"
    /// A room was created.
    CreateRoom "create_room"
    /// A conversation was changed.
    ChangeRoom "change_room"
    /// A report was settled.
    SettleReport "settle_report"
    /// The community's settings were changed.
    ChangeCommunity "change_community"
    /// A key was created.
    CreateKey "create_key"
    /// A key was revoked.
    RevokeKey "revoke_key"
    /// Somebody's tokens were revoked.
    RevokeTokens "revoke_tokens"
    /// A person was erased.
    Erase "erase"
    /// A room or a group was erased.
    EraseConversation "erase_conversation"
}
