//! News for the owner of a client.

use std::time::Duration;

use serde_json::Value;

use crate::chat::messenger::payload::Message;

/// Something to show. Texts are as the server sent them, including control characters.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum News {
    /// An attempt to connect begins.
    Connecting,
    /// The user is logged in, for the first time or again.
    Joined,
    /// Another conversation is now shown.
    Opened {
        conversation: String,
    },
    /// A message, in order; including the user's own.
    Said(Message),
    /// A message has changed.
    Changed {
        message: Message,
        change: Change,
    },
    /// Messages that this client will not fetch: too many were missed, or they are no longer stored.
    Skipped {
        conversation: String,
        from: u64,
        to: u64,
    },
    /// Messages that were requested.
    Page {
        title: String,
        messages: Vec<Message>,
        more: bool,
    },
    /// The unread count of a conversation has changed.
    Unread {
        conversation: String,
    },
    Presence {
        person: String,
        status: String,
    },
    /// Somebody has become a member or has left.
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
    /// The user's own message has been stored.
    Stored {
        client_id: String,
        conversation: String,
        seq: u64,
    },
    /// The user's own message was sent too soon, and will be resent automatically.
    Held {
        text: String,
        reason: String,
        wait: Duration,
    },
    /// An answer, as text and as JSON.
    Told {
        about: &'static str,
        value: Value,
        lines: Vec<String>,
    },
    /// A text notice.
    Note(String),
    /// Something that was typed failed.
    Refused {
        what: String,
        code: String,
        reason: String,
    },
    /// The connection ended or could not be opened.
    Lost {
        reason: String,
        retry_in: Duration,
    },
    /// The user is not admitted, and a retry would not help.
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
    /// A change of unknown kind that happened while the user was disconnected.
    Meanwhile,
}

/// The effects of one step of a client.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Text messages for the server.
    pub(super) send: Vec<String>,
    pub(super) news: Vec<News>,
    /// Path and query for a connection to be opened.
    pub(super) open: Option<String>,
    /// Why the connection must be closed, if it must.
    pub(super) close: Option<String>,
}
