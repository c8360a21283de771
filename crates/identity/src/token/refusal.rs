//! Why a token was refused: in detail for the operator's log, coarsely for the client.

use std::fmt;

use super::{Algorithm, UnixSeconds};

/// Why a token was refused. Its [`fmt::Display`] text names the field and what is wrong with it, for a log; it contains
/// nothing of the token except the key's id. A client only gets [`Refusal::code`], so that trying out tokens reveals
/// nothing about keys and people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than [`super::TOKEN_BYTES_MAX`].
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not three parts of base64url, or not JSON where it must be.
    Malformed {
        /// The malformed part.
        part: Part,
        /// What is wrong.
        why: &'static str,
    },
    /// The header names an unsupported algorithm; see [`Algorithm`].
    AlgorithmUnknown,
    /// The header names a different algorithm than the one that the key is pinned to.
    AlgorithmMismatch {
        /// The header's algorithm.
        header: Algorithm,
        /// The key's algorithm.
        key: Algorithm,
    },
    /// No currently valid key has this id, or, without an id, this algorithm.
    KeyUnknown {
        /// The header's `kid`.
        kid: Option<String>,
    },
    /// The keys could not be fetched, and the cached ones do not include this one.
    KeysUnavailable,
    /// The signature does not match the key.
    Signature,
    /// A claim is not acceptable.
    Claim {
        /// The claim's name.
        name: &'static str,
        /// What is wrong.
        fault: ClaimFault,
    },
    /// `exp` has passed.
    Expired {
        /// `exp`.
        at: UnixSeconds,
    },
    /// The token, or everything issued to its person up to some time, was revoked.
    Revoked,
    /// A live connection presented a token of another person or community.
    AnotherPerson,
    /// A live connection presented a token for other rooms.
    OtherRooms,
}

/// A part of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The token as a whole.
    Whole,
    /// The first part.
    Header,
    /// The second part.
    Claims,
    /// The third part.
    Signature,
}

/// What is wrong with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimFault {
    /// It is required, but missing.
    Missing,
    /// It has the wrong JSON type.
    Type {
        /// The required type.
        expected: &'static str,
    },
    /// It is empty or blank.
    Empty,
    /// It is longer, or has more entries, than allowed.
    TooLong {
        /// The limit, in the unit of the claim's own limit.
        max: usize,
    },
    /// It contains a character that is not allowed.
    Character,
    /// It is not a URL that begins with `https://`.
    Address,
    /// None of its audiences is this community.
    Audience,
    /// It is in the future.
    InFuture,
    /// It is further in the future than tokens may last.
    TooFar,
    /// It begins like a guest's id, or, in a guest's token, does not.
    Reserved,
}

/// The error code that a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The token was valid once: get a new one and reconnect.
    TokenExpired,
    /// The token is not acceptable: retrying with it is pointless.
    TokenInvalid,
    /// The token was revoked: only a new sign-in at the host site helps.
    TokenRevoked,
    /// The server cannot verify it now: retry later with the same token.
    TokenUnverifiable,
}

impl Code {
    /// The name on the wire.
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
    /// The error code that a client gets.
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
                write!(to, "alg: {header}, but the key is only for {key}")
            }
            // Untrusted text, so it is quoted, with control characters escaped.
            Refusal::KeyUnknown { kid: Some(kid) } => write!(to, "kid: there is no valid key {kid:?}"),
            Refusal::KeyUnknown { kid: None } => to.write_str(
                "kid: missing, and there is no key of this algorithm that could be used without it",
            ),
            Refusal::KeysUnavailable => to.write_str("the keys of the host site cannot be fetched now"),
            Refusal::Signature => to.write_str("the signature does not match the key"),
            Refusal::Claim { name, fault } => write!(to, "{name}: {fault}"),
            Refusal::Expired { at } => write!(to, "exp: the token expired at {at}"),
            Refusal::Revoked => to.write_str("the token was revoked"),
            Refusal::AnotherPerson => to.write_str("the token is for a different person than the connection"),
            Refusal::OtherRooms => {
                to.write_str("rooms: the token is for different rooms than the connection")
            }
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
            ClaimFault::Address => to.write_str("not a URL that begins with https://"),
            ClaimFault::Audience => to.write_str("does not name this community"),
            ClaimFault::InFuture => to.write_str("is later than now"),
            ClaimFault::TooFar => {
                to.write_str("is further in the future than the maximum lifetime of a token")
            }
            ClaimFault::Reserved => {
                to.write_str("must begin with `guest:` if and only if it is the id of a guest")
            }
        }
    }
}
