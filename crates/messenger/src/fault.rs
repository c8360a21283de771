//! What clients are told when something did not happen: `{code, message, details}`.

use chat::{Failure, FieldProblem, Refusal, TroubleKind, Verb};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::store_log::log_trouble;

/// How long who is told that too much waits should wait: a store does thousands of requests in it.
const BUSY_RETRY_MS: u64 = 1_000;

/// Why something did not happen, for clients. It names nothing that they may not know.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fault {
    /// For programs; see the table in `docs/protocol.md`.
    pub code: &'static str,
    /// For people, in English.
    pub message: String,
    /// What else is worth knowing, by code; may be empty.
    pub details: Map<String, Value>,
}

macro_rules! codes {
    ($($(#[$docs:meta])* $name:ident $text:literal)*) => {
        /// Codes of faults that are not [`chat::Failure`]'s.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ErrorCode {
            $($(#[$docs])* $name,)*
        }

        impl ErrorCode {
            /// All.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// As it is told.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The payload is not what the event takes.
    BadPayload "bad_payload"
    /// There is no such event on this topic.
    UnknownEvent "unknown_event"
    /// The topic is not of the connection's person or community.
    NotYours "not_found"
    /// Too much is under way, or too much in a minute.
    RateLimited "rate_limited"
    /// There is no room for one more device of this person.
    TooManyDevices "too_many_devices"
    /// The token was good once.
    TokenExpired "token_expired"
    /// The token is not acceptable.
    TokenInvalid "token_invalid"
    /// The token was revoked.
    TokenRevoked "token_revoked"
    /// The token cannot be judged now.
    TokenUnverifiable "token_unverifiable"
    /// The token is for some rooms only.
    TokenLimited "token_limited"
    /// The community takes no guests.
    GuestsRefused "guests_refused"
    /// The name that a guest wants cannot be one.
    NameInvalid "name_invalid"
    /// The community holds as many people as it may.
    CommunityFull "community_full"
    /// The connection named no community.
    NoCommunity "no_community"
    /// The community takes no connections from this page.
    OriginRefused "origin_refused"
    /// The community's own site says no.
    RefusedBySite "refused_by_site"
    /// The community's own site cannot be asked, and must be.
    SiteUnavailable "site_unavailable"
    /// Something went wrong here.
    Internal "internal"
}

impl Fault {
    /// One without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.name(), message: message.into(), details: Map::new() }
    }

    /// There is no such thing, or not for the asker.
    pub(crate) fn not_found() -> Self {
        Self::new(ErrorCode::NotYours, "there is no such conversation")
    }

    /// It concerns more than the rooms that the asker's token is for.
    pub(crate) fn token_limited() -> Self {
        Self::new(ErrorCode::TokenLimited, "this token is for some rooms only: name one of them")
    }

    /// Why that verb did not happen, or may have: what was to be written while the store failed may be stored all the same.
    pub(crate) fn of<V: Verb>(failure: Failure) -> Self {
        let is_unknown =
            V::WRITES && matches!(&failure, Failure::Unavailable(trouble) if trouble.kind.leaves_doubt());
        let fault = Self::from(failure);
        if !is_unknown {
            return fault;
        }
        let message = "the store failed meanwhile: it may be stored or not; look again, or repeat it";
        Self { message: message.to_owned(), ..fault }.with("outcome", "unknown")
    }

    /// With one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// As JSON.
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
            Failure::Unavailable(trouble) if trouble.kind == TroubleKind::Busy => {
                fault.with("retry_after_ms", BUSY_RETRY_MS)
            }
            Failure::Unavailable(_) => fault,
        }
    }
}

/// What a database says may name paths and hosts: it is for the log.
fn message(failure: &Failure) -> String {
    match failure {
        Failure::Unavailable(trouble) => {
            log_trouble(trouble);
            "the store cannot do that now; try again later".to_owned()
        }
        Failure::Invalid(_) | Failure::Absent(_) | Failure::Refused(_) | Failure::Conflict(_) => {
            failure.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::Trouble;
    use std::collections::BTreeSet;

    #[test]
    fn what_a_database_says_is_not_told() {
        let trouble = Trouble::new(TroubleKind::Io, "/var/lib/throng/messenger.db: bad sector");
        let fault = Fault::from(Failure::Unavailable(trouble));
        assert!(!fault.json().to_string().contains("/var/lib"), "{fault:?}");
    }

    /// What the rules' `code` functions say, as it stands in their source: no list of theirs could be forgotten.
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
        let fault = Fault::from(Failure::from(Trouble::new(TroubleKind::Busy, "5000 requests wait already")));
        assert_eq!(fault.json()["details"]["retry_after_ms"], BUSY_RETRY_MS);
        let fault = Fault::from(Failure::from(Trouble::new(TroubleKind::Away, "no route to host")));
        assert!(fault.details.is_empty(), "{fault:?}");
    }

    #[test]
    fn what_may_be_stored_all_the_same_is_neither_confirmed_nor_denied() {
        use chat::Asked;
        use chat::verbs::{React, ReadCommunity};
        let away = || Failure::from(Trouble::new(TroubleKind::Away, "the connection broke"));
        let fault = Fault::of::<Asked<React>>(away());
        assert_eq!((fault.code, &fault.details["outcome"]), ("unavailable", &json!("unknown")));
        let full = Failure::from(Trouble::new(TroubleKind::Full, "no space left"));
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
