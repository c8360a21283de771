//! Converts the configuration as written to the one as meant: each value is checked on its own, then against the
//! others.

use super::bus::{Addresses, Prefix};
use super::error::{ConfigError, Place};
use super::histories::Histories;
use super::key::Key;
use super::meant::{
    BudgetSetting, BusConfig, Config, HistoryConfig, LimitsConfig, LogConfig, LogFormat, ProxyProtocol,
    ShutdownConfig, SocketConfig, StoreConfig, TlsConfig,
};
use super::networks::Networks;
use super::origins::Origins;
use super::paths;
use super::profile::Profile;
use super::raw::Raw;
use super::secret::shown;
use super::shape::{
    Address, Boolean, Bytes, DatabaseUrl, File, Folder, MountPath, OneOf, Or, Shape, Text, Time, Whole,
};
use super::written::Written;
use gateway::Tables;
use messenger::AddressLimits;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

const TABLES: OneOf<Tables> = OneOf(&[("shared", Tables::Shared), ("private", Tables::Private)]);
const PROXY_PROTOCOLS: OneOf<ProxyProtocol> =
    OneOf(&[("off", ProxyProtocol::Off), ("v2", ProxyProtocol::V2)]);
const LOG_FORMATS: OneOf<LogFormat> = OneOf(&[("text", LogFormat::Text), ("json", LogFormat::Json)]);

impl Config {
    /// Reads all settings. Mistakes are added to `errors`; the result must not be used if there are any.
    pub(crate) fn from_written(
        written: &mut Written,
        environment: &[(OsString, OsString)],
        errors: &mut Vec<ConfigError>,
    ) -> Config {
        // A bad name is reported later, when the profile is read with everything else.
        let profile = Reader::new(written, &mut Vec::new()).read("profile", &Profile::SHAPE);
        written.underlay(profile.name(), profile.values());
        let mut reader = Reader::new(written, errors);
        let config = reader.config(environment);
        reader.check_relations(&config);
        config
    }
}

