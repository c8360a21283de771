//! A chat client for a person, in a terminal or on plain lines: one connection, no load.
//!
//! [`Session`] is the place in the room, told to its owner as [`Event`]s, and knows no terminal; `screen` and `lines`
//! show it. It speaks to two kinds of servers: Phoenix Channels, and those that have a room behind each path and pass
//! on what they get, as JSON or as text.
//!
//! `messenger` is a client of its own, for the stored rooms of Throng's messenger and all that is around them.

mod address;
mod conversation;
mod input;
mod lines;
mod link;
mod messenger;
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
use messenger::{Form, Place};
pub use session::{Session, SessionError};

/// How long a name may be, in characters; what Throng allows.
pub const NAME_CHARS_MAX: usize = 64;

/// Whom to talk to, and as whom.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// `ws://host:port/ROOM`, or a Phoenix socket such as `ws://127.0.0.1:4000/socket/websocket`, or a stored room's page
    /// such as `http://127.0.0.1:4000/c/default/r/lobby`; `wss` and `https` likewise.
    pub url: String,
    /// How others see the person; `None` is the user's name on this machine.
    pub name: Option<String>,
    /// Topic on a Phoenix server, which the server then is taken for. A URL whose path ends in `/websocket` means
    /// `rooms:lobby` without it; `room:COMMUNITY/ROOM` is a stored room.
    pub topic: Option<String>,
    /// Sends to servers with rooms by URL the text as typed instead of a JSON object with `name` and `body`.
    pub plain_text: bool,
    /// In the messenger: the host site's token, or a guest's. It goes before the one in a URL's fragment.
    pub token: Option<Token>,
    /// In the messenger, line by line: everything that happens as an object a line.
    pub json: bool,
    /// Whom TLS trusts, as in a run: the system's authorities and those of a file, or anybody.
    pub trust: TlsTrust,
}

/// A token, which says who somebody is; it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// As it was issued; blanks around it are not part of it.
    pub fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

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

/// Talks until the person has enough: on the whole terminal where standard input and output are one, else line by line.
///
/// # Errors
/// See [`ChatError`].
pub fn run(options: Options) -> Result<(), ChatError> {
    let on_screen = io::stdin().is_terminal() && terminal::is_possible();
    if let Some(found) = Place::parse(&options.url, options.topic.as_deref()) {
        let (place, in_url) = found.map_err(|error| ChatError::Session(SessionError::Address(error)))?;
        let token = options.token.clone().map(|Token(token)| token).or(in_url);
        let form = match (options.json, on_screen) {
            (true, _) => Form::Json,
            (false, true) => Form::Screen,
            (false, false) => Form::Lines,
        };
        return messenger::run(place, token, options, form);
    }
    for (flag, is_given) in [("--json", options.json), ("--token", options.token.is_some())] {
        if is_given {
            return Err(ChatError::OnlyMessenger(flag));
        }
    }
    let session = Session::begin(options).map_err(ChatError::Session)?;
    if on_screen { screen::run(session).map_err(ChatError::Terminal) } else { lines::run(session) }
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
