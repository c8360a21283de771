//! Ids: newtypes for every id, name and number.
//!
//! Names chosen by people or host sites are text in a bounded alphabet; ids that Throng creates are 128 bits that sort
//! by time. No id here is unique outside of its community. Text ids are one-word pointers (`Arc<str>` takes two words),
//! because the ids of people and communities are kept in many places for each connected person.

use crate::moment::Moment;
use crate::problem::Problem;
use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

macro_rules! text_id {
    ($(#[$docs:meta])* $name:ident, $bytes_max:expr, $allowed:expr, $alphabet:literal) => {
        $(#[$docs])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(ArcStr);

        impl $name {
            /// Maximum length in bytes.
            pub const BYTES_MAX: usize = $bytes_max;

            /// Parses an id.
            ///
            /// # Errors
            /// The length is out of bounds, or a character is outside of the alphabet.
            pub fn parse(text: &str) -> Result<Self, Problem> {
                let allowed: fn(u8) -> bool = $allowed;
                if !(1..=Self::BYTES_MAX).contains(&text.len()) {
                    return Err(Problem::length(1, Self::BYTES_MAX, "bytes"));
                }
                if !text.bytes().all(allowed) {
                    return Err(Problem::new("alphabet", format!("may only contain {}", $alphabet)));
                }
                Ok(Self(text.into()))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

const fn in_a_path(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
}

const fn in_a_subject(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'/' && byte != b'"' && byte != b'\\'
}

text_id!(
    /// A community (tenant), as in `/c/COMMUNITY/…`.
    CommunityId, 40, in_a_path, "a-z, 0-9, - and _"
);
text_id!(
    /// A person within a community: the `sub` of the host site's token, or a guest's.
    PersonId, 128, in_a_subject, "printable ASCII characters except space, /, \" and \\"
);
text_id!(
    /// A room's name, as in `/c/COMMUNITY/r/ROOM`.
    RoomName, 64, in_a_path, "a-z, 0-9, - and _"
);
text_id!(
    /// The id that a sending client gives its message, so that a retry is recognized. Unique per sender.
    ClientId, 64, in_a_subject, "printable ASCII characters except space, /, \" and \\"
);

impl PersonId {
    /// Placeholder for an erased person.
    pub fn erased() -> Self {
        Self("~erased".into())
    }

    /// Placeholder for the person where a server key or the operator acted.
    pub fn service() -> Self {
        Self("~service".into())
    }

    /// Whether it is one of the reserved names above. They begin with `~`, and no person can have one.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with('~')
    }
}

/// Sixteen random bytes supplied by the caller, because this crate draws no randomness itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entropy(pub [u8; 16]);

/// A 128-bit id created by Throng: 48 bits of milliseconds since 1970, then 80 random bits, as in a ULID
/// (<https://github.com/ulid/spec>). Its text form is 26 characters of Crockford's base 32, which sort as the bits do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid {
    // Two halves, because a `u128` is 16-byte aligned and would leave padding wherever ids are stored.
    high: u64,
    low: u64,
}

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_CHARACTERS: usize = 26;

impl Ulid {
    /// Creates an id for something made at `now`. `nth` distinguishes the ids of one call.
    pub fn new(now: Moment, entropy: Entropy, nth: u32) -> Self {
        let random = u128::from_be_bytes(entropy.0).wrapping_add(u128::from(nth));
        Self::from_bits((u128::from(now.millis()) << 80) | (random & ((1 << 80) - 1)))
    }

    /// The next id in order; saturates at the last one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::from_bits(self.bits().saturating_add(1))
    }

    const fn from_bits(bits: u128) -> Self {
        Self { high: (bits >> 64) as u64, low: bits as u64 }
    }

    const fn bits(self) -> u128 {
        ((self.high as u128) << 64) | self.low as u128
    }

    /// Storage form.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.bits().to_be_bytes()
    }

    /// Reads the storage form.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::from_bits(u128::from_be_bytes(bytes))
    }

    /// Parses the 26-character text form; lower case is accepted.
    ///
    /// # Errors
    /// Wrong length or alphabet, or a value above 128 bits.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new("id", "is not an id: 26 characters of Crockford's base 32".to_owned());
        if text.len() != ULID_CHARACTERS || text.as_bytes()[0] > b'7' {
            return Err(wrong());
        }
        text.bytes()
            .try_fold(0_u128, |bits, byte| {
                let digit = CROCKFORD.iter().position(|&digit| digit == byte.to_ascii_uppercase());
                digit.map(|digit| (bits << 5) | digit as u128)
            })
            .map(Self::from_bits)
            .ok_or_else(wrong)
    }
}