/// Reads values and collects what is wrong with them.
struct Reader<'a> {
    written: &'a Written,
    errors: &'a mut Vec<ConfigError>,
    read: BTreeSet<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(written: &'a Written, errors: &'a mut Vec<ConfigError>) -> Self {
        Reader { written, errors, read: BTreeSet::new() }
    }

    fn config(&mut self, environment: &[(OsString, OsString)]) -> Config {
        Config {
            profile: self.read("profile", &Profile::SHAPE),
            listen: self.read("listen", &Address),
            proxy_protocol: self.read("proxy_protocol", &PROXY_PROTOCOLS),
            trusted_proxies: self.read("trusted_proxies", &Networks::SHAPE),
            data_dir: self.data_dir(environment),
            shards: self.read("shards", &Or("auto", Whole(1..=1024))).map(|shards| shards as usize),
            descriptor_tables: self.read("descriptor_tables", &Or("auto", TABLES)),
            admin_listen: self.read("admin.listen", &Or("off", Address)),
            socket: self.socket(),
            echo_path: self.read("echo.path", &Or("off", MountPath)),
            tls: self.tls(),
            limits: self.limits(),
            history: self.history(),
            bus: self.bus(),
            store: self.store(),
            sites_networks: self.read("sites.networks", &Networks::SHAPE),
            log: self.log(),
            shutdown: self.shutdown(),
        }
    }

    /// Parses the value of a key. A bad value is reported and replaced by the default, so that reading continues and
    /// finds every mistake in one run.
    fn read<S: Shape>(&mut self, path: &'static str, shape: &S) -> S::Value {
        let key = Key::find(path).expect("the table holds every key that is read");
        self.read.insert(path);
        let entry = self.written.entry(key);
        if let Some(value) = shape.parse(&entry.raw) {
            return value;
        }
        self.errors.push(ConfigError::BadValue {
            place: entry.place,
            key: key.path,
            value: shown(key.path, &entry.raw).to_string(),
            expected: shape.expected(),
        });
        shape.parse(&Raw::literal(key.default)).expect("a default has its own shape")
    }

    fn place(&self, path: &'static str) -> Place {
        self.written.entry(Key::find(path).expect("the table holds every key that is read")).place
    }

    fn data_dir(&mut self, environment: &[(OsString, OsString)]) -> PathBuf {
        if let Some(folder) = self.read("data_dir", &Or("auto", Folder)) {
            return folder;
        }
        paths::data_dir(environment).unwrap_or_else(|| {
            self.errors.push(ConfigError::NoHome);
            PathBuf::new()
        })
    }

    fn socket(&mut self) -> SocketConfig {
        SocketConfig {
            path: self.read("socket.path", &MountPath),
            room_in_path: self.read("socket.room_in_path", &Boolean),
            origins: self.read("socket.origins", &Origins),
            lenient_origin: self.read("socket.lenient_origin", &Boolean),
            auth_token: self.read("socket.auth_token", &Boolean),
            idle_timeout: self.read("socket.idle_timeout", &Or("off", Time(SECOND..=DAY))),
            compression: self.read("socket.compression", &Boolean),
            frame_bytes: self.read("socket.frame_bytes", &Bytes(KIB..=GIB)),
            channels_max: self.read("socket.channels_max", &Whole(1..=10_000)) as usize,
            longpoll: self.read("socket.longpoll", &Boolean),
        }
    }

    fn store(&mut self) -> StoreConfig {
        StoreConfig {
            url: self.read("store.url", &Or("file", DatabaseUrl)),
            certificate_authority: self.read("store.certificate_authority", &Or("system", File)),
            cache: self.read("store.cache", &Or("off", Bytes(MIB..=64 * GIB))).unwrap_or(0),
        }
    }

    fn shutdown(&mut self) -> ShutdownConfig {
        ShutdownConfig {
            notice: self.read("shutdown.notice", &Time(Duration::ZERO..=HOUR)),
            spread: self.read("shutdown.spread", &Time(Duration::ZERO..=HOUR)),
            closes_per_second: self.read("shutdown.closes_per_second", &Or("off", Whole(1..=100_000_000))),
        }
    }

    fn tls(&mut self) -> Option<TlsConfig> {
        let listen = self.read("tls.listen", &Or("off", Address));
        let proxy_protocol = self.read("tls.proxy_protocol", &PROXY_PROTOCOLS);
        let certificate = self.read("tls.certificate", &Text);
        let key = self.read("tls.key", &Text);
        let Some(listen) = listen else {
            self.check_tls_is_off_on_purpose(&certificate);
            return None;
        };
        for (path, value) in [("tls.certificate", &certificate), ("tls.key", &key)] {
            if value.is_empty() {
                let place = self.place("tls.listen");
                let remedy = "write the path of a PEM file, or turn TLS off with \"off\"";
                self.errors.push(ConfigError::Missing { place, key: "tls.listen", needs: path, remedy });
            }
        }
        Some(TlsConfig { listen, proxy_protocol, certificate: certificate.into(), key: key.into() })
    }

    /// A certificate without an address most likely means that the address was forgotten.
    fn check_tls_is_off_on_purpose(&mut self, certificate: &str) {
        if !certificate.is_empty() && self.place("tls.listen") == Place::Default {
            let place = self.place("tls.certificate");
            let remedy = "write an address for TLS, or \"off\"";
            self.errors.push(ConfigError::Missing {
                place,
                key: "tls.certificate",
                needs: "tls.listen",
                remedy,
            });
        }
    }

    fn limits(&mut self) -> LimitsConfig {
        let per_ip = Whole(1..=u64::from(u32::MAX));
        LimitsConfig {
            connections: self
                .read("limits.connections", &Or("auto", Whole(1..=100_000_000)))
                .map(|connections| connections as usize),
            memory_budget: self.memory_budget(),
            http_connections: self.read("limits.http_connections", &Whole(16..=10_000_000)) as usize,
            longpoll_sessions: self.read("limits.longpoll_sessions", &Whole(1..=100_000_000)) as usize,
            connections_per_ip: self.read("limits.connections_per_ip", &per_ip) as u32,
            connections_per_second_per_ip: self.read("limits.connections_per_second_per_ip", &per_ip) as u32,
            of_addresses: self.of_addresses(),
            connections_per_second: self
                .read("limits.connections_per_second", &Or("off", per_ip.clone()))
                .map(|connections| connections as u32),
            connections_burst: self.read("limits.connections_burst", &per_ip) as u32,
            tls_refusals_per_second: self.read("limits.tls_refusals_per_second", &per_ip) as u32,
            joins_per_second: self
                .read("limits.joins_per_second", &Or("off", per_ip.clone()))
                .map(|joins| joins as u32),
            join_wait: self.read("limits.join_wait", &Time(Duration::ZERO..=HOUR)),
            handshake_timeout: self.read("limits.handshake_timeout", &Time(SECOND..=HOUR)),
            header_bytes: self.read("limits.header_bytes", &Bytes(KIB..=16 * KIB)),
            outbox_bytes: self.read("limits.outbox_bytes", &Bytes(4 * KIB..=GIB)),
            mailbox_messages: self.read("limits.mailbox_messages", &Whole(64..=16_777_216)) as usize,
            presence_people: self.read("limits.presence_people", &Whole(0..=1_000_000)) as usize,
        }
    }

    fn of_addresses(&mut self) -> AddressLimits {
        let mut some =
            |path| self.read(path, &Or("off", Whole(1..=u64::from(u32::MAX)))).map(|most| most as u32);
        AddressLimits {
            messages_per_minute: some("limits.messages_per_minute_per_ip"),
            guests_per_minute: some("limits.guests_per_minute_per_ip"),
        }
    }

    fn memory_budget(&mut self) -> BudgetSetting {
        match self.read("limits.memory_budget", &Or("auto", Or("off", Bytes(16 * MIB..=65_536 * GIB)))) {
            None => BudgetSetting::Auto,
            Some(None) => BudgetSetting::Off,
            Some(Some(bytes)) => BudgetSetting::Bytes(bytes as u64),
        }
    }

    fn history(&mut self) -> HistoryConfig {
        HistoryConfig {
            topics: self.read("history.topics", &Histories),
            memory: self.read("history.memory", &Bytes(MIB..=1024 * GIB)),
            recovery_messages: self.read("history.recovery_messages", &Whole(1..=100_000)) as usize,
        }
    }

    fn bus(&mut self) -> Option<BusConfig> {
        let instances = self.read("bus.url", &Or("off", Addresses));
        let listen = self.read("bus.listen", &Or("off", Address));
        let announce = self.read("bus.announce", &Or("auto", Address));
        let prefix = self.read("bus.prefix", &Prefix);
        let certificate_authority = self.read("bus.certificate_authority", &Or("system", File));
        Some(BusConfig { instances: instances?, listen, announce, prefix, certificate_authority })
    }

    fn log(&mut self) -> LogConfig {
        LogConfig { level: self.read("log.level", &LogLevel), format: self.read("log.format", &LOG_FORMATS) }
    }

    fn check_relations(&mut self, config: &Config) {
        self.check_proxies_are_named(config);
        self.check_authority_is_asked(config);
        let tls_listen = config.tls.as_ref().map(|tls| tls.listen);
        let bus_listen = config.bus.as_ref().and_then(|bus| bus.listen);
        let same = [
            ("admin.listen", config.admin_listen == Some(config.listen), "listen"),
            ("tls.listen", tls_listen == Some(config.listen), "listen"),
            ("tls.listen", tls_listen.is_some() && tls_listen == config.admin_listen, "admin.listen"),
            ("bus.listen", bus_listen == Some(config.listen), "listen"),
            ("bus.listen", bus_listen.is_some() && bus_listen == config.admin_listen, "admin.listen"),
            ("bus.listen", bus_listen.is_some() && bus_listen == tls_listen, "tls.listen"),
            ("echo.path", config.echo_path.as_ref() == Some(&config.socket.path), "socket.path"),
        ];
        for (key, clashes, other) in same {
            // Port 0 means any free port, so two of them do not conflict.
            if clashes && !is_any_port(key, config) {
                let place = self.place(key);
                let remedy = "they must be different";
                self.errors.push(ConfigError::Conflict { place, key, other, remedy });
            }
        }
    }

    /// Whoever names an authority expects the connection to the database to be encrypted.
    fn check_authority_is_asked(&mut self, config: &Config) {
        let key = "store.certificate_authority";
        let is_plain = config.store.database().is_some_and(|database| database.is_plain());
        if is_plain && config.store.certificate_authority.is_some() {
            let place = self.place(key);
            let remedy = "append it to the database name in `store.url`; without it passwords and messages are \
                 sent unencrypted";
            self.errors.push(ConfigError::Missing { place, key, needs: "?sslmode=require", remedy });
        }
    }

    /// A listener that expects proxies accepts only trusted ones, so there must be some.
    fn check_proxies_are_named(&mut self, config: &Config) {
        let by_tls = config.tls.as_ref().is_some_and(|tls| tls.proxy_protocol == ProxyProtocol::V2);
        let waiting =
            [("proxy_protocol", config.proxy_protocol == ProxyProtocol::V2), ("tls.proxy_protocol", by_tls)];
        for (key, _) in waiting.into_iter().filter(|(_, waits)| *waits && config.trusted_proxies.is_empty()) {
            let place = self.place(key);
            let remedy = "write the networks of the load balancers, or set it to \"off\"";
            self.errors.push(ConfigError::Missing { place, key, needs: "trusted_proxies", remedy });
        }
    }
}

