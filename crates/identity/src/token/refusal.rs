//! Why a token was refused: in detail for the log of who runs the server, coarsely for the client.

use std::fmt;

use super::{Algorithm, UnixSeconds};

/// Why a token was refused. The text of [`fmt::Display`] names the field and what is wrong with it, for a log; it holds
/// nothing of the token but its key's id. A client is told [`Refusal::code`] alone: who tries tokens out learns nothing
/// from it about keys and people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than [`super::TOKEN_BYTES_MAX`].
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Not three parts of base64url, or not JSON where there should be.
    Malformed {
        /// Where.
        part: Part,
        /// What is wrong.
        why: &'static str,
    },
    /// The header names an algorithm that is not one of [`Algorithm`].
    AlgorithmUnknown,
    /// The header names another algorithm than the one that the key is pinned to.
    AlgorithmMismatch {
        /// What the header says.
        header: Algorithm,
        /// What the key is for.
        key: Algorithm,
    },
    /// No key that is valid now has this id, or, without one, this algorithm.
    KeyUnknown {
        /// The header's `kid`.
        kid: Option<String>,
    },
    /// The keys could not be fetched, and this one is not among those at hand.
    KeysUnavailable,
    /// The signature is not that key's.
    Signature,
    /// A claim cannot be accepted.
    Claim {
        /// Its name.
        name: &'static str,
        /// What is wrong.
        fault: ClaimFault,
    },
    /// `exp` has passed.
    Expired {
        /// `exp`.
        at: UnixSeconds,
    },
    /// It, or everything issued to its person until some time, was revoked.
    Revoked,
    /// A live connection presented a token of somebody else, or of another community.
    AnotherPerson,
    /// A live connection presented a token for other rooms.
    OtherRooms,
}

/// A part of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The three parts together.
    Whole,
    /// The first.
    Header,
    /// The second.
    Claims,
    /// The third.
    Signature,
}

/// What is wrong with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimFault {
    /// It must be there.
    Missing,
    /// It is of another JSON type than it must be.
    Type {
        /// What it must be.
        expected: &'static str,
    },
    /// It is empty, or blank.
    Empty,
    /// It is longer, or has more entries, than this.
    TooLong {
        /// The most, in the unit of the claim's own limit.
        max: usize,
    },
    /// It has a character that it must not have.
    Character,
    /// It is not an address that begins with `https://`.
    Address,
    /// None of its audiences is this community.
    Audience,
    /// It is later than now.
    InFuture,
    /// It is farther in the future than tokens may last.
    TooFar,
    /// It begins as the ids of guests do, or, in a guest's token, does not.
    Reserved,
}

/// What a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The token was good once: get a new one and come back.
    TokenExpired,
    /// The token is not acceptable: coming back with it is pointless.
    TokenInvalid,
    /// The token was revoked: only a new sign-in at the host site helps.
    TokenRevoked,
    /// The server cannot judge it now: come back later with the same.
    TokenUnverifiable,
}

impl Code {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Code::TokenExpired => "token_expired",
            Code::TokenInvalid => "token_invalid",
            Code::TokenRevoked => "token_revoked",
            Code::TokenUnverifiable => "token_unverifiable",
        }
    }
}

impl Refusal {
    /// What a client is told.
    pub fn code(&self) -> Code {
        match self {
            Refusal::Expired { .. } => Code::TokenExpired,
            Refusal::Revoked => Code::TokenRevoked,
            Refusal::KeysUnavailable => Code::TokenUnverifiable,
            Refusal::TooLong { .. }
            | Refusal::Malformed { .. }
            | Refusal::AlgorithmUnknown
            | Refusal::AlgorithmMismatch { .. }
            | Refusal::KeyUnknown { .. }
            | Refusal::Signature
            | Refusal::Claim { .. }
            | Refusal::AnotherPerson
            | Refusal::OtherRooms => Code::TokenInvalid,
        }
    }

    pub(super) fn claim(name: &'static str, fault: ClaimFault) -> Self {
        Refusal::Claim { name, fault }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLong { bytes } => {
                write!(to, "the token has {bytes} bytes, more than {}", super::TOKEN_BYTES_MAX)
            }
            Refusal::Malformed { part, why } => write!(to, "{part}: {why}"),
            Refusal::AlgorithmUnknown => to.write_str("alg: not HS256, RS256, ES256 or EdDSA"),
            Refusal::AlgorithmMismatch { header, key } => {
                write!(to, "alg: is {header}, but the key is for {key} only")
            }
            // A stranger's text, so it is quoted, with its control characters escaped.
            Refusal::KeyUnknown { kid: Some(kid) } => write!(to, "kid: no valid key is named {kid:?}"),
            Refusal::KeyUnknown { kid: None } => {
                to.write_str("kid: missing, and no key of this algorithm can be tried without it")
            }
            Refusal::KeysUnavailable => to.write_str("the keys of the host site cannot be fetched now"),
            Refusal::Signature => to.write_str("the signature is not that of the key"),
            Refusal::Claim { name, fault } => write!(to, "{name}: {fault}"),
            Refusal::Expired { at } => write!(to, "exp: was at {at}"),
            Refusal::Revoked => to.write_str("the token was revoked"),
            Refusal::AnotherPerson => to.write_str("the token is another person's than the connection's"),
            Refusal::OtherRooms => to.write_str("rooms: the token is for others than the connection's"),
        }
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Part {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Part::Whole => "the token",
            Part::Header => "the header",
            Part::Claims => "the claims",
            Part::Signature => "the signature",
        })
    }
}

impl fmt::Display for ClaimFault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimFault::Missing => to.write_str("missing"),
            ClaimFault::Type { expected } => write!(to, "must be {expected}"),
            ClaimFault::Empty => to.write_str("empty"),
            ClaimFault::TooLong { max } => write!(to, "longer than {max}"),
            ClaimFault::Character => to.write_str("has a character that is not allowed"),
            ClaimFault::Address => to.write_str("not an address that begins with https://"),
            ClaimFault::Audience => to.write_str("does not name this community"),
            ClaimFault::InFuture => to.write_str("is later than now"),
            ClaimFault::TooFar => to.write_str("is farther in the future than tokens may last"),
            ClaimFault::Reserved => to.write_str("ids of guests, and only those, begin with `guest:`"),
        }
    }
}
