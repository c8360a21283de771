//! Guests: people whom no host site knows, under tokens that this server signs.
//!
//! A guest's token is verified on the same path as any other; only its key is the server's own, a different one for
//! each community, so that a guest of one is nobody in another.

mod book;
mod pattern;

use std::fmt;

pub use book::{GuestBook, GuestSecret};
pub use pattern::{BadNamePattern, NamePattern};

use crate::token::Refusal;

/// Whether a community welcomes guests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GuestPolicy {
    /// Only whom the host site knows.
    #[default]
    Off,
    /// Everybody, under names of this pattern.
    On {
        /// How the names of guests are made of what they choose.
        names: NamePattern,
    },
}

/// Why somebody cannot be a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestRefusal {
    /// The community welcomes none.
    Off,
    /// The name cannot be one, or gets too long by the pattern.
    Name(Refusal),
    /// A token that is to be renewed is not a guest's.
    NotAGuest,
}

impl GuestRefusal {
    /// Its name on the wire.
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
            GuestRefusal::Off => to.write_str("this community welcomes no guests"),
            GuestRefusal::Name(refusal) => refusal.fmt(to),
            GuestRefusal::NotAGuest => to.write_str("only a guest's token can be renewed here"),
        }
    }
}

impl std::error::Error for GuestRefusal {}
