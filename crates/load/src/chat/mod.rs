//! A chat client for a person, in a terminal or on plain lines.

use std::fmt;

/// Whom to talk to, and as whom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// `ws://host:port/ROOM` or a Phoenix socket such as `ws://127.0.0.1:4000/socket/websocket`; `wss` likewise.
    pub url: String,
    /// How others see the person.
    pub name: String,
    /// Topic of a Phoenix server; also says that the server is one.
    pub topic: Option<String>,
}

/// Why a chat ended otherwise than by the person's wish.
#[derive(Debug)]
pub enum ChatError {
    /// The terminal, or standard input or output, failed.
    Terminal(std::io::Error),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChatError::Terminal(error) => write!(f, "the terminal failed: {error}"),
        }
    }
}

impl std::error::Error for ChatError {}
