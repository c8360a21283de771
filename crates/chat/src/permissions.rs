//! Who may do what where: one table of role × action × kind of conversation.
//!
//! This module owns the table, the order of the roles and the classes of actions. It must not consider anything else:
//! bans, mutes, slow mode, guest policy, blocks and community-wide roles are applied on top, in [`crate::access`].

use crate::kind::Kind;
use serde::{Deserialize, Serialize};

/// A member's role in a conversation, in ascending order of authority.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A member who is a guest, without an account.
    Guest,
    /// A member.
    Member,
    /// May moderate.
    Moderator,
    /// May do everything.
    Owner,
}

impl Role {
    /// All roles, in ascending order.
    pub const ALL: [Self; 4] = [Self::Guest, Self::Member, Self::Moderator, Self::Owner];

    /// The name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Member => "member",
            Self::Moderator => "moderator",
            Self::Owner => "owner",
        }
    }

    /// Parses a [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether this role may moderate `other`: only a lower one.
    pub fn is_above(self, other: Self) -> bool {
        self > other
    }
}

/// How a person stands to a conversation: with a role in it, or outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Standing {
    /// A member with that role.
    In(Role),
    /// Not a member; has an account.
    Visitor,
    /// Not a member; a guest of the community.
    Passerby,
}

impl Standing {
    /// All values.
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
            /// All actions.
            pub const ALL: &[Self] = &[$(Self::$action),*];

            /// The name that clients see in a refusal.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)*
                }
            }

            /// The standings that may do it: a string of letters for each kind of conversation.
            const fn row(self) -> [&'static str; 5] {
                match self {
                    $(Self::$action => [$public, $members, $private, $direct, $group],)*
                }
            }
        }
    };
}

// O owner, M moderator, m member, g guest; outside: v visitor with an account, p passerby (guest).
table! {
    //                             public    members  private  direct  group
    /// See that it exists, with its name, title and topic.
    See "see":                     "OMmgvp"  "OMmv"   "OMmg"   "m"     "OMm"
    /// Read and search its messages.
    Read "read":                   "OMmgvp"  "OMm"    "OMmg"   "m"     "OMm"
    /// List its members.
    SeeMembers "see_members":      "OMmgv"   "OMm"    "OMmg"   "m"     "OMm"
    /// Join without an invitation.
    Join "join":                   "vp"      "v"      ""       ""      ""
    /// Join with an invitation.
    JoinInvited "join_invited":    "vp"      "v"      "vp"     ""      "v"
    /// Leave it.
    Leave "leave":                 "OMmg"    "OMm"    "OMmg"   ""      "OMm"
    /// Send messages, and edit and delete one's own.
    Send "send":                   "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// React to messages.
    React "react":                 "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// Move one's own cursors; mute and archive it for oneself.
    Follow "follow":               "OMmg"    "OMm"    "OMmg"   "m"     "OMm"
    /// Report a message to the moderators.
    Report "report":               "OMmgv"   "OMm"    "OMmg"   "m"     "OMm"
    /// Invite somebody.
    Invite "invite":               "OMm"     "OMm"    "OM"     ""      "OMm"
    /// Ignore slow mode.
    SkipSlowMode "skip_slow_mode": "OM"      "OM"     "OM"     "m"     "OMm"
    /// Delete others' messages.
    DeleteAny "delete_any":        "OM"      "OM"     "OM"     ""      "OM"
    /// Read the former texts of edited messages.
    SeeEdits "see_edits":          "OM"      "OM"     "OM"     ""      ""
    /// Mute, ban and remove people with lower roles.
    Moderate "moderate":           "OM"      "OM"     "OM"     ""      "OM"
    /// List and settle reports.
    SeeReports "see_reports":      "OM"      "OM"     "OM"     ""      ""
    /// Read the audit log.
    SeeAudit "see_audit":          "OM"      "OM"     "OM"     ""      ""
    /// Change the title, topic and slow mode.
    Describe "describe":           "OM"      "OM"     "OM"     ""      "OM"
    /// Change who may join; assign roles.
    Administer "administer":       "O"       "O"      "O"      ""      "O"
    /// Erase the conversation with everything in it.
    Erase "erase":                 "O"       "O"      "O"      ""      "O"
}

impl Action {
    /// Whether it addresses other people: mutes and blocks forbid it.
    pub(crate) fn speaks(self) -> bool {
        matches!(self, Self::Send | Self::React)
    }

    /// Whether read-only guests are barred from it.
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

/// Whether the table permits `action` to that standing in a conversation of that kind.
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
