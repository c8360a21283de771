//! The configuration as meant: every value in its own type.

use super::profile::Profile;
use bus::Address;
use gateway::{Network, OriginRule, Retention, Tables};
use messenger::AddressLimits;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use store::PostgresOptions;

/// The configuration of `throng serve`.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) profile: Profile,
    pub(crate) listen: SocketAddr,
    pub(crate) proxy_protocol: ProxyProtocol,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) data_dir: PathBuf,
    /// `None`: one per core.
    pub(crate) shards: Option<usize>,
    /// `None`: private if more connections are configured than one table holds.
    pub(crate) descriptor_tables: Option<Tables>,
    /// `None`: no administration listener.
    pub(crate) admin_listen: Option<SocketAddr>,
    pub(crate) socket: SocketConfig,
    /// Path of the echo mount, if there is one.
    pub(crate) echo_path: Option<String>,
    pub(crate) tls: Option<TlsConfig>,
    pub(crate) limits: LimitsConfig,
    pub(crate) history: HistoryConfig,
    /// `None`: this is the only node.
    pub(crate) bus: Option<BusConfig>,
    pub(crate) store: StoreConfig,
    /// Networks besides public addresses in which host sites may be.
    pub(crate) sites_networks: Vec<identity::Network>,
    pub(crate) log: LogConfig,
    pub(crate) shutdown: ShutdownConfig,
}

/// Whether connections to a listener begin with a PROXY protocol header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ProxyProtocol {
    Off,
    V2,
}

/// How the server shuts down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShutdownConfig {
    /// How long it reports "not ready" before it begins to close connections.
    pub(crate) notice: Duration,
    /// The minimum time over which connections are closed.
    pub(crate) spread: Duration,
    /// `None`: no limit beyond `spread`.
    pub(crate) closes_per_second: Option<u64>,
}

/// The mount for channels.
#[derive(Clone, Debug)]
pub(crate) struct SocketConfig {
    pub(crate) path: String,
    pub(crate) room_in_path: bool,
    pub(crate) origins: OriginRule,
    pub(crate) lenient_origin: bool,
    pub(crate) auth_token: bool,
    /// `None`: silent connections are not closed.
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) compression: bool,
    pub(crate) frame_bytes: usize,
    pub(crate) channels_max: usize,
    pub(crate) longpoll: bool,
}

/// HTTPS and WebSocket over TLS.
#[derive(Clone, Debug)]
pub(crate) struct TlsConfig {
    pub(crate) listen: SocketAddr,
    pub(crate) proxy_protocol: ProxyProtocol,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Limits on what peers may use.
#[derive(Clone, Debug)]
pub(crate) struct LimitsConfig {
    /// `None`: as many as descriptors allow.
    pub(crate) connections: Option<usize>,
    pub(crate) memory_budget: BudgetSetting,
    pub(crate) http_connections: usize,
    pub(crate) longpoll_sessions: usize,
    pub(crate) connections_per_ip: u32,
    pub(crate) connections_per_second_per_ip: u32,
    pub(crate) of_addresses: AddressLimits,
    /// `None`: no limit.
    pub(crate) connections_per_second: Option<u32>,
    pub(crate) connections_burst: u32,
    pub(crate) tls_refusals_per_second: u32,
    /// `None`: no limit.
    pub(crate) joins_per_second: Option<u32>,
    pub(crate) join_wait: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) header_bytes: usize,
    pub(crate) outbox_bytes: usize,
    pub(crate) mailbox_messages: usize,
    pub(crate) presence_people: usize,
}

/// How much of the machine's memory the server may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BudgetSetting {
    /// What its control group allows; no limit without one.
    Auto,
    /// No limit.
    Off,
    /// This many bytes.
    Bytes(u64),
}

/// How much of their publications topics keep.
#[derive(Clone, Debug)]
pub(crate) struct HistoryConfig {
    /// By pattern; the first match wins.
    pub(crate) topics: Vec<(String, Retention)>,
    pub(crate) memory: usize,
    pub(crate) recovery_messages: usize,
}

/// The bus between nodes.
#[derive(Clone, Debug)]
pub(crate) struct BusConfig {
    /// Topics are distributed over these.
    pub(crate) instances: Vec<Address>,
    /// The address for other nodes. `None`: nothing is forwarded here.
    pub(crate) listen: Option<SocketAddr>,
    /// The address at which they reach it. `None`: `listen` itself, or the local address from which the bus is reached.
    pub(crate) announce: Option<SocketAddr>,
    pub(crate) prefix: String,
    /// `None`: the system's.
    pub(crate) certificate_authority: Option<PathBuf>,
}

/// Where the messenger stores its data.
#[derive(Clone)]
pub(crate) struct StoreConfig {
    /// `None`: a file below the data directory.
    pub(crate) url: Option<String>,
    /// `None`: the system's.
    pub(crate) certificate_authority: Option<PathBuf>,
    /// Size of the read cache, in bytes.
    pub(crate) cache: usize,
}

impl StoreConfig {
    /// Returns the database, if the store is one.
    pub(crate) fn database(&self) -> Option<PostgresOptions> {
        let options = PostgresOptions::new(self.url.as_deref()?);
        Some(PostgresOptions { certificate_authority: self.certificate_authority.clone(), ..options })
    }
}

/// Hides the URL, which may contain a password.
impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConfig")
            .field("url", &self.url.as_ref().map(|_| "…"))
            .field("certificate_authority", &self.certificate_authority)
            .field("cache", &self.cache)
            .finish()
    }
}

/// What is logged, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct LogConfig {
    /// A filter in the syntax of `tracing`'s `EnvFilter`, already checked.
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LogFormat {
    /// For people; with colours on a terminal.
    Text,
    /// One JSON object per line.
    Json,
}
