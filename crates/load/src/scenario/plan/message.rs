//! What is said, who is expected to get it, and what is waited for.

use std::sync::Arc;
use std::time::Duration;

use crate::scenario::template::Template;

/// A Phoenix push.
#[derive(Clone, Debug)]
pub struct Push {
    /// Topic, which must be joined.
    pub topic: Template,
    /// Event.
    pub event: Template,
    /// JSON, or the bytes of a binary push.
    pub body: Body,
    /// Whether it is a binary push (V2 only).
    pub binary: bool,
    /// Wait so long for the reply; `None` does not wait.
    pub reply: Option<Duration>,
    /// Who gets it.
    pub audience: Audience,
}

/// A plain message.
#[derive(Clone, Debug)]
pub struct Send {
    /// Text or binary.
    pub binary: bool,
    /// What.
    pub body: Body,
    /// Who gets it.
    pub audience: Audience,
}

/// What a message carries.
#[derive(Clone, Debug)]
pub enum Body {
    /// Text; a stamp in it (see [`crate::ledger`]) lets whoever receives it tell message, sender and times.
    Template(Template),
    /// The C10K test's 17 bytes: `ping:` and the send time as three 32-bit big-endian integers (megaseconds, seconds,
    /// microseconds). Its echo is told by these bytes.
    C10kPing,
}

/// Who is expected to get a message: what makes a message that did not come a lost one.
#[derive(Clone, PartialEq, Debug)]
pub enum Audience {
    /// Nobody in particular: counted as sent, and whatever comes back is just received.
    Nobody,
    /// The sender itself, once: an echo.
    Echo,
    /// All members of the room that the user is in at the time.
    Room,
}

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Wait {
    /// What ends the wait.
    pub until: Matcher,
    /// So many times.
    pub count: u32,
    /// Afterwards the step has failed.
    pub timeout: Duration,
    /// Whether a failed wait ends the session.
    pub required: bool,
}

/// What an incoming message must be like; all that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    /// Phoenix: topic.
    pub topic: Option<Template>,
    /// Phoenix: event.
    pub event: Option<Template>,
    /// Somewhere in the message's text or payload.
    pub contains: Option<Template>,
    /// Matches the message's text or payload.
    pub regex: Option<Arc<regex::Regex>>,
    /// A stamped message of the user's own: its echo.
    pub own_echo: bool,
}
