//! Bans and mutes, reports, and the log of who moderated what.

use crate::ids::{AuditId, ConversationId, PersonId, ReportId, Seq};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};

/// What a sanction forbids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SanctionKind {
    /// To be there.
    Ban,
    /// To write.
    Mute,
}

impl SanctionKind {
    /// As it is stored and told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
        }
    }

    /// From its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Ban, Self::Mute].into_iter().find(|kind| kind.name() == name)
    }
}

/// A ban or a mute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sanction {
    /// Whom.
    pub person: PersonId,
    /// Where; none: in the whole community.
    pub conversation: Option<ConversationId>,
    /// What.
    pub kind: SanctionKind,
    /// When it ends; none: never.
    pub until: Option<Moment>,
    /// By whom.
    pub by: PersonId,
    /// Since when.
    pub at: Moment,
    /// Why, for moderators.
    pub reason: String,
}

impl Sanction {
    /// Whether it still holds.
    pub fn holds(&self, now: Moment) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether it is about that conversation.
    pub fn covers(&self, conversation: Option<ConversationId>) -> bool {
        self.conversation.is_none() || self.conversation == conversation
    }
}

/// A message that somebody reported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Which.
    pub id: ReportId,
    /// Where the message is.
    pub conversation: ConversationId,
    /// Which message.
    pub seq: Seq,
    /// Who wrote it.
    pub author: PersonId,
    /// Who reports it.
    pub by: PersonId,
    /// When.
    pub at: Moment,
    /// Why.
    pub reason: String,
    /// When it was settled, and by whom.
    pub settled: Option<Settlement>,
}

/// How a report ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settlement {
    /// When.
    pub at: Moment,
    /// By whom.
    pub by: PersonId,
    /// What came of it.
    pub note: String,
}

/// An entry of the audit log: what somebody did to somebody by their role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Audit {
    /// Which.
    pub id: AuditId,
    /// Where; none: in the whole community.
    pub conversation: Option<ConversationId>,
    /// When.
    pub at: Moment,
    /// Who.
    pub by: PersonId,
    /// What.
    pub deed: Deed,
    /// To whom.
    pub person: Option<PersonId>,
    /// To which message.
    pub seq: Option<Seq>,
    /// What else is worth knowing: a reason, the new role, how many.
    pub note: String,
}

macro_rules! deeds {
    ($($(#[$docs:meta])* $deed:ident $name:literal)*) => {
        /// What is written into the audit log.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Deed {
            $($(#[$docs])* $deed,)*
        }

        impl Deed {
            /// All.
            pub const ALL: &[Self] = &[$(Self::$deed),*];

            /// As it is stored and told.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$deed => $name,)* }
            }

            /// From its name.
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
    /// Somebody was given a role.
    SetRole "set_role"
    /// Another's message was deleted.
    DeleteMessage "delete_message"
    /// A room was made.
    CreateRoom "create_room"
    /// A conversation was changed.
    ChangeRoom "change_room"
    /// A report was settled.
    SettleReport "settle_report"
    /// The community's settings were changed.
    ChangeCommunity "change_community"
    /// A key was made.
    CreateKey "create_key"
    /// A key was revoked.
    RevokeKey "revoke_key"
    /// Somebody's tokens were revoked.
    RevokeTokens "revoke_tokens"
    /// A person was erased.
    Erase "erase"
}
