//! Who may do what where: one table, role × action × kind of conversation.
//!
//! It owns that table, the order of the roles and what sort of thing an action is. It must never look at anything else: bans,
//! mutes, slow mode, guest policy, blocks and roles in the whole community come on top, in [`crate::access`].

use crate::kind::Kind;
use serde::{Deserialize, Serialize};

/// A member's role in a conversation. A later one has more to say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A member without an account.
    Guest,
    /// A member.
    Member,
    /// Keeps order.
    Moderator,
    /// May do everything.
    Owner,
}

impl Role {
    /// All, from the least.
    pub const ALL: [Self; 4] = [Self::Guest, Self::Member, Self::Moderator, Self::Owner];

    /// As it is stored and told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Member => "member",
            Self::Moderator => "moderator",
            Self::Owner => "owner",
        }
    }

    /// From its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether who has this role may moderate who has `other`: only somebody below.
    pub fn is_above(self, other: Self) -> bool {
        self > other
    }
}

/// How somebody stands to a conversation: a role in it, or outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Standing {
    /// In it.
    In(Role),
    /// Not in it, with an account.
    Visitor,
    /// Not in it, a guest of the community.
    Passerby,
}

impl Standing {
    /// All.
    pub const ALL: [Self; 6] = [
        Self::In(Role::Owner),
        Self::In(Role::Moderator),
        Self::In(Role::Member),
        Self::In(Role::Guest),
        Self::Visitor,
        Self::Passerby,
    ];

    const fn letter(self) -> u8 {
        match self {
            Self::In(Role::Owner) => b'O',
            Self::In(Role::Moderator) => b'M',
            Self::In(Role::Member) => b'm',
            Self::In(Role::Guest) => b'g',
            Self::Visitor => b'v',
            Self::Passerby => b'p',
        }
    }
}

macro_rules! table {
    ($($(#[$docs:meta])* $action:ident $name:literal: $public:literal $members:literal $private:literal $direct:literal $group:literal)*) => {
        /// What can be done in a conversation.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Action {
            $($(#[$docs])* $action,)*
        }

        impl Action {
            /// All.
            pub const ALL: &[Self] = &[$(Self::$action),*];

            /// As clients see it in a refusal.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)*
                }
            }

            /// Who may: one word for each kind of conversation.
            const fn row(self) -> [&'static str; 5] {
                match self {
                    $(Self::$action => [$public, $members, $private, $direct, $group],)*
                }
            }
        }
    };
}

// O owner, M moderator, m member, g guest; outside: v visitor with an account, p passing guest.
table! {
    //                             public    members  private  direct  group
    /// Know that it is there; its name, title and topic text.
    See "see":                     "OMmgvp"  "OMmv"   "OMmg"   "m"     "OMm"
    /// Read and search its messages.
    Read "read":                   "OMmgvp"  "OMm"    "OMmg"   "m"     "OMm"
    /// See who is in it.
    SeeMembers "see_members":      "OMmgv"   "OMm"    "OMmg"   "m"     "OMm"
    /// Come in without being invited.
    Join "join":                   "vp"      "v"      ""       ""      ""
    /// Come in with an invitation.
    JoinInvited "join_invited":    "vp"      "v"      "vp"     ""      "v"
    /// Go away from it.
    Leave "leave":                 "OMmg"    "OMm"    "OMmg"   ""      "OMm"
    /// Send messages, and edit and delete one's own.
    Send "send":                   "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// React to messages.
    React "react":                 "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// Move one's cursors; mute and archive it for oneself.
    Follow "follow":               "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// Report a message to the moderators.
    Report "report":               "OMmgv"   "OMm"    "OMmg"   "m"     "OMm"
    /// Invite somebody.
    Invite "invite":               "OMm"     "OMm"    "OM"     ""      "OMm"
    /// Send more often than slow mode lets others.
    SkipSlowMode "skip_slow_mode": "OM"      "OM"     "OM"     "m"     "OMm"
    /// Delete others' messages.
    DeleteAny "delete_any":        "OM"      "OM"     "OM"     ""      "OM"
    /// See the former texts of edited messages.
    SeeEdits "see_edits":          "OM"      "OM"     "OM"     ""      ""
    /// Mute, ban and remove people below oneself.
    Moderate "moderate":           "OM"      "OM"     "OM"     ""      "OM"
    /// See and settle reports.
    SeeReports "see_reports":      "OM"      "OM"     "OM"     ""      ""
    /// Read the audit log.
    SeeAudit "see_audit":          "OM"      "OM"     "OM"     ""      ""
    /// Change title, topic text and slow mode.
    Describe "describe":           "OM"      "OM"     "OM"     ""      "OM"
    /// Change who may come in; give roles.
    Administer "administer":       "O"       "O"      "O"      ""      "O"
}

impl Action {
    /// Whether it puts something before others.
    pub(crate) fn speaks(self) -> bool {
        matches!(self, Self::Send | Self::React)
    }

    /// Whether it is what guests who only read may not do.
    pub(crate) fn changes_something(self) -> bool {
        !matches!(
            self,
            Self::See
                | Self::Read
                | Self::SeeMembers
                | Self::Join
                | Self::JoinInvited
                | Self::Leave
                | Self::Follow
        )
    }
}

/// Whether the table permits `action` to who stands so in a conversation of that kind.
pub fn permits(standing: Standing, action: Action, kind: Kind) -> bool {
    let [public, members, private, direct, group] = action.row();
    let who = match kind {
        Kind::Public => public,
        Kind::Members => members,
        Kind::Private => private,
        Kind::Direct => direct,
        Kind::Group => group,
    };
    who.as_bytes().contains(&standing.letter())
}
