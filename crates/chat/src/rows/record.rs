//! Rows of any table, as they are written, scanned and exported.

use crate::community::{Community, Key};
use crate::conversation::{Conversation, Invitation, Member};
use crate::ids::{CommunityId, ConversationId};
use crate::message::{Edit, Mention, Message, Reaction};
use crate::moderation::{Audit, Report, Sanction};
use crate::person::{Block, Person};
use crate::revocation::Revocation;
use serde::{Deserialize, Serialize};

macro_rules! records {
    ($($name:ident)*) => {
        /// A row of any table, as it is exported.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(tag = "record", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is the type that it carries")]
        pub enum Record {
            $($name($name),)*
        }

        /// The tables, in the order in which an import must fill them.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is the type of its rows")]
        pub enum Table {
            $($name,)*
        }

        impl Table {
            /// All tables.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        $(impl From<$name> for Record {
            fn from(row: $name) -> Self {
                Self::$name(row)
            }
        })*
    };
}

records! {
    Community
    Key
    Person
    Block
    Revocation
    Conversation
    Member
    Invitation
    Sanction
    Message
    Edit
    Reaction
    Mention
    Report
    Audit
}

impl Record {
    /// The community that the record itself names, if it names one.
    pub const fn community(&self) -> Option<&CommunityId> {
        if let Self::Community(row) = self {
            Some(&row.id)
        } else if let Self::Key(row) = self {
            Some(&row.community)
        } else {
            None
        }
    }

    /// The conversation that the record is or belongs to.
    pub const fn conversation(&self) -> Option<ConversationId> {
        match self {
            Self::Community(_) | Self::Key(_) | Self::Person(_) | Self::Block(_) | Self::Revocation(_) => {
                None
            }
            Self::Conversation(row) => Some(row.id),
            Self::Member(row) => Some(row.conversation),
            Self::Invitation(row) => Some(row.conversation),
            Self::Sanction(row) => row.conversation,
            Self::Message(row) => Some(row.conversation),
            Self::Edit(row) => Some(row.conversation),
            Self::Reaction(row) => Some(row.conversation),
            Self::Mention(row) => Some(row.conversation),
            Self::Report(row) => Some(row.conversation),
            Self::Audit(row) => row.conversation,
        }
    }
}

/// A record with its position in a scan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scanned {
    /// Where the next scan continues. Opaque, and valid for the same store and table only.
    pub position: String,
    /// The record.
    pub record: Record,
}
