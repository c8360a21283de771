//! Who somebody is, as their community's own site says it; and what that site is asked and told.
//!
//! A person shows a [`Token`] that the host site signed, or, where guests are welcome, this server
//! ([`GuestBook`]). An [`Authority`] verifies it for one community and says who it is ([`Verified`]), or why not
//! ([`Refusal`]). [`Sessions`] knows which live connections stand on which tokens, and says which must end when one
//! expires or is revoked. A program shows a server key ([`ServerKey`]). The host site is asked by an [`Authorizer`] and
//! told by [`Deliveries`]; every request to it goes through [`Outbound`], which reaches no private address.
//!
//! It knows no rooms, no SQL, and no client's socket: what a room is, whether a key is stored, and how a connection is
//! closed is for others. Pure parts take the time and randomness as arguments; the few that talk to the network say so.

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
pub use guest::{BadNamePattern, GuestBook, GuestPolicy, GuestRefusal, GuestSecret, NamePattern};
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
    AUDIENCE_BYTES_MAX, AUDIENCES_MAX, AVATAR_BYTES_MAX, Algorithm, ClaimFault, Claims, Code, GUEST_PREFIX,
    ID_BYTES_MAX, LABEL_BYTES_MAX, NAME_BYTES_MAX, Part, Presented, ROLES_MAX, ROOMS_MAX, Refusal,
    SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX, Token, UnixSeconds,
};
pub use webhooks::{
    DeadLetter, Deliveries, DeliveryCounts, DeliverySettings, Endpoint, EndpointId, Head, MemoryLimits,
    MemoryQueue, Message, MessageId, Places, Queue, QueueError, QueueFull, Retries, UnixMillis, Waiting,
    WhyDead,
};
