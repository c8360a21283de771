//! The question to a host site, and its answer.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

/// What a person wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Connect at all. The object is the community.
    Connect,
    /// Join a topic.
    Join,
    /// Send to a topic.
    Send,
}

impl Action {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Action::Connect => "connect",
            Action::Join => "join",
            Action::Send => "send",
        }
    }
}

/// Whether a person may do something with an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    /// The community's id.
    pub community: String,
    /// `sub`.
    pub person: String,
    /// The action.
    pub action: Action,
    /// The object of the action: a topic, or the community.
    pub object: String,
}

impl Question {
    /// Serializes the request's body.
    pub(super) fn write(&self) -> String {
        json!({
            "community": self.community,
            "person": self.person,
            "action": self.action.name(),
            "object": self.object,
        })
        .to_string()
    }
}

/// The host site's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the person may.
    pub allow: bool,
    /// The reason for a refusal, for the client.
    pub reason: Option<String>,
    /// How long the answer may be cached.
    pub ttl: Duration,
}

/// Maximum length of a reason, in characters; longer ones are truncated.
const REASON_CHARS_MAX: usize = 200;

#[derive(Deserialize)]
struct Written {
    allow: bool,
    reason: Option<String>,
    /// Seconds.
    ttl: Option<u64>,
}

impl Answer {
    /// Parses an answer: `{"allow": true, "ttl": 60}` or `{"allow": false, "reason": "…"}`. Without `ttl` it is not
    /// cached.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        let Written { allow, reason, ttl } = serde_json::from_slice(json).map_err(|_| {
            r#"the response is not of the form {"allow": true or false, "ttl": seconds, "reason": "text"}"#
                .to_owned()
        })?;
        let plain =
            |reason: String| reason.chars().filter(|c| !c.is_control()).take(REASON_CHARS_MAX).collect();
        Ok(Answer { allow, reason: reason.map(plain), ttl: Duration::from_secs(ttl.unwrap_or(0)) })
    }
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host site allows it.
    Allowed,
    /// The host site did not answer, and is configured to fail open ([`super::Failing::Open`]).
    AllowedUnasked,
    /// The host site forbids it.
    Denied {
        /// The reason in the host site's words, for the client.
        reason: Option<String>,
    },
    /// The host site did not answer: the client should retry later ([`super::Failing::Closed`]).
    Unavailable,
}

impl Verdict {
    /// Whether the person may.
    pub fn is_allowed(&self) -> bool {
        match self {
            Verdict::Allowed | Verdict::AllowedUnasked => true,
            Verdict::Denied { .. } | Verdict::Unavailable => false,
        }
    }
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        if answer.allow { Verdict::Allowed } else { Verdict::Denied { reason: answer.reason } }
    }
}
