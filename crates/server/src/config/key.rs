//! The table of settings. Everything that names a setting is derived from it: the keys of a file, the environment
//! variables, `--set`, the default file, and the suggestions after a typo.

/// One setting: its name, its default, and its description.
pub(crate) struct Key {
    /// Dotted path in the TOML file: `table.key`, or `key` for the top level.
    pub(crate) path: &'static str,
    /// The default as a TOML literal.
    pub(crate) default: &'static str,
    /// The comment above the setting in the default file; one line per line.
    pub(crate) about: &'static str,
}

/// Names under the `THRONG_` prefix that Kubernetes sets in the containers next to a service called `throng`.
const KUBERNETES_SERVICE_NAMES: [&str; 2] = ["SERVICE_", "PORT"];
const ENVIRONMENT_PREFIX: &str = "THRONG_";
/// Names the configuration file, so it cannot be a setting in that file.
pub(crate) const CONFIG_FILE_VARIABLE: &str = "THRONG_CONFIG";

impl Key {
    /// Returns the setting at a dotted path.
    pub(crate) fn find(path: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.path == path)
    }

    /// Returns the environment variable of this setting: `limits.outbox_bytes` is `THRONG_LIMITS_OUTBOX_BYTES`.
    pub(crate) fn variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.path.replace('.', "_").to_uppercase())
    }

    /// Returns the table that contains this setting, and its name there; the top level is the empty string.
    pub(crate) fn table_and_name(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }
}

