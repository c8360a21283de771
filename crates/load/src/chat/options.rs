//! What a person asks for who begins to chat.

use std::fmt;

use crate::scenario::plan::TlsTrust;

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

    /// The token itself, for who shows it to a server.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
