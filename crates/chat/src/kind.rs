//! The kinds of conversations.

use serde::{Deserialize, Serialize};

/// What kind of conversation it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A room that everybody may see and enter, guests too.
    Public,
    /// A room that everybody with an account may see and enter.
    Members,
    /// A room for the invited; others do not learn of it.
    Private,
    /// Two people.
    Direct,
    /// Up to [`GROUP_MAX`](crate::limits::GROUP_MAX) people, without a name in a URL.
    Group,
}

impl Kind {
    /// All.
    pub const ALL: [Self; 5] = [Self::Public, Self::Members, Self::Private, Self::Direct, Self::Group];

    /// As it is stored and told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Members => "members",
            Self::Private => "private",
            Self::Direct => "direct",
            Self::Group => "group",
        }
    }

    /// From its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is a room, with a name in a URL.
    pub const fn is_room(self) -> bool {
        match self {
            Self::Public | Self::Members | Self::Private => true,
            Self::Direct | Self::Group => false,
        }
    }
}