/// The role of an environment variable in the configuration.
pub(crate) enum Variable {
    /// It sets this key.
    Sets(&'static Key),
    /// It is not ours.
    Foreign,
    /// It has our prefix but does not belong to a setting.
    Unknown,
}

/// Classifies the environment variable `name`.
pub(crate) fn classify_variable(name: &str) -> Variable {
    let Some(rest) = name.strip_prefix(ENVIRONMENT_PREFIX) else {
        return Variable::Foreign;
    };
    if let Some(key) = KEYS.iter().find(|key| key.variable() == name) {
        return Variable::Sets(key);
    }
    let foreign =
        name == CONFIG_FILE_VARIABLE || KUBERNETES_SERVICE_NAMES.iter().any(|n| rest.starts_with(n));
    if foreign { Variable::Foreign } else { Variable::Unknown }
}

/// Returns whether there are settings below this table.
pub(crate) fn is_table(path: &str) -> bool {
    KEYS.iter().any(|key| key.table_and_name().0 == path)
}

/// Returns the candidate that is most similar to what was written, if it is similar enough.
pub(crate) fn nearest(written: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    const SIMILARITY_MIN: f64 = 0.75;
    candidates
        .map(|candidate| (strsim::jaro_winkler(written, &candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Returns the variable most similar to `name`; the common prefix is not compared.
pub(crate) fn nearest_variable(name: &str) -> Option<String> {
    let without_prefix = |name: &str| name.trim_start_matches(ENVIRONMENT_PREFIX).to_owned();
    let rests = KEYS.iter().map(|key| without_prefix(&key.variable()));
    nearest(&without_prefix(name), rests).map(|rest| format!("{ENVIRONMENT_PREFIX}{rest}"))
}

/// All settings, in the order of the default file: the settings of a table are adjacent, the top level comes first.
pub(crate) static KEYS: &[Key] = &[
    Key {
        path: "profile",
        default: r#""standard""#,
        about: "A named set of defaults: \"standard\", or \"load-test\" for load generators on a machine of your own.",
    },
    Key {
        path: "listen",
        default: r#""127.0.0.1:4000""#,
        about: "Address for HTTP and WebSocket, without TLS. Write \"0.0.0.0:4000\" to be reached from elsewhere.",
    },
    Key {
        path: "proxy_protocol",
        default: r#""off""#,
        about: "\"v2\": every connection to `listen` must begin with a PROXY protocol header, version 2, from one of\n`trusted_proxies`; any other is closed. \"off\" for direct connections, and for load balancers that send\nX-Forwarded-For.",
    },
    Key {
        path: "trusted_proxies",
        default: "[]",
        about: "Networks of load balancers in front, such as [\"10.0.0.0/8\", \"127.0.0.1\"]. The client address that they give by\nX-Forwarded-For or the PROXY protocol is used for the limits of each address, for logs and for channels. Other\nsources are not trusted.",
    },
    Key {
        path: "data_dir",
        default: r#""auto""#,
        about: "Directory for data that must survive a restart. \"auto\" is $XDG_DATA_HOME/throng, usually ~/.local/share/throng.",
    },
    Key {
        path: "shards",
        default: r#""auto""#,
        about: "Number of threads that handle connections. \"auto\" is one per core, or as many as `limits.connections` needs with\nprivate descriptor tables.",
    },
    Key {
        path: "descriptor_tables",
        default: r#""auto""#,
        about: "\"shared\": the descriptor limit (`ulimit -n`) applies to the whole process. \"private\": it applies to each shard, so\nmore shards can handle more connections. \"auto\" is \"private\" if `limits.connections` exceeds the limit.",
    },
    Key {
        path: "admin.listen",
        default: r#""127.0.0.1:4001""#,
        about: "Address for metrics, health checks and the administration API, or \"off\". Do not expose it to the internet.",
    },
    Key {
        path: "socket.path",
        default: r#""/socket""#,
        about: "Path of the endpoint for clients, which append /websocket or /longpoll themselves.",
    },
    Key {
        path: "socket.room_in_path",
        default: "false",
        about: "Also accept a room after `socket.path` (/socket/ROOM/websocket), for load balancers that keep a room on one server\nby path. `?room=ROOM` does the same and works without this setting.",
    },
    Key {
        path: "socket.origins",
        default: r#""same-host""#,
        about: "Origins of pages that may connect: \"same-host\" (as the request), \"any\", or a list such as [\"https://example.com\",\n\"//*.example.org\"].",
    },
    Key {
        path: "socket.lenient_origin",
        default: "false",
        about: "Accept an Origin header without a scheme, as some load generators send it, and treat it as a host.",
    },
    Key {
        path: "socket.auth_token",
        default: "false",
        about: "Accept the token that newer clients send outside the URL (`authToken` in phoenix.js).",
    },
    Key {
        path: "socket.idle_timeout",
        default: r#""60s""#,
        about: "Close a connection that has sent nothing for this time, or \"off\". Clients send a heartbeat every 30 seconds.",
    },
    Key {
        path: "socket.compression",
        default: "false",
        about: "Offer permessage-deflate compression. It saves bandwidth and costs CPU time.",
    },
    Key {
        path: "socket.frame_bytes",
        default: r#""10MB""#,
        about: "Largest message that a client may send; a larger one closes the connection with 1009.",
    },
    Key {
        path: "socket.channels_max",
        default: "100",
        about: "Maximum number of channels that one connection may have joined at the same time.",
    },
    Key {
        path: "socket.longpoll",
        default: "true",
        about: "Serve long-polling, for networks that block WebSocket.",
    },
    Key {
        path: "echo.path",
        default: r#""off""#,
        about: "Path of an endpoint that echoes every message, for benchmarks, or \"off\". Clients append /websocket.",
    },
    Key {
        path: "tls.listen",
        default: r#""off""#,
        about: "Address for HTTPS and WebSocket over TLS, or \"off\". Needs the two files below.",
    },
    Key {
        path: "tls.certificate",
        default: r#""""#,
        about: "PEM file with the certificate chain, the server's own certificate first. It is reloaded when it changes and on\nSIGHUP.",
    },
    Key {
        path: "tls.proxy_protocol",
        default: r#""off""#,
        about: "Like `proxy_protocol`, but for `tls.listen`: the header comes before the TLS handshake.",
    },
    Key { path: "tls.key", default: r#""""#, about: "PEM file with the certificate's private key." },
    Key {
        path: "limits.connections",
        default: r#""auto""#,
        about: "Maximum number of open connections; beyond it a new one gets status 503. \"auto\" is what the descriptor limit\nallows; write a number to have more connections than one descriptor table holds.",
    },
    Key {
        path: "limits.memory_budget",
        default: r#""auto""#,
        about: "Memory that the server may use, including the kernel's memory for its connections, such as \"16GiB\". Beyond it a\nnew connection gets status 503; open ones stay. \"auto\" is 16/17 of the memory limit of the server's control group\n(of a container or a systemd unit), or no limit without one. \"off\" is no limit.",
    },
    Key {
        path: "limits.http_connections",
        default: "10000",
        about: "Maximum number of connections for pages, long-polling and TLS handshakes; beyond it a new plain connection is\nclosed, and a new TLS connection waits.",
    },
    Key {
        path: "limits.longpoll_sessions",
        default: "100000",
        about: "Maximum number of long-polling sessions; beyond it a new client is told to try again later.",
    },
    Key {
        path: "limits.connections_per_ip",
        default: "4000000",
        about: "Maximum number of open connections from one address (in IPv6: a /64 network); beyond it a new one gets status 429.\nThe default allows a load test from a single address; write a few hundred if the clients are people.",
    },
    Key {
        path: "limits.connections_per_second_per_ip",
        default: "100000",
        about: "New connections per second from one address (in IPv6: a /64 network); beyond it a new one gets status 429.",
    },
    Key {
        path: "limits.messages_per_minute_per_ip",
        default: "60000",
        about: "Messages, edits and reactions per minute in the messenger's rooms from one address, all its people together;\nbeyond it the answer is `rate_limited`. \"off\" leaves only the limits of each person.",
    },
    Key {
        path: "limits.guests_per_minute_per_ip",
        default: "6000",
        about: "New guests per minute from one address; beyond it the answer is `rate_limited`. \"off\" is no limit.",
    },
    Key {
        path: "limits.connections_per_second",
        default: r#""off""#,
        about: "New connections per second in total; beyond it a new one gets status 503. \"off\" is no limit.",
    },
    Key {
        path: "limits.connections_burst",
        default: "1000",
        about: "How many new connections may arrive at once before `limits.connections_per_second` applies.",
    },
    Key {
        path: "limits.tls_refusals_per_second",
        default: "50",
        about: "Responses per second to new TLS connections that a limit refuses, and the maximum number at the same time: each\ncosts a TLS handshake. Beyond it they are closed without a response.",
    },
    Key {
        path: "limits.joins_per_second",
        default: r#""off""#,
        about: "Joins per second in total; beyond it a join waits in a queue and is answered later. \"off\" is no limit.",
    },
    Key {
        path: "limits.join_wait",
        default: r#""5s""#,
        about: "Maximum time that a join waits in that queue; beyond it the answer is `overloaded` with a time to wait. Clients\ngive up after ten seconds.",
    },
    Key {
        path: "limits.handshake_timeout",
        default: r#""10s""#,
        about: "Time within which a new connection must send its request headers.",
    },
    Key {
        path: "limits.header_bytes",
        default: r#""16KiB""#,
        about: "Largest request headers; beyond it the connection gets status 431.",
    },
    Key {
        path: "limits.outbox_bytes",
        default: r#""1MiB""#,
        about: "Bytes that may wait for one slow client before its connection is closed; clients reconnect automatically.",
    },
    Key {
        path: "limits.mailbox_messages",
        default: "65536",
        about: "Messages that may wait between two shards; beyond it broadcasts are dropped and counted.",
    },
    Key {
        path: "limits.presence_people",
        default: "500",
        about: "Number of tracked joins of a topic up to which each arrival and departure is reported; beyond it only the number\nof people is.",
    },
    Key {
        path: "history.topics",
        default: "[]",
        about: "Topics with a history, so that a client that reconnects gets what it missed: patterns with the limits of the\nhistory, such as \"rooms:* messages=1000 age=10m bytes=1MiB\". The first matching pattern applies.",
    },
    Key {
        path: "history.memory",
        default: r#""256MiB""#,
        about: "Maximum memory of all histories; beyond it the topic that was idle for longest loses its history.",
    },
    Key {
        path: "history.recovery_messages",
        default: "1000",
        about: "Maximum number of missed messages sent to a client that reconnects, up to half of `limits.outbox_bytes`; beyond it\nthe client is told that it missed too many.",
    },
    Key {
        path: "bus.url",
        default: r#""off""#,
        about: "The bus between nodes: \"redis://USER:PASSWORD@HOST:6379\" (Redis 7.0 or Valkey; \"rediss://…\" for TLS), a list of\nsuch servers over which topics are distributed, or servers of a Redis Cluster (\"redis-cluster://…\"); or \"nats://…\"\n(NATS 2.9, with JetStream if topics have a history; \"tls://…\" for TLS), or a list of the servers of one NATS\ncluster. It must be the same on all nodes. \"off\" is a single node.",
    },
    Key {
        path: "bus.listen",
        default: r#""off""#,
        about: "Address for the other nodes, such as \"10.0.0.11:4002\", or \"off\". They forward requests of long-polling clients to\nthe node that has the session, so a load balancer may send each request to any node. Not encrypted: use a private\nnetwork.",
    },
    Key {
        path: "bus.announce",
        default: r#""auto""#,
        about: "Address where other nodes reach `bus.listen`. \"auto\" is that address itself or, for 0.0.0.0, the address from\nwhich this machine connects to the bus.",
    },
    Key {
        path: "bus.prefix",
        default: r#""throng""#,
        about: "Prefix of the names of all keys and channels on the bus; clusters that share a bus need different ones.",
    },
    Key {
        path: "bus.certificate_authority",
        default: r#""system""#,
        about: "PEM file with the certificate authorities that are trusted for the bus, or \"system\" for those of the system.",
    },
    Key {
        path: "store.url",
        default: r#""file""#,
        about: "Where the messenger stores communities, rooms and messages: \"file\" is a file in `data_dir`; or the URL of a\nPostgreSQL database, 15 or newer, such as \"postgres://throng@localhost/throng\", or with TLS\n\"postgres://throng:PASSWORD@db.example/throng?sslmode=require\".",
    },
    Key {
        path: "store.certificate_authority",
        default: r#""system""#,
        about: "PEM file with the certificate authorities that are trusted for that database, or \"system\" for those of the system.\nA file needs `sslmode=require` in `store.url`.",
    },
    Key {
        path: "store.cache",
        default: r#""64MiB""#,
        about: "Memory for a cache of recently read data: people, rooms, newest messages. \"off\" is no cache.",
    },
    Key {
        path: "sites.networks",
        default: "[]",
        about: "Networks, in addition to public addresses, in which communities' own sites may be: webhooks, authorizer requests\nand requests for published keys may go there, for every community, such as [\"10.1.2.0/24\"]. Nothing else should be\nin them.",
    },
    Key {
        path: "log.level",
        default: r#""info""#,
        about: "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"; with different levels for parts as in \"info,gateway=debug\".",
    },
    Key { path: "log.format", default: r#""text""#, about: "\"text\" or \"json\" (one object per line)." },
    Key {
        path: "shutdown.notice",
        default: r#""0s""#,
        about: "On SIGTERM, /readyz returns 503 for this time while everything else continues, so that load balancers stop sending\nnew clients. Write a little more than their health check needs to notice.",
    },
    Key {
        path: "shutdown.closes_per_second",
        default: r#""off""#,
        about: "Maximum average number of connections (including long-polling clients) that are closed per second;\n`shutdown.spread` is extended if needed.",
    },
    Key {
        path: "shutdown.spread",
        default: r#""5s""#,
        about: "On SIGTERM, connections are closed gradually over this time, so that they do not all reconnect at once.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_settings_share_an_environment_variable() {
        let variables: BTreeSet<String> = KEYS.iter().map(Key::variable).collect();
        assert_eq!(variables.len(), KEYS.len());
        assert!(!variables.contains(CONFIG_FILE_VARIABLE));
    }

    #[test]
    fn a_variable_is_the_path_in_capitals() {
        let variable = Key::find("limits.outbox_bytes").expect("a setting").variable();
        assert_eq!(variable, "THRONG_LIMITS_OUTBOX_BYTES");
    }

    #[test]
    fn the_variables_of_a_kubernetes_service_are_left_alone() {
        for name in ["THRONG_SERVICE_HOST", "THRONG_PORT", "THRONG_PORT_4000_TCP", "THRONG_CONFIG", "PATH"] {
            assert!(matches!(classify_variable(name), Variable::Foreign), "{name}");
        }
        assert!(matches!(classify_variable("THRONG_LISTEM"), Variable::Unknown));
    }

    #[test]
    fn the_settings_of_a_table_stand_together() {
        let mut tables: Vec<&str> = KEYS.iter().map(|key| key.table_and_name().0).collect();
        tables.dedup();
        let distinct: BTreeSet<&&str> = tables.iter().collect();
        assert_eq!(distinct.len(), tables.len());
    }
}
