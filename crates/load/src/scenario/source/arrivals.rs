//! Phases in their written form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_false;
use super::scalar::{Rate, Time};

/// A part of the run with one way of arriving: exactly one of `rate`, `ramp`, `poisson`, `burst`, `users` and `pause`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How long it lasts, even when its last user has come already. Left out: until its last user has come (or
    /// finished, with `users`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Open model, evenly spaced: users per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Open model, from one rate to another over the duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Ramp>,
    /// Open model, independent of each other: mean users per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Rate>,
    /// So many users at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
    /// Closed model: so many users, each starting its session anew when it has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Nobody comes for so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Time>,
    /// With `users`: how many sessions each does; left out, until the end of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// With `users`: they start evenly over so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Time>,
    /// At most so many users in this phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_users: Option<u64>,
    /// Whether the next phase waits until all users have finished.
    #[serde(skip_serializing_if = "is_false")]
    pub wait_for_users: bool,
    /// Weights of the sessions in this phase instead of their own, by name; a session that is not named has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// Rates at both ends of a phase.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// At its beginning.
    pub from: Rate,
    /// At its end.
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
