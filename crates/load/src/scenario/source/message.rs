//! Steps that send messages and wait for them, in their written form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::is_ten_seconds;
use super::drawn::Sizes;
use super::scalar::Time;
use super::{is_false, is_true};

/// Phoenix: joins a topic and waits for the reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Topic; it is the room of the messages that follow on it.
    pub topic: String,
    /// JSON, written as YAML or as text; `{}` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// For the reply.
    #[serde(default = "ten_seconds", skip_serializing_if = "is_ten_seconds")]
    pub timeout: Time,
    /// Whether the user gets its own messages on this topic back.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub echo: bool,
    /// Keeps a list of who is present and reports its size.
    #[serde(default, skip_serializing_if = "is_false")]
    pub presence: bool,
    /// The topic is recoverable: while it reconnects the user stays a member, and when it joins again it is given what it
    /// missed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recover: bool,
}

impl Join {
    /// Returns a join with an empty payload.
    #[must_use]
    pub fn topic(topic: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            payload: None,
            timeout: ten_seconds(),
            echo: true,
            presence: false,
            recover: false,
        }
    }
}

/// Phoenix: leaves a topic and waits for the reply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// Topic.
    pub topic: String,
}

/// Phoenix: pushes an event to a joined topic, with at most one of `payload`, `binary` and `size`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Topic.
    pub topic: String,
    /// Event.
    pub event: String,
    /// JSON, written as YAML or as text; `{}` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Bytes of a binary push (V2 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// A payload `{"body": "…"}` of so many bytes, with a stamp in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// Waits so long for the reply; left out, does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Time>,
    /// Who gets it.
    #[serde(default, skip_serializing_if = "Audience::is_nobody")]
    pub audience: Audience,
}

/// Sends one WebSocket message: exactly one of `text`, `binary`, `json`, `size` and `c10k_ping`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Send {
    /// A text message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A binary message with the bytes of this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// A text message with this as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Filler of so many bytes; with an audience, it begins with a stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// The C10K test's 17 bytes with the send time, as a binary message.
    #[serde(skip_serializing_if = "is_false")]
    pub c10k_ping: bool,
    /// Text or binary frame, where it is not what the content's name says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// Who gets it.
    #[serde(skip_serializing_if = "Audience::is_nobody")]
    pub audience: Audience,
}

/// Type of a WebSocket message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// Text.
    Text,
    /// Binary.
    Binary,
}

/// Who is expected to get a message: what makes one that did not come a lost one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Nobody in particular: whatever comes back is just received.
    #[default]
    Nobody,
    /// The sender itself, once.
    Echo,
    /// All members of the room.
    Room,
}

impl Audience {
    fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }
}

/// Waits for a message that is like all that is given; without any of it, for any message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wait {
    /// Phoenix: its event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Phoenix: its topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Somewhere in its text or payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Matches its text or payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// A stamped message of the user's own.
    #[serde(skip_serializing_if = "is_false")]
    pub echo: bool,
    /// So many of them.
    #[serde(skip_serializing_if = "super::is_one")]
    pub count: u32,
    /// Afterwards the step has failed.
    #[serde(skip_serializing_if = "is_ten_seconds")]
    pub timeout: Time,
    /// Whether a failed wait ends the session.
    #[serde(skip_serializing_if = "is_true")]
    pub required: bool,
}

impl Default for Wait {
    fn default() -> Self {
        Self {
            event: None,
            topic: None,
            contains: None,
            regex: None,
            echo: false,
            count: 1,
            timeout: ten_seconds(),
            required: true,
        }
    }
}

fn ten_seconds() -> Time {
    Time::seconds(10)
}

fn yes() -> bool {
    true
}
