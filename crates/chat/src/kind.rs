//! Kinds of conversations.

use serde::{Deserialize, Serialize};

/// The kind of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A room that everybody may see and join, including guests.
    Public,
    /// A room that everybody with an account may see and join.
    Members,
    /// A room for invited people only; others cannot learn of it.
    Private,
    /// A conversation of two people.
    Direct,
    /// A conversation of up to [`GROUP_MAX`](crate::limits::GROUP_MAX) people, without a name in URLs.
    Group,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Public, Self::Members, Self::Private, Self::Direct, Self::Group];

    /// The name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Members => "members",
            Self::Private => "private",
            Self::Direct => "direct",
            Self::Group => "group",
        }
    }

    /// Parses a [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is a room, which has a name in URLs.
    pub const fn is_room(self) -> bool {
        match self {
            Self::Public | Self::Members | Self::Private => true,
            Self::Direct | Self::Group => false,
        }
    }
}
