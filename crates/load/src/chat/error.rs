//! Why a chat ended.

use std::fmt;
use std::io;

use super::session::SessionError;

/// Why a chat ended otherwise than by the person's wish.
#[derive(Debug)]
pub enum ChatError {
    /// The session could not begin.
    Session(SessionError),
    /// On plain lines: the server could not be reached, again and again; the last reason.
    GaveUp(String),
    /// In the messenger: one may not come in, and trying again does not help; why.
    NotLetIn(String),
    /// On plain lines: so many of them were not done; each was told when it was refused.
    Refused(u64),
    /// A flag is for the messenger alone, and the URL names another kind of room.
    OnlyMessenger(&'static str),
    /// The terminal, or standard input or output, failed.
    Terminal(io::Error),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChatError::Session(error) => error.fmt(f),
            ChatError::GaveUp(reason) => write!(f, "gave up: {reason}"),
            ChatError::NotLetIn(reason) => f.write_str(reason),
            ChatError::Refused(1) => f.write_str("a line was not done"),
            ChatError::Refused(lines) => write!(f, "{lines} lines were not done"),
            ChatError::OnlyMessenger(flag) => {
                write!(
                    f,
                    "chat: {flag} is for a stored room (…/c/COMMUNITY/r/ROOM), or with --load for a run"
                )
            }
            ChatError::Terminal(error) => write!(f, "the terminal failed: {error}"),
        }
    }
}

impl std::error::Error for ChatError {}
