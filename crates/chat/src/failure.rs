//! Errors of the messenger's operations.
//!
//! What does not exist and what the caller may not know of are the same [`Failure::Absent`]; a [`Refusal`] is for
//! callers who may know that the thing exists.

use crate::moment::Moment;
use crate::permissions::Action;
use crate::problem::FieldProblem;
use std::fmt;

/// Why an operation failed. Nothing was changed, except where [`StoreErrorKind::leaves_doubt`] says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The input breaks a rule; lists every field that does.
    Invalid(Vec<FieldProblem>),
    /// No such thing exists, or none that the caller may know of.
    Absent(Thing),
    /// The caller may not do that.
    Refused(Refusal),
    /// The operation conflicts with the current state.
    Conflict(Conflict),
    /// The store failed to do it. The caller should retry later, except where [`StoreError`] says otherwise.
    Unavailable(StoreError),
}

/// The kind of thing that is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thing {
    /// A community.
    Community,
    /// A person.
    Person,
    /// A room or a direct conversation.
    Conversation,
    /// A message.
    Message,
    /// An invitation that does not exist or is no longer valid.
    Invitation,
    /// A report.
    Report,
    /// A key.
    Key,
}

/// Why the caller may not do something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Their role does not permit it, or not towards that person.
    NotPermitted(Action),
    /// They are banned.
    Banned {
        /// When the ban ends; `None`: never.
        until: Option<Moment>,
    },
    /// They are muted: they may read, but not write.
    Muted {
        /// When the mute ends; `None`: never.
        until: Option<Moment>,
    },
    /// The room is in slow mode.
    SlowMode {
        /// Milliseconds to wait before the next message.
        retry_after_ms: u64,
    },
    /// One of the two has blocked the other; it is not revealed which.
    Blocked,
    /// A named limit is reached.
    LimitReached {
        /// Its name, as in [`crate::limits`], in lower case.
        limit: &'static str,
        /// Its value.
        max: u64,
    },
}

/// What the operation conflicts with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// The name is taken.
    NameTaken,
    /// The sender has used this client id for another message, in another conversation or with other text.
    ClientIdReused,
    /// The message was deleted.
    Deleted,
    /// The last owner of a conversation cannot leave or lose the role while others are in it.
    LastOwner,
}

/// A failure of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreError {
    /// The kind of failure.
    pub kind: StoreErrorKind,
    /// For the log: the message of the database or the operating system. May contain paths, so it must not reach
    /// clients.
    pub detail: String,
}

/// Kinds of store failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreErrorKind {
    /// The store's queue is full.
    Busy,
    /// The disk, or the space allowed to the database, is full.
    Full,
    /// The disk is read-only, or access to it is denied.
    ReadOnly,
    /// Reading or writing failed.
    Io,
    /// The database is not reachable.
    Away,
    /// A concurrent writer won. The store retries by itself, a bounded number of times, before it reports this.
    Contended,
    /// Stored data cannot be decoded, or is inconsistent. Retrying does not help.
    Corrupt,
    /// The operation exceeded its time limit.
    Overdue,
    /// The store is being closed.
    Closed,
}

impl Failure {
    /// The `code` that clients see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::Absent(_) => "not_found",
            Self::Refused(refusal) => refusal.code(),
            Self::Conflict(conflict) => conflict.code(),
            Self::Unavailable(trouble) => trouble.kind.code(),
        }
    }
}

impl Refusal {
    /// The `code` that clients see.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotPermitted(_) => "not_permitted",
            Self::Banned { .. } => "banned",
            Self::Muted { .. } => "muted",
            Self::SlowMode { .. } => "slow_mode",
            Self::Blocked => "blocked",
            Self::LimitReached { .. } => "limit_reached",
        }
    }
}

impl Conflict {
    /// The `code` that clients see.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NameTaken => "name_taken",
            Self::ClientIdReused => "client_id_reused",
            Self::Deleted => "deleted",
            Self::LastOwner => "last_owner",
        }
    }
}

impl StoreErrorKind {
    /// The `code` that clients see: for server-side failures it says only whether retrying may help.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Full
            | Self::ReadOnly
            | Self::Io
            | Self::Away
            | Self::Contended
            | Self::Overdue
            | Self::Closed => "unavailable",
            Self::Corrupt => "internal",
        }
    }

    /// Whether the write may have been committed nonetheless: a sync or a connection failed during the commit.
    pub const fn leaves_doubt(self) -> bool {
        match self {
            Self::Io | Self::Away => true,
            Self::Busy
            | Self::Full
            | Self::ReadOnly
            | Self::Contended
            | Self::Corrupt
            | Self::Overdue
            | Self::Closed => false,
        }
    }
}

impl StoreError {
    /// Creates a failure of that kind.
    pub fn new(kind: StoreErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

impl From<StoreError> for Failure {
    fn from(trouble: StoreError) -> Self {
        Self::Unavailable(trouble)
    }
}

impl From<FieldProblem> for Failure {
    fn from(problem: FieldProblem) -> Self {
        Self::Invalid(vec![problem])
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Conflict> for Failure {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problems) => {
                for (nth, problem) in problems.iter().enumerate() {
                    let separator = if nth > 0 { "; " } else { "" };
                    write!(f, "{separator}`{}` {}", problem.field, problem.message)?;
                }
                Ok(())
            }
            Self::Absent(thing) => write!(f, "there is no such {}", thing.noun()),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Unavailable(trouble) => trouble.fmt(f),
        }
    }
}

impl Thing {
    const fn noun(self) -> &'static str {
        match self {
            Self::Community => "community",
            Self::Person => "person",
            Self::Conversation => "conversation",
            Self::Message => "message",
            Self::Invitation => "invitation",
            Self::Report => "report",
            Self::Key => "key",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted(action) => write!(f, "not permitted: {}", action.name()),
            Self::Banned { until: None } => f.write_str("banned"),
            Self::Banned { until: Some(until) } => write!(f, "banned until {} ms after 1970", until.millis()),
            Self::Muted { until: None } => f.write_str("muted"),
            Self::Muted { until: Some(until) } => write!(f, "muted until {} ms after 1970", until.millis()),
            Self::SlowMode { retry_after_ms } => write!(f, "slow mode: wait {retry_after_ms} ms"),
            Self::Blocked => f.write_str("one of the two people has blocked the other"),
            Self::LimitReached { limit, max } => write!(f, "limit reached: at most {max} ({limit})"),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameTaken => "the name is already in use",
            Self::ClientIdReused => "this client id was used for a different message",
            Self::Deleted => "the message was deleted",
            Self::LastOwner => "the last owner must make someone else an owner first",
        })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.noun(), self.detail)
    }
}

impl StoreErrorKind {
    const fn noun(self) -> &'static str {
        match self {
            Self::Busy => "the store is overloaded",
            Self::Full => "the disk is full",
            Self::ReadOnly => "the store cannot be written",
            Self::Io => "the store cannot be read or written",
            Self::Away => "the database is not reachable",
            Self::Contended => "too many conflicts with other writers",
            Self::Corrupt => "stored data cannot be read",
            Self::Overdue => "the time limit was exceeded",
            Self::Closed => "the store is being closed",
        }
    }
}

impl std::error::Error for Failure {}
impl std::error::Error for StoreError {}