fn is_any_port(key: &str, config: &Config) -> bool {
    match key {
        "admin.listen" => config.admin_listen.is_some_and(|address| address.port() == 0),
        "tls.listen" => config.tls.as_ref().is_some_and(|tls| tls.listen.port() == 0),
        "bus.listen" => bus_port(config) == Some(0),
        _ => false,
    }
}

fn bus_port(config: &Config) -> Option<u16> {
    Some(config.bus.as_ref()?.listen?.port())
}

/// A log filter: a level, or a list of modules with a level each.
struct LogLevel;

impl Shape for LogLevel {
    type Value = String;

    fn expected(&self) -> String {
        "\"error\", \"warn\", \"info\", \"debug\", \"trace\", or a list such as \"info,gateway=debug\"".into()
    }

    fn parse(&self, raw: &Raw) -> Option<String> {
        let text = raw.text()?;
        // The filter takes a bare word for a module, so a misspelt level would log everything.
        let levels = ["off", "error", "warn", "info", "debug", "trace"];
        let sound =
            text.split(',').all(|part| levels.contains(&part.rsplit('=').next().unwrap_or(part).trim()));
        let sound = sound && tracing_subscriber::EnvFilter::try_new(text).is_ok();
        sound.then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::KEYS;
    use super::super::written::Sources;
    use super::*;

    #[test]
    fn every_key_of_the_table_is_read_and_every_default_is_sound() {
        let environment = vec![("HOME".into(), "/home/ann".into())];
        let mut errors = Vec::new();
        let mut written = Written::read(&Sources::default(), &mut errors);
        let config = Config::from_written(&mut written, &environment, &mut errors);
        assert_eq!(errors.iter().map(ConfigError::to_string).collect::<Vec<_>>(), Vec::<String>::new());
        assert_eq!(config.data_dir, PathBuf::from("/home/ann/.local/share/throng"));

        let mut reader = Reader::new(&written, &mut errors);
        reader.config(&environment);
        let table: BTreeSet<&str> = KEYS.iter().map(|key| key.path).collect();
        assert_eq!(reader.read, table);
    }
}
