//! What a community's own site is asked.

use identity::AuthorizerCounts;
use messenger::AuthorizerKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a site can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AskedAction {
    /// Coming in at all.
    Connect,
    /// Coming into a room or group.
    Join,
    /// Sending, editing, and reacting to messages.
    Send,
}

impl From<AskedAction> for messenger::AskedAction {
    fn from(action: AskedAction) -> Self {
        match action {
            AskedAction::Connect => Self::Connect,
            AskedAction::Join => Self::Join,
            AskedAction::Send => Self::Send,
        }
    }
}

impl From<messenger::AskedAction> for AskedAction {
    fn from(action: messenger::AskedAction) -> Self {
        match action {
            messenger::AskedAction::Connect => Self::Connect,
            messenger::AskedAction::Join => Self::Join,
            messenger::AskedAction::Send => Self::Send,
        }
    }
}

/// What counts when a site does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unanswered {
    /// Nobody may.
    #[default]
    Refuse,
    /// Everybody may, as if it was not asked.
    Allow,
}

impl From<Unanswered> for messenger::Unanswered {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Refuse => Self::Refuse,
            Unanswered::Allow => Self::Allow,
        }
    }
}

impl From<messenger::Unanswered> for Unanswered {
    fn from(unanswered: messenger::Unanswered) -> Self {
        match unanswered {
            messenger::Unanswered::Refuse => Self::Refuse,
            messenger::Unanswered::Allow => Self::Allow,
        }
    }
}

/// How a site is to be asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAuthorizer {
    /// Where; begins with `https://`.
    #[schemars(length(max = 2048), example = &"https://example.org/may")]
    pub(crate) url: String,
    /// What it is asked about.
    #[schemars(length(min = 1, max = 3))]
    pub(crate) actions: Vec<AskedAction>,
    /// What counts when it does not answer; absent: nobody may.
    #[serde(default)]
    pub(crate) unanswered: Unanswered,
    /// How long an answer may take; absent: 3 seconds.
    #[serde(default)]
    #[schemars(range(min = 100, max = 10_000))]
    pub(crate) timeout_ms: Option<u16>,
}

/// How a site is asked.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Authorizer {
    /// Where.
    url: String,
    /// What it is asked about.
    actions: Vec<AskedAction>,
    /// What counts when it does not answer.
    unanswered: Unanswered,
    /// How long an answer may take.
    timeout_ms: u64,
    /// What this server asked since it read these settings.
    asked: Asked,
    /// What questions are signed with (Standard Webhooks): told this once, in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// What was asked.
#[derive(Default, Serialize, JsonSchema)]
struct Asked {
    /// Requests.
    requests: u64,
    /// Requests without a proper answer in time.
    failures: u64,
    /// Questions that were answered from memory.
    remembered: u64,
    /// Questions that were not asked, because the site is left alone or too many were under way.
    unasked: u64,
    /// Whether the site is left alone now.
    left_alone: bool,
}

impl From<AuthorizerCounts> for Asked {
    fn from(counts: AuthorizerCounts) -> Self {
        let AuthorizerCounts { requests, failures, remembered, unasked, left_alone, .. } = counts;
        Self { requests, failures, remembered, unasked, left_alone }
    }
}

impl Authorizer {
    /// Creates it from the stored key.
    pub(crate) fn of(key: AuthorizerKey, counts: Option<AuthorizerCounts>) -> Self {
        let AuthorizerKey { url, secret: _, actions, unanswered, timeout_ms } = key;
        let actions = actions.into_iter().map(AskedAction::from).collect();
        let asked = counts.map(Asked::from).unwrap_or_default();
        Self { url, actions, unanswered: unanswered.into(), timeout_ms, asked, secret: None }
    }

    /// Adds the secret, which was just created.
    pub(crate) fn with_secret(self, secret: String) -> Self {
        Self { secret: Some(secret), ..self }
    }
}
