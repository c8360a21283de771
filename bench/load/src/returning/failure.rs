//! Why a connection is given up.

/// Why a connection is of no more use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Failure {
    /// The server closed, or the connection broke.
    Cut,
    /// The upgrade or the join was refused.
    Refused,
    /// What came is no message of this protocol.
    Nonsense,
}
