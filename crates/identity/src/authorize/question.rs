//! What is asked, and what is answered.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Come in at all. The object is the community.
    Connect,
    /// Join a topic.
    Join,
    /// Send to a topic.
    Send,
}

impl Action {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Action::Connect => "connect",
            Action::Join => "join",
            Action::Send => "send",
        }
    }
}

/// May this person do that with this?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    /// The community's id.
    pub community: String,
    /// `sub`.
    pub person: String,
    /// What.
    pub action: Action,
    /// With what: a topic, or the community.
    pub object: String,
}

impl Question {
    /// The request's body.
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

/// What the host site answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether they may.
    pub allow: bool,
    /// Why not, for the client.
    pub reason: Option<String>,
    /// How long the same question need not be asked again.
    pub ttl: Duration,
}

/// A reason, in characters; what is longer is cut.
const REASON_CHARS_MAX: usize = 200;

#[derive(Deserialize)]
struct Written {
    allow: bool,
    reason: Option<String>,
    /// Seconds.
    ttl: Option<u64>,
}

impl Answer {
    /// Reads an answer: `{"allow": true, "ttl": 60}` or `{"allow": false, "reason": "…"}`. Without `ttl` it is not
    /// remembered.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        let Written { allow, reason, ttl } = serde_json::from_slice(json).map_err(|_| {
            r#"the answer is not of the form {"allow": true or false, "ttl": seconds, "reason": "text"}"#
                .to_owned()
        })?;
        let plain =
            |reason: String| reason.chars().filter(|c| !c.is_control()).take(REASON_CHARS_MAX).collect();
        Ok(Answer { allow, reason: reason.map(plain), ttl: Duration::from_secs(ttl.unwrap_or(0)) })
    }
}

/// Whether somebody may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host site allows it.
    Allowed,
    /// The host site did not answer, and is configured not to be needed ([`super::Failing::Open`]).
    AllowedUnasked,
    /// The host site forbids it.
    Denied {
        /// Why, in its words, for the client.
        reason: Option<String>,
    },
    /// The host site did not answer: come back later ([`super::Failing::Closed`]).
    Unavailable,
}

impl Verdict {
    /// Whether they may.
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
