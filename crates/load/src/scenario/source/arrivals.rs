//! Phases in their written form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_false;
use super::scalar::{Rate, Time};

/// A part of the run with one kind of arrivals: exactly one of `rate`, `ramp`, `poisson`, `burst`, `users` and
/// `pause`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// Name, shown during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Duration of the phase, even if its last user has already arrived. By default it ends when its last user has
    /// arrived (with `users`: finished).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Open model, evenly spaced: users per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Open model, from one rate to another over the duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Ramp>,
    /// Open model, independent arrivals: mean users per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Rate>,
    /// This many users at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
    /// Closed model: this many users, each of which starts a new session when it has finished one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// No arrivals for this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Time>,
    /// With `users`: number of sessions of each user; by default until the end of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// With `users`: their starts are spread evenly over this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Time>,
    /// Maximum number of users in this phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_users: Option<u64>,
    /// Whether the next phase waits until all users have finished.
    #[serde(skip_serializing_if = "is_false")]
    pub wait_for_users: bool,
    /// Weights of the sessions in this phase, by name, replacing their own; sessions not listed have weight 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// Rates at the start and end of a phase.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// Rate at the start.
    pub from: Rate,
    /// Rate at the end.
    pub to: Rate,
}

impl Phase {
    /// Returns a phase with evenly spaced arrivals at this rate.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self { rate: Some(rate), ..Self::default() }
    }

    /// Returns a phase in which all users arrive at once.
    #[must_use]
    pub fn burst(users: u64) -> Self {
        Self { burst: Some(users), ..Self::default() }
    }

    /// Returns a phase with a fixed number of concurrent users.
    #[must_use]
    pub fn closed(users: u64) -> Self {
        Self { users: Some(users), ..Self::default() }
    }
}
