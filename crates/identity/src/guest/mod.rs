//! Guests: people unknown to any host site, with tokens signed by this server.
//!
//! A guest's token is verified on the same path as any other; only its key is the server's own, a different one for
//! each community, so that a guest's token of one community is worthless in another.

mod book;
mod pattern;

use std::fmt;

pub use book::{GuestSecret, GuestSigner};
pub use pattern::{BadNamePattern, NamePattern};

use crate::token::Refusal;

/// Whether a community admits guests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GuestPolicy {
    /// Only people known to the host site.
    #[default]
    Off,
    /// Anybody, under names that follow this pattern.
    On {
        /// How guests' names are built from what they choose.
        names: NamePattern,
    },
}

/// Why a person cannot be a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestRefusal {
    /// The community does not admit guests.
    Off,
    /// The name is invalid, or becomes too long by the pattern.
    Name(Refusal),
    /// The token to be renewed is not a guest's.
    NotAGuest,
}

impl GuestRefusal {
    /// The code on the wire.
    pub fn code(&self) -> &'static str {
        match self {
            GuestRefusal::Off | GuestRefusal::NotAGuest => "guests_refused",
            GuestRefusal::Name(_) => "name_invalid",
        }
    }
}

impl fmt::Display for GuestRefusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuestRefusal::Off => to.write_str("this community does not admit guests"),
            GuestRefusal::Name(refusal) => refusal.fmt(to),
            GuestRefusal::NotAGuest => to.write_str("only a guest's token can be renewed here"),
        }
    }
}

impl std::error::Error for GuestRefusal {}
