//! What can be known of a server under test before the run: from outside and, on the same machine, from inside.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading::Reading;

/// What is known of one server. What was not asked for says so.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Whether it is reached by TLS.
    pub tls: bool,
    /// What its name stands for.
    pub resolution: Reading<Resolution>,
    /// How long the TCP connect to its first address took, in microseconds.
    pub connect_us: Reading<u64>,
    /// How it answers `GET /`.
    pub http: Reading<HttpAnswer>,
    /// Its process; `None` when no id was given.
    pub process: Option<Reading<ProcessFacts>>,
    /// Figures of its metrics page by name; `None` when no URL was given.
    pub metrics: Option<Reading<Vec<(String, f64)>>>,
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Addresses in the order given; the first is used. At least one.
    pub addresses: Vec<IpAddr>,
    /// How long it took, in microseconds.
    pub time_us: u64,
}

/// How a server answers a plain request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HttpAnswer {
    /// Status.
    pub status: u16,
    /// The `Server` header, where there is one.
    pub server: Option<String>,
}

/// A server's process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Process id.
    pub pid: u32,
    /// Name.
    pub name: String,
    /// Resident memory, in bytes.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Descriptors open in its main table; not known where that is not allowed.
    pub descriptors: Reading<u64>,
    /// Its descriptor limit in force, per table.
    pub descriptor_limit: Reading<Option<u64>>,
}

impl TargetFacts {
    /// Returns the address that connections go to.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.resolution.known().and_then(|resolution| resolution.addresses.first()).copied()
    }

    /// Returns host and port as people write them.
    #[must_use]
    pub fn title(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}{}", self.port, if self.tls { " (TLS)" } else { "" })
    }
}
