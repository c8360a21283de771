//! The options of a chat.

use std::fmt;

use crate::scenario::plan::TlsTrust;

/// Which room to join, and as whom.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// `ws://host:port/ROOM`, a Phoenix socket such as `ws://127.0.0.1:4000/socket/websocket`, or the page of a stored
    /// room such as `http://127.0.0.1:4000/c/default/r/lobby`; also with `wss` and `https`.
    pub url: String,
    /// The user's display name; `None` is the user name on this machine.
    pub name: Option<String>,
    /// Topic on a Phoenix server; setting it implies that the server speaks Phoenix. A URL whose path ends in
    /// `/websocket` defaults to `rooms:lobby`; `room:COMMUNITY/ROOM` is a stored room.
    pub topic: Option<String>,
    /// For servers with rooms by URL: sends plain text instead of a JSON object with `name` and `body`.
    pub plain_text: bool,
    /// In the messenger: the host site's token, or a guest's. It takes precedence over the one in a URL's fragment.
    pub token: Option<Token>,
    /// In the messenger's line mode: writes every event as a JSON object per line.
    pub json: bool,
    /// Which certificates TLS accepts, as in a run: those of the system's authorities and of a file, or any.
    pub trust: TlsTrust,
}

/// An authentication token; it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a token; surrounding whitespace is removed.
    pub fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// Returns the token itself, for sending it to a server.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
