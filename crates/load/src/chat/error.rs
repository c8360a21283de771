//! Why a chat ended.

use std::fmt;
use std::io;

use super::session::SessionError;

/// Why a chat ended other than at the user's request.
#[derive(Debug)]
pub enum ChatError {
    /// The session could not begin.
    Session(SessionError),
    /// In line mode: the server could not be reached in several attempts; holds the last reason.
    GaveUp(String),
    /// In the messenger: the user is not admitted, and a retry would not help; holds the reason.
    NotLetIn(String),
    /// In line mode: the number of lines that failed; each was reported when it failed.
    Refused(u64),
    /// A flag that only applies to the messenger was given for another kind of room.
    OnlyMessenger(&'static str),
    /// An I/O error of the terminal or of standard input or output.
    Terminal(io::Error),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChatError::Session(error) => error.fmt(f),
            ChatError::GaveUp(reason) => write!(f, "gave up: {reason}"),
            ChatError::NotLetIn(reason) => f.write_str(reason),
            ChatError::Refused(1) => f.write_str("a line failed"),
            ChatError::Refused(lines) => write!(f, "{lines} lines failed"),
            ChatError::OnlyMessenger(flag) => {
                write!(f, "chat: {flag} requires a stored room (…/c/COMMUNITY/r/ROOM) or --load")
            }
            ChatError::Terminal(error) => write!(f, "terminal error: {error}"),
        }
    }
}

impl std::error::Error for ChatError {}
