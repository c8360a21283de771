//! The errors that clients get: `{code, message, details}`.

use chat::{Failure, FieldProblem, Refusal, StoreErrorKind, Verb};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::store_log::log_trouble;

/// How long a client should wait when there is too much to do: in that time a store serves thousands of requests.
const BUSY_RETRY_MS: u64 = 1_000;

/// Why a request failed, for clients. Reveals nothing that the client may not know.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fault {
    /// Machine-readable code; see the table in `docs/protocol.md`.
    pub code: &'static str,
    /// Human-readable message, in English.
    pub message: String,
    /// Further details, depending on the code; may be empty.
    pub details: Map<String, Value>,
}

macro_rules! codes {
    ($($(#[$docs:meta])* $name:ident $text:literal)*) => {
        /// Error codes that do not come from [`chat::Failure`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ErrorCode {
            $($(#[$docs])* $name,)*
        }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the code as it is sent.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The payload is not what the event accepts.
    BadPayload "bad_payload"
    /// There is no such event on this topic.
    UnknownEvent "unknown_event"
    /// The topic does not belong to the connection's person or community.
    NotYours "not_found"
    /// Too many requests are pending, or there were too many within a minute.
    RateLimited "rate_limited"
    /// The person has as many devices as are allowed.
    TooManyDevices "too_many_devices"
    /// The token has expired.
    TokenExpired "token_expired"
    /// The token is not acceptable.
    TokenInvalid "token_invalid"
    /// The token was revoked.
    TokenRevoked "token_revoked"
    /// The token cannot be verified now.
    TokenUnverifiable "token_unverifiable"
    /// The token is valid for some rooms only.
    TokenLimited "token_limited"
    /// The community accepts no guests.
    GuestsRefused "guests_refused"
    /// The name that a guest asks for is not valid.
    NameInvalid "name_invalid"
    /// The community has reached its limit of people.
    CommunityFull "community_full"
    /// The connection named no community.
    NoCommunity "no_community"
    /// The community accepts no connections from this origin.
    OriginRefused "origin_refused"
    /// The community's own site refused.
    RefusedBySite "refused_by_site"
    /// The community's own site cannot be reached, and must be asked.
    SiteUnavailable "site_unavailable"
    /// More joins of the community wait than begin in time.
    Busy "busy"
    /// An internal error.
    Internal "internal"
}

impl Fault {
    /// Creates a fault without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.name(), message: message.into(), details: Map::new() }
    }

    /// The object does not exist, or the requester may not know of it.
    pub(crate) fn not_found() -> Self {
        Self::new(
            ErrorCode::NotYours,
            "this conversation does not exist, or you are not allowed to know that it \
             does",
        )
    }

    /// There is too much to do at the moment.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Busy, message).with("retry_after_ms", BUSY_RETRY_MS)
    }

    /// The request concerns more than the rooms that the requester's token is for.
    pub(crate) fn token_limited() -> Self {
        Self::new(ErrorCode::TokenLimited, "this token is valid only for certain rooms: name one of them")
    }

    /// Converts the failure of a verb. If a write failed in a way that leaves its outcome unknown, the fault says so:
    /// it may have been stored.
    pub(crate) fn of<V: Verb>(failure: Failure) -> Self {
        let is_unknown =
            V::WRITES && matches!(&failure, Failure::Unavailable(trouble) if trouble.kind.leaves_doubt());
        let fault = Self::from(failure);
        if !is_unknown {
            return fault;
        }
        let message = "the store failed, and it is not known whether the request was carried out: check, or repeat \
             it";
        Self { message: message.to_owned(), ..fault }.with("outcome", "unknown")
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the fault as JSON.
    pub(crate) fn json(&self) -> Value {
        json!(self)
    }
}

impl From<FieldProblem> for Fault {
    fn from(problem: FieldProblem) -> Self {
        Failure::Invalid(vec![problem]).into()
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let fault = Self { code: failure.code(), message: message(&failure), details: Map::new() };
        match failure {
            Failure::Invalid(problems) => fault.with("fields", json!(problems)),
            Failure::Refused(
                Refusal::Banned { until: Some(until) } | Refusal::Muted { until: Some(until) },
            ) => fault.with("until", until.millis()),
            Failure::Refused(Refusal::SlowMode { retry_after_ms }) => {
                fault.with("retry_after_ms", retry_after_ms)
            }
            Failure::Refused(Refusal::LimitReached { limit, max }) => {
                fault.with("limit", limit).with("max", max)
            }
            Failure::Refused(
                Refusal::NotPermitted(_) | Refusal::Banned { .. } | Refusal::Muted { .. } | Refusal::Blocked,
            )
            | Failure::Absent(_)
            | Failure::Conflict(_) => fault,
            Failure::Unavailable(trouble) if trouble.kind == StoreErrorKind::Busy => {
                fault.with("retry_after_ms", BUSY_RETRY_MS)
            }
            Failure::Unavailable(_) => fault,
        }
    }
}

/// A database's error text may name paths and hosts, so it goes to the log only.
fn message(failure: &Failure) -> String {
    match failure {
        Failure::Unavailable(trouble) => {
            log_trouble(trouble);
            "the store is unavailable: try again later".to_owned()
        }
        Failure::Invalid(_) | Failure::Absent(_) | Failure::Refused(_) | Failure::Conflict(_) => {
            failure.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::StoreError;
    use std::collections::BTreeSet;

    #[test]
    fn what_a_database_says_is_not_told() {
        let trouble = StoreError::new(StoreErrorKind::Io, "/var/lib/throng/messenger.db: bad sector");
        let fault = Fault::from(Failure::Unavailable(trouble));
        assert!(!fault.json().to_string().contains("/var/lib"), "{fault:?}");
    }

    /// The codes that the `code` functions of `chat` return, extracted from their source so that none can be forgotten.
    fn codes_of_rules() -> impl Iterator<Item = &'static str> {
        let functions = include_str!("../../chat/src/failure.rs").split("const fn code(").skip(1);
        functions
            .flat_map(|rest| rest.split("\n    }").next().unwrap_or_default().split('"').skip(1).step_by(2))
    }

    #[test]
    fn the_codes_are_those_that_are_documented() {
        let document = include_str!("../../../docs/protocol.md");
        let (_, section) = document.split_once("### Errors").expect("the section is there");
        let rows =
            section.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| !line.is_empty());
        let firsts = rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
        let documented: BTreeSet<&str> =
            firsts.flat_map(|first| first.split('`').skip(1).step_by(2)).collect();
        let own = ErrorCode::ALL.iter().map(|code| code.name());
        assert_eq!(documented, own.chain(codes_of_rules()).collect());
    }

    #[test]
    fn a_busy_store_says_how_long_to_wait() {
        let fault =
            Fault::from(Failure::from(StoreError::new(StoreErrorKind::Busy, "5000 requests wait already")));
        assert_eq!(fault.json()["details"]["retry_after_ms"], BUSY_RETRY_MS);
        let fault = Fault::from(Failure::from(StoreError::new(StoreErrorKind::Away, "no route to host")));
        assert!(fault.details.is_empty(), "{fault:?}");
    }

    #[test]
    fn what_may_be_stored_all_the_same_is_neither_confirmed_nor_denied() {
        use chat::Asked;
        use chat::verbs::{React, ReadCommunity};
        let away = || Failure::from(StoreError::new(StoreErrorKind::Away, "the connection broke"));
        let fault = Fault::of::<Asked<React>>(away());
        assert_eq!((fault.code, &fault.details["outcome"]), ("unavailable", &json!("unknown")));
        let full = Failure::from(StoreError::new(StoreErrorKind::Full, "no space left"));
        for known in [Fault::of::<Asked<React>>(full), Fault::of::<Asked<ReadCommunity>>(away())] {
            assert_eq!((known.code, known.details.get("outcome")), ("unavailable", None));
        }
    }

    #[test]
    fn slow_mode_says_how_long_to_wait() {
        let fault = Fault::from(Failure::from(Refusal::SlowMode { retry_after_ms: 700 }));
        assert_eq!(fault.json()["details"]["retry_after_ms"], 700);
    }
}
