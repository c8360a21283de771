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
    /// Topic, which is the room of the messages on it.
    pub topic: String,
    /// JSON, written as YAML or as text; `{}` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Timeout of the reply.
    #[serde(default = "ten_seconds", skip_serializing_if = "is_ten_seconds")]
    pub timeout: Time,
    /// Whether the user receives its own messages on this topic.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub echo: bool,
    /// Keeps the presence list and reports its size.
    #[serde(default, skip_serializing_if = "is_false")]
    pub presence: bool,
    /// The topic is recoverable: the user stays a member while it reconnects, and receives missed messages when it
    /// joins again.
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
    /// Event name.
    pub event: String,
    /// JSON, written as YAML or as text; `{}` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Bytes of a binary push (V2 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// A payload `{"body": "…"}` of this size, containing a stamp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// Timeout for the reply; by default it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Time>,
    /// Who should receive it.
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
    /// Filler of this size; with an audience, it begins with a stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// The 17 bytes of the C10K test with the send time, as a binary message.
    #[serde(skip_serializing_if = "is_false")]
    pub c10k_ping: bool,
    /// Text or binary frame, if it differs from the type of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// Who should receive it.
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

/// Who should receive a message, which determines whether it counts as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Nobody in particular: anything that comes back is only counted as received.
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

/// Waits for a message that matches all given criteria; without criteria, for any message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wait {
    /// Phoenix: event of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Phoenix: topic of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Text contained in its text or payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Regular expression that matches its text or payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Waits for a stamped message of the user itself.
    #[serde(skip_serializing_if = "is_false")]
    pub echo: bool,
    /// Number of messages.
    #[serde(skip_serializing_if = "super::is_one")]
    pub count: u32,
    /// Timeout, after which the step fails.
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
