//! Messages to send, who is expected to receive them, and what to wait for.

use std::sync::Arc;
use std::time::Duration;

use crate::scenario::template::Template;

/// A Phoenix push.
#[derive(Clone, Debug)]
pub struct Push {
    /// Topic, which must have been joined.
    pub topic: Template,
    /// Event name.
    pub event: Template,
    /// JSON, or the bytes of a binary push.
    pub body: Body,
    /// Whether it is a binary push (V2 only).
    pub binary: bool,
    /// How long to wait for the reply; `None` does not wait.
    pub reply: Option<Duration>,
    /// Who is expected to receive it.
    pub audience: Audience,
}

/// A plain message.
#[derive(Clone, Debug)]
pub struct Send {
    /// Whether it is a binary message.
    pub binary: bool,
    /// Payload.
    pub body: Body,
    /// Who is expected to receive it.
    pub audience: Audience,
}

/// The payload of a message.
#[derive(Clone, Debug)]
pub enum Body {
    /// Text; a stamp in it (see [`crate::ledger`]) lets receivers identify the message, its sender and its times.
    Template(Template),
    /// The 17 bytes of the C10K test: `ping:` and the send time as three 32-bit big-endian integers (megaseconds,
    /// seconds, microseconds). Its echo is recognised by these bytes.
    C10kPing,
}

/// Who is expected to receive a message, which decides whether a missing message counts as lost.
#[derive(Clone, PartialEq, Debug)]
pub enum Audience {
    /// Nobody in particular: the message counts as sent, and whatever comes back counts only as received.
    Nobody,
    /// The sender itself, once (an echo).
    Echo,
    /// All members of the sender's room at the time of sending.
    Room,
}

/// Waits for incoming messages.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The messages that count.
    pub until: Matcher,
    /// How many must arrive.
    pub count: u32,
    /// The limit after which the step has failed.
    pub timeout: Duration,
    /// Whether a failed wait ends the session.
    pub required: bool,
}

/// What an incoming message must match; every field that is set must match.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    /// Phoenix topic.
    pub topic: Option<Template>,
    /// Phoenix event.
    pub event: Option<Template>,
    /// A substring of the message's text or payload.
    pub contains: Option<Template>,
    /// A regular expression for the message's text or payload.
    pub regex: Option<Arc<regex::Regex>>,
    /// Matches only the echo of a stamped message of the user's own.
    pub own_echo: bool,
}
