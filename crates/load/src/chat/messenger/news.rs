//! What the owner of a client hears.

use std::time::Duration;

use serde_json::Value;

use crate::chat::messenger::payload::Message;

/// Something to show. Texts are as the server sent them, control characters included.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum News {
    /// An attempt to reach the server begins.
    Connecting,
    /// One is in, for the first time or again.
    Joined,
    /// Another conversation is shown now.
    Opened {
        conversation: String,
    },
    /// A message, at its turn; one's own too.
    Said(Message),
    /// A message is otherwise now.
    Changed {
        message: Message,
        change: Change,
    },
    /// Places that this client will not bring: too many were missed, or they are not kept any more.
    Skipped {
        conversation: String,
        from: u64,
        to: u64,
    },
    /// Messages that were asked for.
    Page {
        title: String,
        messages: Vec<Message>,
        more: bool,
    },
    /// How much is unread somewhere.
    Unread {
        conversation: String,
    },
    Presence {
        person: String,
        status: String,
    },
    /// Somebody is a member now, or no more.
    Member {
        conversation: String,
        person: String,
        is_in: bool,
    },
    Typing {
        conversation: String,
        person: String,
        on: bool,
    },
    /// One's own message is stored.
    Stored {
        client_id: String,
        conversation: String,
        seq: u64,
    },
    /// One's own message came too soon, and is sent again by itself.
    Held {
        text: String,
        reason: String,
        wait: Duration,
    },
    /// An answer for a person and for a program.
    Told {
        about: &'static str,
        value: Value,
        lines: Vec<String>,
    },
    /// Something happened.
    Note(String),
    /// Something that was typed was not done.
    Refused {
        what: String,
        code: String,
        reason: String,
    },
    /// The connection ended, or there is none.
    Lost {
        reason: String,
        retry_in: Duration,
    },
    /// One cannot come in, and trying again does not help.
    Ended {
        reason: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Edited,
    Deleted,
    Reacted {
        person: String,
        emoji: String,
        on: bool,
    },
    /// Something of these happened while one was away.
    Meanwhile,
}

/// What a step of a client leads to.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Text messages for the server.
    pub(super) send: Vec<String>,
    pub(super) news: Vec<News>,
    /// Path and query of a handshake that is to begin.
    pub(super) open: Option<String>,
    /// Why the connection has to end.
    pub(super) close: Option<String>,
}
