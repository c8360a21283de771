//! Why a connection is abandoned.

/// Why a connection is no longer usable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Failure {
    /// The server closed it, or the connection broke.
    Cut,
    /// The upgrade or the join was refused.
    Refused,
    /// The data is not a valid message of this protocol.
    Nonsense,
}
