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
        about: "\"v2\": every connection to `listen` begins with a PROXY protocol header, version 2, from one of\n`trusted_proxies`; any other is cut. \"off\" for everybody else, and for balancers that write X-Forwarded-For.",
    },
    Key {
        path: "trusted_proxies",
        default: "[]",
        about: "Load balancers in front, such as [\"10.0.0.0/8\", \"127.0.0.1\"]. Whom they name by X-Forwarded-For or PROXY\nprotocol is who limits for each address, logs and channels know. Nobody else is believed.",
    },
    Key {
        path: "data_dir",
        default: r#""auto""#,
        about: "Where the server keeps what must survive a restart. \"auto\" is $XDG_DATA_HOME/throng,\nusually ~/.local/share/throng.",
    },
    Key {
        path: "shards",
        default: r#""auto""#,
        about: "Threads that carry connections. \"auto\" is one per core, or as many as `limits.connections` needs\nwith private descriptor tables.",
    },
    Key {
        path: "descriptor_tables",
        default: r#""auto""#,
        about: "\"shared\": the descriptor limit (`ulimit -n`) bounds the process. \"private\": it bounds each shard, so that\nmore shards carry more connections. \"auto\" is private where `limits.connections` is beyond the limit.",
    },
    Key {
        path: "admin.listen",
        default: r#""127.0.0.1:4001""#,
        about: "Address for metrics, health and the administration API, or \"off\". Do not open it to the internet.",
    },
    Key {
        path: "socket.path",
        default: r#""/socket""#,
        about: "Where clients connect: they append /websocket or /longpoll themselves.",
    },
    Key {
        path: "socket.room_in_path",
        default: "false",
        about: "Serve `socket.path` with a room behind it, too (/socket/ROOM/websocket), for load balancers that keep a room\non one server by its path. `?room=ROOM` says the same and needs no setting.",
    },
    Key {
        path: "socket.origins",
        default: r#""same-host""#,
        about: "Pages that may connect: \"same-host\" as the request, \"any\", or a list such as\n[\"https://example.com\", \"//*.example.org\"].",
    },
    Key {
        path: "socket.lenient_origin",
        default: "false",
        about: "Count an Origin header without a scheme, as some load generators send it, as a host.",
    },
    Key {
        path: "socket.auth_token",
        default: "false",
        about: "Read the token that newer clients send beside the URL (`authToken` in phoenix.js).",
    },
    Key {
        path: "socket.idle_timeout",
        default: r#""60s""#,
        about: "Close a connection that sent nothing for so long, or \"off\". Clients send a heartbeat every 30 seconds.",
    },
    Key {
        path: "socket.compression",
        default: "false",
        about: "Offer permessage-deflate. It saves bandwidth and costs processor time.",
    },
    Key {
        path: "socket.frame_bytes",
        default: r#""10MB""#,
        about: "Longest message that a client may send; a longer one closes the connection with 1009.",
    },
    Key {
        path: "socket.channels_max",
        default: "100",
        about: "Channels that one connection may have joined at a time.",
    },
    Key {
        path: "socket.longpoll",
        default: "true",
        about: "Serve long-polling for networks that let no WebSocket through.",
    },
    Key {
        path: "echo.path",
        default: r#""off""#,
        about: "A mount that sends every message back, for benchmarks, or \"off\". Clients append /websocket.",
    },
    Key {
        path: "tls.listen",
        default: r#""off""#,
        about: "Address for HTTPS and WebSocket over TLS, or \"off\". Needs the two files below.",
    },
    Key {
        path: "tls.certificate",
        default: r#""""#,
        about: "PEM file with the certificate chain, the server's own certificate first. Read again when it changes\nand on SIGHUP.",
    },
    Key {
        path: "tls.proxy_protocol",
        default: r#""off""#,
        about: "As `proxy_protocol`, for `tls.listen`: the header stands before the TLS handshake.",
    },
    Key { path: "tls.key", default: r#""""#, about: "PEM file with the certificate's private key." },
    Key {
        path: "limits.connections",
        default: r#""auto""#,
        about: "Open connections in all; past it a new one is answered 503. \"auto\" is what the descriptors allow; write\na number to have more than one descriptor table holds.",
    },
    Key {
        path: "limits.memory_budget",
        default: r#""auto""#,
        about: "Memory that the server may take of the machine, what the kernel takes for its connections included, such as\n\"16GiB\"; past it a new connection is answered 503, and those that are there stay. \"auto\" is 16/17 of the limit of\nthe server's control group (a container's, a unit's), and no bound without one. \"off\" is no bound.",
    },
    Key {
        path: "limits.http_connections",
        default: "10000",
        about: "Connections for pages, long-polling and TLS handshakes; past it a new one is cut, one by TLS waits.",
    },
    Key {
        path: "limits.longpoll_sessions",
        default: "100000",
        about: "Long-poll sessions; past it a new one is told to come back later.",
    },
    Key {
        path: "limits.connections_per_ip",
        default: "4000000",
        about: "Open connections of one address, which in IPv6 is a network of 64 bits; past it a new one is answered 429. The\ndefault leaves a load test from one address alone; write some hundred where clients are people.",
    },
    Key {
        path: "limits.connections_per_second_per_ip",
        default: "100000",
        about: "New connections of one address (in IPv6: a network of 64 bits) a second; past it a new one is answered 429.",
    },
    Key {
        path: "limits.messages_per_minute_per_ip",
        default: "60000",
        about: "Messages, edits and reactions a minute in the messenger's rooms from one address, all its people together; past it\nthey are answered `rate_limited`. \"off\" is as many as they may each.",
    },
    Key {
        path: "limits.guests_per_minute_per_ip",
        default: "6000",
        about: "New guests a minute from one address; past it they are answered `rate_limited`. \"off\" is as many as come.",
    },
    Key {
        path: "limits.connections_per_second",
        default: r#""off""#,
        about: "New connections a second, all together; past it a new one is answered 503. \"off\" is as many as come.",
    },
    Key {
        path: "limits.connections_burst",
        default: "1000",
        about: "How many of them may come at once before `limits.connections_per_second` counts.",
    },
    Key {
        path: "limits.tls_refusals_per_second",
        default: "50",
        about: "Answers a second to newcomers by TLS that a limit refuses, and as many at the same time: each costs a\nhandshake. Past it they are cut.",
    },
    Key {
        path: "limits.joins_per_second",
        default: r#""off""#,
        about: "Joins a second, all together; past it a join waits in line and is answered later. \"off\" is as many as come.",
    },
    Key {
        path: "limits.join_wait",
        default: r#""5s""#,
        about: "How long a join may have to wait so; past it it is answered `overloaded` with a time to wait. Clients give up\nafter ten seconds.",
    },
    Key {
        path: "limits.handshake_timeout",
        default: r#""10s""#,
        about: "Time that a new connection has to send its request head.",
    },
    Key {
        path: "limits.header_bytes",
        default: r#""16KiB""#,
        about: "Longest request head; past it the connection is answered 431.",
    },
    Key {
        path: "limits.outbox_bytes",
        default: r#""1MiB""#,
        about: "Bytes that may wait for one slow client before it is closed; clients reconnect by themselves.",
    },
    Key {
        path: "limits.mailbox_messages",
        default: "65536",
        about: "Messages that may wait between two shards; past it broadcasts are dropped and counted.",
    },
    Key {
        path: "limits.presence_people",
        default: "500",
        about: "Tracked joins of one topic up to which comings and goings are told one by one; past it only the number of\npeople is.",
    },
    Key {
        path: "history.topics",
        default: "[]",
        about: "Topics that keep what was published, so that a client that comes back is given what it missed: patterns with\nwhat they keep, such as \"rooms:* messages=1000 age=10m bytes=1MiB\"; the first that matches wins.",
    },
    Key {
        path: "history.memory",
        default: r#""256MiB""#,
        about: "Memory of all histories; past it the topic that was idle for longest loses its own.",
    },
    Key {
        path: "history.recovery_messages",
        default: "1000",
        about: "Messages that one client may be given as missed, up to half of `limits.outbox_bytes`; past it the client\nis told that it missed too many.",
    },
    Key {
        path: "bus.url",
        default: r#""off""#,
        about: "The bus between nodes: \"redis://USER:PASSWORD@HOST:6379\" (Redis 7.0 or Valkey; \"rediss://…\" for TLS), or a list\nof them among which topics are divided, or servers of a Redis Cluster (\"redis-cluster://…\"); or \"nats://…\" (NATS 2.9,\nwith JetStream where topics have a history; \"tls://…\"), or the servers of one cluster. All nodes write the same. \"off\"\nis one node.",
    },
    Key {
        path: "bus.listen",
        default: r#""off""#,
        about: "Address for the other nodes, such as \"10.0.0.11:4002\", or \"off\". They forward what long-polling clients say\nto sessions of this one, so that a balancer may give each request to any node. Without TLS: for a private network.",
    },
    Key {
        path: "bus.announce",
        default: r#""auto""#,
        about: "Where other nodes reach `bus.listen`. \"auto\" is that address itself; of 0.0.0.0, the one by which this machine\nreaches the bus.",
    },
    Key {
        path: "bus.prefix",
        default: r#""throng""#,
        about: "What the names of all keys and channels there begin with; clusters that share it need one each.",
    },
    Key {
        path: "bus.certificate_authority",
        default: r#""system""#,
        about: "PEM file with the certificates by which the bus is known, or \"system\" for those of the system.",
    },
    Key {
        path: "store.url",
        default: r#""file""#,
        about: "Where the messenger keeps communities, rooms and messages: \"file\" is a file below `data_dir`; or the URL of a\nPostgreSQL database, 15 or newer, such as \"postgres://throng@localhost/throng\", or with TLS\n\"postgres://throng:PASSWORD@db.example/throng?sslmode=require\".",
    },
    Key {
        path: "store.certificate_authority",
        default: r#""system""#,
        about: "PEM file with the certificates by which that database is known, or \"system\" for those of the system. A file\nneeds `sslmode=require` in `store.url`.",
    },
    Key {
        path: "store.cache",
        default: r#""64MiB""#,
        about: "Memory for what was read of it lately: people, rooms, newest messages; or \"off\", and\neverything is read anew.",
    },
    Key {
        path: "sites.networks",
        default: "[]",
        about: "Networks beside public addresses in which communities' own sites may be: where webhooks, questions and requests for\npublished keys may go, for every community, such as [\"10.1.2.0/24\"]. Nothing else should be in them.",
    },
    Key {
        path: "log.level",
        default: r#""info""#,
        about: "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"; parts apart as in \"info,gateway=debug\".",
    },
    Key { path: "log.format", default: r#""text""#, about: "\"text\" or \"json\", one object a line." },
    Key {
        path: "shutdown.notice",
        default: r#""0s""#,
        about: "On SIGTERM /readyz says 503 for this time while everything goes on, so that load balancers send nobody here any\nmore. Write a little more than their health check takes to notice.",
    },
    Key {
        path: "shutdown.closes_per_second",
        default: r#""off""#,
        about: "Connections, polling clients among them, that are closed a second on average at most: `shutdown.spread` becomes as\nlong as that takes.",
    },
    Key {
        path: "shutdown.spread",
        default: r#""5s""#,
        about: "On SIGTERM connections are closed spread over this time, so that they do not all come back at once.",
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
