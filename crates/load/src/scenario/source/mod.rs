//! A scenario as written: the types of the YAML format, without positions and without meaning.
//!
//! A program can build a [`Scenario`] as well and print it ([`Scenario::to_yaml`]); what is read back is the same.
//! What the texts in it mean (templates, conditions, thresholds) is checked by [`Scenario::compile`].

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

/// A load test scenario: which users arrive when, where they connect, and what they do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Name, used as the heading of the report; by default the name of the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Description for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Constants with their defaults: `${name}` in any value is replaced by one, and `--set name=value` overrides
    /// it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Constant>,
    /// Seed of the random numbers; the same seed plays the same users.
    pub seed: u64,
    /// The server: `ws://host:port/path` or `wss://…`, `http://…`, `https://…`. Use this or `targets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Several servers, drawn by weight. Use this or `target`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// Source addresses of the users, used in turn: `10.0.0.5`, `127.0.0.1-127.0.0.20`, `10.0.0.0/28`, or `machine`
    /// for all addresses of the machine.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub source_addresses: Many<String>,
    /// First and last source port, such as `1025-65535`. By default the kernel chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<String>,
    /// TLS trust settings.
    #[serde(skip_serializing_if = "Tls::is_default")]
    pub tls: Tls,
    /// Phases of arrivals, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// How many times all phases are played.
    #[serde(skip_serializing_if = "is_one")]
    pub rounds: u32,
    /// Maximum duration of the run, even if users are still active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// CSV files with values for the users.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub feeders: BTreeMap<String, Feeder>,
    /// Sessions of the users, drawn by weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
    /// Conditions for exit status 0, such as `p99 < 100ms` or `errors == 0`.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub thresholds: Many<String>,
    /// How long to wait for messages in flight at the end of the run.
    pub drain: Time,
    /// Whether to write an event log, with a line for each event.
    #[serde(skip_serializing_if = "is_true")]
    pub event_log: bool,
    /// Limits of one user.
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
    /// Readable YAML, which reads back as the same scenario.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
        let yaml = serde_saphyr::to_string_with_options(self, options)
            .expect("a scenario can only have text keys and finite values");
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
    /// Share of the users, relative to the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
}

/// TLS trust settings.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// PEM file with additional certificate authorities, relative to the folder of the scenario.
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

/// Limits of one user.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum bytes of an incoming message (16MiB by default); the connection is closed with 1009 beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Size>,
    /// Bytes of an HTTP response body that are kept for captures (1MiB by default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Size>,
}

impl Limits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A CSV file whose first line has the names of the columns; `{{feeder.column}}` is the value for a user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feeder {
    /// Path of the file, relative to the folder of the scenario.
    pub file: String,
    /// Rows in order (starting again after the last), or random rows.
    #[serde(default, skip_serializing_if = "Order::is_default")]
    pub order: Order,
    /// Separator of the columns.
    #[serde(default = "comma", skip_serializing_if = "is_comma")]
    pub separator: char,
    /// Names of the columns, if the first line of the file is already a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// Order of the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// In order, over all users.
    #[default]
    Sequential,
    /// At random.
    Random,
}

impl Order {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a user does from its arrival to its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Name, shown in reports.
    pub name: String,
    /// Share of the users, relative to the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A constant's value: any scalar, as written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constant(pub String);

impl JsonSchema for Constant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Constant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number", "boolean"],
            "description": "Default of a constant."
        })
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
