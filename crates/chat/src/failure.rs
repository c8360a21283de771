//! Why something that was asked did not happen.
//!
//! What does not exist and what the asker may not know of are the same [`Failure::Absent`]; a [`Refusal`] is for those who
//! may know that the thing is there.

use crate::moment::Moment;
use crate::permissions::Action;
use crate::problem::FieldProblem;
use std::fmt;

/// Why something that was asked did not happen. Nothing of it happened then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The input breaks a rule; every field that does is named.
    Invalid(Vec<FieldProblem>),
    /// There is no such thing, or none that the asker may know of.
    Absent(Thing),
    /// The asker may not do that.
    Refused(Refusal),
    /// What was asked contradicts what is there.
    Conflict(Conflict),
    /// The storage did not do it, and it is right to try again later, except where [`Trouble`] says otherwise.
    Unavailable(Trouble),
}

/// What was looked for.
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
    /// An invitation, or one that is over.
    Invitation,
    /// A report.
    Report,
    /// A key.
    Key,
}

/// Why the asker may not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Their role does not permit it, or not towards that person.
    NotPermitted(Action),
    /// They are banned.
    Banned {
        /// The end; none if there is no end.
        until: Option<Moment>,
    },
    /// They may read and not write.
    Muted {
        /// The end; none if there is no end.
        until: Option<Moment>,
    },
    /// The room is in slow mode.
    SlowMode {
        /// How long to wait.
        retry_after_ms: u64,
    },
    /// One of the two has blocked the other; which one is not told.
    Blocked,
    /// A named limit is reached.
    LimitReached {
        /// Its name, as in [`crate::limits`], in lower case.
        limit: &'static str,
        /// Its value.
        max: u64,
    },
}

/// What contradicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// The name is taken.
    NameTaken,
    /// The sender has sent another message under this client id, elsewhere or with another text.
    ClientIdReused,
    /// The message was deleted.
    Deleted,
    /// A conversation's last owner cannot leave it or lose the role while others are in it.
    LastOwner,
}

/// What is wrong with the storage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Which kind of trouble.
    pub kind: TroubleKind,
    /// For the log: what the database or the system said. It may name paths: not for clients.
    pub detail: String,
}

/// Kinds of trouble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TroubleKind {
    /// The queue to the storage is full.
    Busy,
    /// The disk, or the size allowed to the database, is full.
    Full,
    /// The disk is read-only or not permitted.
    ReadOnly,
    /// Reading or writing failed.
    Io,
    /// The database is not reachable.
    Away,
    /// Another writer was faster. The store tries again by itself and gives up after a bounded number of times.
    Contended,
    /// What is stored cannot be understood, or contradicts itself. Trying again won't help.
    Corrupt,
    /// What was asked took longer than it may.
    Overdue,
    /// The store is being closed.
    Closed,
}

impl Failure {
    /// What clients see as `code`.
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
    /// What clients see as `code`.
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
    /// What clients see as `code`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NameTaken => "name_taken",
            Self::ClientIdReused => "client_id_reused",
            Self::Deleted => "deleted",
            Self::LastOwner => "last_owner",
        }
    }
}

impl TroubleKind {
    /// What clients see as `code`: where the server is at fault, only whether trying again may help.
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

    /// Whether what was to be written may be there all the same: a sync or a connection failed while it was committed.
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

impl Trouble {
    /// Of that kind.
    pub fn new(kind: TroubleKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
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
            Self::Blocked => f.write_str("one of the two has blocked the other"),
            Self::LimitReached { limit, max } => write!(f, "at most {max} ({limit})"),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameTaken => "the name is taken",
            Self::ClientIdReused => "another message was sent under this client id",
            Self::Deleted => "the message was deleted",
            Self::LastOwner => "the last owner has to make somebody else owner first",
        })
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.noun(), self.detail)
    }
}

impl TroubleKind {
    const fn noun(self) -> &'static str {
        match self {
            Self::Busy => "the store has too much to do",
            Self::Full => "the disk is full",
            Self::ReadOnly => "the store cannot be written",
            Self::Io => "the store cannot be read or written",
            Self::Away => "the database is not reachable",
            Self::Contended => "other writers were faster, again and again",
            Self::Corrupt => "what is stored cannot be understood",
            Self::Overdue => "it took longer than it may",
            Self::Closed => "the store is being closed",
        }
    }
}

impl std::error::Error for Failure {}
impl std::error::Error for Trouble {}
