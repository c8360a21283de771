//! Why an engine is away, in terms of what can be done about it.

use std::fmt;

/// What ended a session, or prevented one. The texts never contain passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing answers at the address, or the connection broke.
    Unreachable(String),
    /// TLS failed, or the server does not use TLS as configured.
    Tls(String),
    /// The name or the password is wrong or missing.
    Unauthenticated(String),
    /// The user lacks a permission that the bus needs.
    Forbidden(String),
    /// The server is too old.
    TooOld {
        /// What it reports.
        found: String,
        /// The minimum version.
        needed: &'static str,
    },
    /// It lacks a feature that the bus needs.
    Lacks(&'static str),
    /// It did not answer in time.
    Late,
    /// Too much waits for it.
    Overrun,
    /// This node is too slow for it, and has lost messages.
    Behind,
    /// This node's lease expired: the node or the engine had stopped.
    LeaseOver,
    /// A slot of a cluster has moved to another master, or is moving.
    Moved(String),
    /// A single server was expected, but it is a member of a cluster.
    IsCluster,
    /// A cluster was expected, but it is a single server.
    IsNoCluster,
    /// It refused, or gave an unexpected answer.
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

/// Returns whether a connection error is about TLS, judging by its text.
pub(crate) fn is_about_tls(detail: &str) -> bool {
    ["certificate", "tls", "handshake", "corrupt message", "InvalidContentType"]
        .iter()
        .any(|word| detail.to_lowercase().contains(&word.to_lowercase()))
}
