//! What a community's own site is asked.

use identity::AuthorizerCounts;
use messenger::AuthorizerKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An action that the community's site can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AskedAction {
    /// Connecting.
    Connect,
    /// Joining a room or group.
    Join,
    /// Sending, editing and reacting to messages.
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

/// What applies if the site does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unanswered {
    /// The action is refused.
    #[default]
    Refuse,
    /// The action is allowed, as if the site had not been asked.
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

/// The settings of a new authorizer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAuthorizer {
    /// The URL that is asked; begins with `https://`.
    #[schemars(length(max = 2048), example = &"https://example.org/may")]
    pub(crate) url: String,
    /// The actions that the site is asked about.
    #[schemars(length(min = 1, max = 3))]
    pub(crate) actions: Vec<AskedAction>,
    /// What applies if the site does not answer; default: `refuse`.
    #[serde(default)]
    pub(crate) unanswered: Unanswered,
    /// The timeout of a request in milliseconds; default: 3000.
    #[serde(default)]
    #[schemars(range(min = 100, max = 10_000))]
    pub(crate) timeout_ms: Option<u16>,
}

/// An authorizer: the endpoint of the community's site that decides whether a person may connect, join or send.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Authorizer {
    /// The URL that is asked.
    url: String,
    /// The actions that the site is asked about.
    actions: Vec<AskedAction>,
    /// What applies if the site does not answer.
    unanswered: Unanswered,
    /// The timeout of a request in milliseconds.
    timeout_ms: u64,
    /// What this server has asked since it loaded these settings.
    asked: Asked,
    /// The secret that signs requests (Standard Webhooks). Only present in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Counts of questions to the community's site.
#[derive(Default, Serialize, JsonSchema)]
struct Asked {
    /// Requests sent.
    requests: u64,
    /// Requests that failed, timed out or had an invalid response.
    failures: u64,
    /// Questions answered from the cache.
    remembered: u64,
    /// Questions not sent, because requests are paused after failures or too many were in progress.
    unasked: u64,
    /// Whether requests to the site are paused now, after failures.
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
