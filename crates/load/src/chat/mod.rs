//! A chat client for a person, in a terminal or on plain lines: one connection, no load.
//!
//! [`Session`] is the place in the room, told to its owner as [`Event`]s, and knows no terminal; `screen` and `lines`
//! show it. It speaks to two kinds of servers: Phoenix Channels, and those that have a room behind each path and pass
//! on what they get, as JSON or as text.

mod address;
mod conversation;
mod input;
mod lines;
mod link;
mod phoenix;
mod plain;
mod screen;
mod session;
mod transcript;

use std::fmt;
use std::io::{self, IsTerminal};

use crate::live::terminal;
use crate::scenario::plan::TlsTrust;
pub use address::BadAddress;
pub use conversation::Event;
pub use session::{Session, SessionError};

/// How long a name may be, in characters; what Throng allows.
pub const NAME_CHARS_MAX: usize = 64;

/// Whom to talk to, and as whom.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// `ws://host:port/ROOM`, or a Phoenix socket such as `ws://127.0.0.1:4000/socket/websocket`; `wss` likewise.
    pub url: String,
    /// How others see the person; `None` is the user's name on this machine.
    pub name: Option<String>,
    /// Topic on a Phoenix server, which the server then is taken for. A URL whose path ends in `/websocket` means
    /// `rooms:lobby` without it.
    pub topic: Option<String>,
    /// Sends to servers with rooms by URL the text as typed instead of a JSON object with `name` and `body`.
    pub plain_text: bool,
    /// Whom TLS trusts, as in a run: the system's authorities and those of a file, or anybody.
    pub trust: TlsTrust,
}

/// Why a chat ended otherwise than by the person's wish.
#[derive(Debug)]
pub enum ChatError {
    /// The session could not begin.
    Session(SessionError),
    /// On plain lines: the server could not be reached, again and again; the last reason.
    GaveUp(String),
    /// The terminal, or standard input or output, failed.
    Terminal(io::Error),
}

/// Talks until the person has enough: on the whole terminal where standard input and output are one, else line by line.
///
/// # Errors
/// See [`ChatError`].
pub fn run(options: Options) -> Result<(), ChatError> {
    let on_screen = io::stdin().is_terminal() && terminal::is_possible();
    let session = Session::begin(options).map_err(ChatError::Session)?;
    if on_screen { screen::run(session).map_err(ChatError::Terminal) } else { lines::run(session) }
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChatError::Session(error) => error.fmt(f),
            ChatError::GaveUp(reason) => write!(f, "gave up: {reason}"),
            ChatError::Terminal(error) => write!(f, "the terminal failed: {error}"),
        }
    }
}

impl std::error::Error for ChatError {}
