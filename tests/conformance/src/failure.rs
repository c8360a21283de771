//! Why a step of a case did not go as written.

use std::fmt;
use std::io;

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server did something else than the case says.
    Mismatch {
        /// What the case asks for.
        expected: String,
        /// What came off the wire.
        got: String,
    },
    /// The connection could not be made, read or written.
    Broken {
        /// What was being done.
        doing: String,
        /// The operating system's answer.
        error: io::Error,
    },
    /// The script itself makes no sense: an unknown variable, a frame sent before any connection.
    Script(String),
}

impl Failure {
    /// The server's answer differs from what the case asks for.
    pub(crate) fn mismatch(expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Self::Mismatch { expected: expected.to_string(), got: got.to_string() }
    }

    /// An input or output error while `doing` something.
    pub(crate) fn broken(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |error| Self::Broken { doing, error }
    }

    /// A mistake of the script.
    pub(crate) fn script(what: impl Into<String>) -> Self {
        Self::Script(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { expected, got } => write!(f, "expected: {expected}\n  got:      {got}"),
            Self::Broken { doing, error } => write!(f, "expected: {doing} to succeed\n  got:      {error}"),
            Self::Script(what) => write!(f, "the script is wrong: {what}"),
        }
    }
}

impl std::error::Error for Failure {}
