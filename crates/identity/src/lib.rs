//! Identities: who a person is, as vouched for by their community's own site, and the server's requests to that site.
//!
//! A person presents a [`Token`] signed by the host site or, where guests are admitted, by this server ([`GuestSigner`]).
//! An [`Authority`] verifies it for one community and returns who it is ([`Verified`]), or why not ([`Refusal`]).
//! [`Sessions`] tracks which live connections depend on which tokens, and which must end when a token expires or is
//! revoked. A program presents a server key ([`ServerKey`]). An [`Authorizer`] asks the host site, and [`Deliveries`]
//! sends it webhooks; every request to it goes through [`Outbound`], which connects to no private address.
//!
//! This crate knows no rooms, no SQL and no client's socket: what a room is, where keys are stored and how connections
//! are closed is for others. Pure parts take the time and randomness as arguments; the few that use the network say so.

mod authority;
mod authorize;
mod guest;
mod jwks;
mod keys;
mod outbound;
mod rules;
mod server_key;
mod session;
mod signature;
mod token;
mod webhooks;

pub use authority::{Authority, Community, Verified};
pub use authorize::{
    Action, Answer, Authorizer, AuthorizerCounts, AuthorizerSettings, Failing, Question, Verdict,
};
pub use guest::{BadNamePattern, GuestPolicy, GuestRefusal, GuestSecret, GuestSigner, NamePattern};
pub use jwks::{Jwks, JwksSettings};
pub use keys::{
    BadKey, BadKeySet, Issuer, JwksError, KEYS_MAX, Key, KeySet, SECRET_BYTES_MIN, SkippedKey, read_jwks,
};
pub use outbound::{
    AddressPolicy, BadNetwork, BadTarget, Network, Outbound, OutboundError, Resolve, Resolving, Response,
    SystemResolver, Target, system_trust,
};
pub use rules::Rules;
pub use server_key::{BadServerKey, MintedKey, Scope, Scopes, ServerKey, StoredKey, UnknownScope};
pub use session::{
    CLOSE_TOKEN_EXPIRED, CLOSE_TOKEN_REVOKED, Ended, Revocation, RevocationsFull, Revoked, SessionId,
    Sessions, SessionsLimits,
};
pub use signature::{
    BadSecret, SIGNATURE_AGE_MAX, SignatureError, SigningSecret, SigningSecrets, sign, verify,
};
pub use token::{
    AUDIENCE_BYTES_MAX, AUDIENCES_MAX, AVATAR_BYTES_MAX, Algorithm, ClaimFault, Claims, Code, CompactSeconds,
    GUEST_PREFIX, ID_BYTES_MAX, LABEL_BYTES_MAX, NAME_BYTES_MAX, Part, Presented, ROLES_MAX, ROOMS_MAX,
    Refusal, SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX, Token, UnixSeconds,
};
pub use webhooks::{
    DeadLetter, Deliveries, DeliveryCounts, DeliverySettings, Endpoint, EndpointId, Head, MemoryLimits,
    MemoryQueue, Message, MessageId, MessageSubject, Places, Queue, QueueError, QueueFull, Retries,
    UnixMillis, Waiting, WhyDead,
};
