//! The written form of a scenario: the types of the YAML format, without positions and without interpretation.
//!
//! A program can also build a [`Scenario`] and print it ([`Scenario::to_yaml`]); reading the output gives the same
//! scenario. The texts in it (templates, conditions, thresholds) are interpreted and checked by [`Scenario::compile`].

mod arrivals;
mod connection;
mod drawn;
mod logic;
mod message;
mod named;
mod scalar;
mod step;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use arrivals::{Phase, Ramp};
pub use connection::{Close, Connect, Http, PhoenixVersion};
pub(crate) use drawn::parse_distribution;
pub use drawn::{Numbers, Pause, Sizes};
pub use logic::{Barrier, Branch, Choice, Condition, Expression, Extractor, If, Loop, Operator, Transaction};
pub use message::{Audience, Frame, Join, Leave, Push, Send, Wait};
pub use named::{Many, Named};
pub use scalar::{Heartbeat, InvalidScalar, Rate, ReadRate, Size, TIME_MAX, Time};
pub use step::{Action, Nothing, Scope, Step};

/// A scenario: who comes when, from where to where, and does what.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// What the report is headed with; the file's name if it is left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it is about, for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Constants with their defaults: `${name}` in any value stands for one, and `--set name=value` gives it another
    /// value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Constant>,
    /// The same seed plays the same users.
    pub seed: u64,
    /// The server: `ws://host:port/path` or `wss://…`, `http://…`, `https://…`. This or `targets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Several servers, drawn by weight. This or `target`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// Addresses that the users come from, used in turn: `10.0.0.5`, `127.0.0.1-127.0.0.20`, `10.0.0.0/28`, or
    /// `machine` for all of the machine's own.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub source_addresses: Many<String>,
    /// First and last source port: `1025-65535`. Left out, the kernel chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<String>,
    /// Whom TLS trusts.
    #[serde(skip_serializing_if = "Tls::is_default")]
    pub tls: Tls,
    /// When users come, one phase after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// How many times the phases are gone through.
    #[serde(skip_serializing_if = "is_one")]
    pub rounds: u32,
    /// Ends the run whatever the users are doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// CSV files with values for the users.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub feeders: BTreeMap<String, Feeder>,
    /// What users do, drawn by weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
    /// What must hold for the exit code to be 0: `p99 < 100ms`, `errors == 0`.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub thresholds: Many<String>,
    /// How long the run waits at its end for messages on their way.
    pub drain: Time,
    /// Whether each message leaves a line in the event log.
    #[serde(skip_serializing_if = "is_true")]
    pub event_log: bool,
    /// Bounds of one user.
    #[serde(skip_serializing_if = "Limits::is_default")]
    pub limits: Limits,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: None,
            variables: BTreeMap::new(),
            seed: 1,
            target: None,
            targets: Vec::new(),
            source_addresses: Many::default(),
            ports: None,
            tls: Tls::default(),
            phases: Vec::new(),
            rounds: 1,
            duration: None,
            feeders: BTreeMap::new(),
            sessions: Vec::new(),
            thresholds: Many::default(),
            drain: Time::seconds(5),
            event_log: true,
            limits: Limits::default(),
        }
    }
}

impl Scenario {
    /// Returns the scenario as readable YAML; reading it gives the same scenario.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
        let yaml = serde_saphyr::to_string_with_options(self, options)
            .expect("a scenario has text keys and finite values only");
        // A `${` in a value is literal here; `$${` is its escaped spelling.
        yaml.replace("${", "$${")
    }
}

/// A server under test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `ws://host:port/path` or `wss://…`, `http://…`, `https://…`.
    pub url: String,
    /// Its share of the users by the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
}

/// Whom TLS trusts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// PEM file with further authorities, relative to the scenario's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// Accept any certificate.
    #[serde(skip_serializing_if = "is_false")]
    pub insecure: bool,
}

impl Tls {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Bounds of one user.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of one incoming message (16MiB if left out); beyond it the connection is closed with 1009.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Size>,
    /// Bytes of one HTTP response body that are kept for captures (1MiB if left out).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Size>,
}

impl Limits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A CSV file whose first line names the columns; `{{feeder.column}}` is a user's value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feeder {
    /// Relative to the scenario's folder.
    pub file: String,
    /// One row after the other (from the first again after the last), or random rows.
    #[serde(default, skip_serializing_if = "Order::is_default")]
    pub order: Order,
    /// What separates the columns.
    #[serde(default = "comma", skip_serializing_if = "is_comma")]
    pub separator: char,
    /// Names of the columns where the file's first line is a row already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// In which order rows are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other, over all users.
    #[default]
    Sequential,
    /// Drawn.
    Random,
}

impl Order {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a user does from its arrival until it is gone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Shown in reports.
    pub name: String,
    /// Its share of the users by the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
    /// One after the other.
    pub steps: Vec<Step>,
}

/// The value of a constant: any scalar, as written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constant(pub String);

impl JsonSchema for Constant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Constant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number", "boolean"], "description": "A constant's default." })
    }
}

fn one() -> f64 {
    1.0
}

fn comma() -> char {
    ','
}

fn is_comma(separator: &char) -> bool {
    *separator == ','
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

fn is_one_f64(value: &f64) -> bool {
    *value == 1.0
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !*value
}
