//! Why an engine is away, in words for who can mend it.

use std::fmt;

/// What ended a session, or kept one from beginning. The texts never hold a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody answers at the address, or the connection broke.
    Unreachable(String),
    /// TLS and the server do not agree.
    Tls(String),
    /// The name or the password is wrong, or missing.
    Unauthenticated(String),
    /// The user may not do what a bus has to.
    Forbidden(String),
    /// The server is too old.
    TooOld {
        /// What it says it is.
        found: String,
        /// What is needed.
        needed: &'static str,
    },
    /// It has not what a bus needs.
    Lacks(&'static str),
    /// It did not answer in time.
    Late,
    /// More waits for it than this node keeps.
    Overrun,
    /// This node is slower than it, and has lost what came.
    Behind,
    /// This node's lease was over: it had stopped, or the engine had.
    LeaseOver,
    /// What a master of a cluster had is another one's now, or is on its way there.
    Moved(String),
    /// One server was expected, and it is one of a cluster.
    IsCluster,
    /// A cluster was expected, and it is one server.
    IsNoCluster,
    /// It answered something else, or refused.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(detail) => write!(f, "it cannot be reached: {detail}"),
            Failure::Tls(detail) => {
                write!(
                    f,
                    "TLS failed: {detail}: check the scheme of `bus.url` and `bus.certificate_authority`"
                )
            }
            Failure::Unauthenticated(detail) => {
                write!(f, "it rejects the login: {detail}: check user name and password in `bus.url`")
            }
            Failure::Forbidden(detail) => {
                write!(
                    f,
                    "the user lacks permissions: {detail}: see docs/operations.md for those that the bus needs"
                )
            }
            Failure::TooOld { found, needed } => {
                write!(f, "it is too old: {found}, but {needed} is required")
            }
            Failure::Lacks(what) => write!(f, "it does not provide {what}"),
            Failure::Late => f.write_str("it does not answer in time"),
            Failure::Overrun => {
                f.write_str("it is slower than this node: too many messages were waiting for it")
            }
            Failure::Behind => f.write_str(
                "this node is too slow for it: too many messages were waiting here and were dropped",
            ),
            Failure::LeaseOver => f.write_str("this node's lease expired: this node or the bus had stalled"),
            Failure::Moved(detail) => write!(f, "its hash slots have moved: {detail}"),
            Failure::IsCluster => {
                f.write_str("it is part of a cluster: write redis-cluster://… in `bus.url`")
            }
            Failure::IsNoCluster => f.write_str("it is not a cluster: write redis://… in `bus.url`"),
            Failure::Refused(detail) => write!(f, "it returned an error: {detail}"),
        }
    }
}

/// Whether a connection's error has to do with TLS, by its words.
pub(crate) fn is_about_tls(detail: &str) -> bool {
    ["certificate", "tls", "handshake", "corrupt message", "InvalidContentType"]
        .iter()
        .any(|word| detail.to_lowercase().contains(&word.to_lowercase()))
}