impl fmt::Debug for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ulid({self})")
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, bits) = ([0; ULID_CHARACTERS], self.bits());
        for (place, character) in text.iter_mut().rev().enumerate() {
            *character = CROCKFORD[(bits >> (5 * place) & 31) as usize];
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

macro_rules! made_id {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Ulid);

        impl $name {
            /// Parses the 26-character text form.
            ///
            /// # Errors
            /// See [`Ulid::parse`].
            pub fn parse(text: &str) -> Result<Self, Problem> {
                Ulid::parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

made_id!(
    /// A room or a direct conversation.
    ConversationId
);
made_id!(
    /// A message, as used in URLs. It sorts by time; the order within a conversation is that of [`Seq`].
    MessageId
);
made_id!(
    /// An invitation.
    InvitationId
);
made_id!(
    /// A report of a message.
    ReportId
);
made_id!(
    /// An entry of the audit log.
    AuditId
);
made_id!(
    /// A community's key (its public id, not the secret).
    KeyId
);
made_id!(
    /// A webhook delivery.
    DeliveryId
);

impl From<MessageId> for ClientId {
    /// For a message without a client id of its own. An id's characters are all in this alphabet.
    fn from(id: MessageId) -> Self {
        Self(id.to_string().into())
    }
}

macro_rules! number {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Returns the next number.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }
    };
}

number!(
    /// A message's sequence number in its conversation: 1, 2, 3, … without gaps. 0 is before the first message.
    Seq
);
number!(
    /// Counts changes to a conversation's messages after they were sent: edits, deletes, reactions. A client that knows
    /// a revision can request the messages that changed since.
    Revision
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_id_reads_back_and_sorts_by_time() {
        let early = Ulid::new(Moment::from_millis(1_000), Entropy([0xff; 16]), 0);
        let late = Ulid::new(Moment::from_millis(1_001), Entropy([0; 16]), 0);
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(Ulid::parse(&early.to_string()), Ok(early));
        assert_eq!(Ulid::parse(&late.to_string().to_lowercase()), Ok(late));
    }

    #[test]
    fn what_one_call_makes_differs() {
        let now = Moment::from_millis(5);
        assert_ne!(Ulid::new(now, Entropy([0xff; 16]), 0), Ulid::new(now, Entropy([0xff; 16]), 1));
    }

    #[test]
    fn other_text_is_no_id() {
        for text in
            ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "0000000000000000000000000U", "000000000000000000000000é"]
        {
            assert!(Ulid::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_message_can_be_called_by_its_id() {
        let id = MessageId(Ulid::from_bytes([0xff; 16]));
        assert_eq!(ClientId::parse(&id.to_string()), Ok(id.into()));
    }

    #[test]
    fn names_keep_to_their_alphabets() {
        assert!(CommunityId::parse("acme-2_x").is_ok());
        for text in ["", "Acme", "a/b", "ä", &"a".repeat(41)] {
            assert!(CommunityId::parse(text).is_err(), "{text}");
        }
        assert!(PersonId::parse("auth0|Ann+1@example.org").is_ok());
        for text in ["", "a/b", "a b", "a\"b", "a\nb", &"a".repeat(129)] {
            assert!(PersonId::parse(text).is_err(), "{text}");
        }
    }
}
