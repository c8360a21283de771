//! A chat client in a terminal or in line mode: one connection, no load.
//!
//! [`Session`] is a user's membership in a room, reports to its owner with [`Event`]s, and knows no terminal; `screen`
//! and `lines` display it. It supports two kinds of servers: Phoenix Channels, and servers that have a room behind each
//! path and relay what they receive, as JSON or text.
//!
//! `messenger` is a separate client, for the stored rooms of Throng's messenger and related features.

mod address;
mod conversation;
mod error;
mod input;
mod lines;
mod link;
mod messenger;
mod options;
mod phoenix;
mod plain;
mod screen;
mod session;
mod transcript;

use std::io::{self, IsTerminal};

use crate::live::terminal;
pub use address::BadAddress;
pub use conversation::Event;
pub use error::ChatError;
use messenger::{Form, Place};
pub use options::{Options, Token};
pub use session::{Session, SessionError};

/// Maximum length of a name, in characters; Throng's limit.
pub const NAME_CHARS_MAX: usize = 64;

/// Returns whether a URL and a topic identify a room of the messenger, whether or not its name is valid.
#[must_use]
pub fn is_messenger_room(url: &str, topic: Option<&str>) -> bool {
    Place::parse(url, topic).is_some()
}

/// Chats until the user quits: in full-screen mode if standard input and output are a terminal, otherwise in line mode.
///
/// # Errors
/// See [`ChatError`].
pub fn run(options: Options) -> Result<(), ChatError> {
    let on_screen = io::stdin().is_terminal() && terminal::is_possible();
    if let Some(found) = Place::parse(&options.url, options.topic.as_deref()) {
        let (place, in_url) = found.map_err(|error| ChatError::Session(SessionError::Address(error)))?;
        let token = options.token.clone().map(Token::into_text).or(in_url);
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
