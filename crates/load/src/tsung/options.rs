//! Options of the whole run.

use std::collections::BTreeMap;

use super::document::Element;
use super::findings::Findings;
use super::thinktime::{ThinkDefault, think_default};
use crate::scenario::source::{TIME_MAX, Time};
use crate::scenario::suggestion;

/// Values of the options, with Tsung's defaults.
pub(super) struct Options {
    pub(super) think: ThinkDefault,
    /// Read rate of a WebSocket in KB per second.
    pub(super) reading_kilobytes: Option<u64>,
    /// Ports, in the scenario's notation.
    pub(super) ports: Option<String>,
    pub(super) seed: Option<u64>,
    /// Files with values, by id.
    pub(super) files: BTreeMap<String, String>,
    /// Number of users that wait for each other.
    pub(super) global_users: u64,
    /// Maximum time that they wait.
    pub(super) global_timeout: Time,
    /// Maximum time that a user waits for a response.
    pub(super) idle_timeout: Time,
    pub(super) connect_timeout: Option<Time>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            think: ThinkDefault::default(),
            reading_kilobytes: None,
            ports: None,
            seed: None,
            files: BTreeMap::new(),
            global_users: 100,
            global_timeout: Time(TIME_MAX),
            idle_timeout: Time::seconds(600),
            connect_timeout: None,
        }
    }
}

/// Options that need no counterpart: name, result, reason.
const WITHOUT_COUNTERPART: &[(&str, &str, &str)] = &[
    ("hibernate", "no hibernation", "an idle user takes a few hundred bytes anyway"),
    ("max_ssh_startup_per_core", "no ssh", "agents are started by hand or by a service manager"),
    ("tcp_rcv_buffer", "the kernel's own buffer sizes", "it adapts them to each connection"),
    ("tcp_snd_buffer", "the kernel's own buffer sizes", "it adapts them to each connection"),
    ("udp_rcv_buffer", "no UDP", "WebSocket and HTTP go over TCP"),
    ("udp_snd_buffer", "no UDP", "WebSocket and HTTP go over TCP"),
    ("tcp_reuseaddr", "no choice", "source ports are used to the end by the run itself"),
    ("tcp_reuseport", "no choice", "source ports are used to the end by the run itself"),
    ("ip_bind_address_no_port", "no choice", "source ports are used to the end by the run itself"),
    ("max_retries", "no second try", "a connection that fails is counted as failed and not tried again"),
    ("retry_timeout", "no second try", "a connection that fails is counted as failed and not tried again"),
    ("ssl_ciphers", "no choice of ciphers", "TLS 1.2 and 1.3 with their usual ciphers are offered"),
    ("ssl_versions", "no choice of versions", "TLS 1.2 and 1.3 are offered"),
    (
        "ssl_reuse_sessions",
        "no choice",
        "each connection makes a full handshake unless the server resumes it",
    ),
    (
        "websocket_path",
        "not used",
        "as in Tsung it is for other protocols over WebSocket: `websocket` elements have their own `path`",
    ),
    (
        "websocket_frame",
        "not used",
        "as in Tsung it is for other protocols over WebSocket: `websocket` elements have their own `frame`",
    ),
    (
        "websocket_subprotocols",
        "not used",
        "as in Tsung it is for other protocols over WebSocket: `websocket` elements have their own `subprotocols`",
    ),
    (
        "websocket_origin",
        "not used",
        "as in Tsung it is for other protocols over WebSocket: `websocket` elements have their own `origin`",
    ),
];

/// Options that are left out: name, alternative.
const LEFT_OUT: &[(&str, &str)] = &[
    ("ip_transparent", "give the machine the addresses and name them in `source_addresses`"),
    ("ssl_disable_sni", "name the server by its address: then there is no name to send"),
    ("user_agent", "the user agent of requests is Stampede's; look at the server without its name"),
    ("http_use_server_as_proxy", "name the servers themselves as targets"),
    ("certificate", "client certificates are not played"),
    ("bosh_path", "XMPP is not played"),
    ("job_notify_port", "batch jobs are not played"),
    ("userid_max", "XMPP is not played"),
    ("global_ack", "XMPP is not played"),
    ("domain", "XMPP is not played"),
    ("username", "XMPP is not played"),
    ("passwd", "XMPP is not played"),
];

const READ: &[&str] = &[
    "thinktime",
    "rate_limit",
    "ports_range",
    "seed",
    "file_server",
    "local_file_server",
    "global_number",
    "global_ack_timeout",
    "idle_timeout",
    "connect_timeout",
];

pub(super) fn read(root: Element<'_>, findings: &mut Findings) -> Options {
    let mut options = Options::default();
    let Some(list) = root.child("options") else { return options };
    findings.supported(list, "see each");
    for element in list.children() {
        if let Some(name) = findings.required(element, "name") {
            options.read_one(element, name, findings);
        }
    }
    options
}

impl Options {
    fn read_one(&mut self, element: Element<'_>, name: &str, findings: &mut Findings) {
        match name {
            "thinktime" => self.think = think_default(element, findings),
            "rate_limit" => self.rate_limit(element, findings),
            "ports_range" => self.ports_range(element, findings),
            "seed" => self.seed(element, findings),
            "file_server" | "local_file_server" => self.file(element, name, findings),
            "global_number" => {
                self.global_users = findings.count(element, "value").unwrap_or(self.global_users);
                findings.supported(element, "global_number: users that wait for each other at a barrier");
            }
            "global_ack_timeout" => {
                self.global_timeout = milliseconds(element, findings).unwrap_or(self.global_timeout);
                findings.supported(element, "global_ack_timeout: timeout of barriers");
            }
            "idle_timeout" => {
                self.idle_timeout = milliseconds(element, findings).unwrap_or(self.idle_timeout);
                findings.supported(element, "idle_timeout: timeout of waits and of HTTP requests");
            }
            "connect_timeout" => {
                self.connect_timeout = milliseconds(element, findings);
                findings.supported(element, "connect_timeout: timeout of connects");
            }
            other => without_effect(element, other, findings),
        }
    }

    fn rate_limit(&mut self, element: Element<'_>, findings: &mut Findings) {
        self.reading_kilobytes = Some(findings.count(element, "value").unwrap_or(512));
        let why = "it is the speed at which each WebSocket is read; there are no bursts";
        findings.approximated(element, None, "rate_limit: slow readers", why);
    }

    fn ports_range(&mut self, element: Element<'_>, findings: &mut Findings) {
        if element.attribute("value") == Some("off") {
            findings.supported(element, "ports_range: the kernel chooses source ports");
            return;
        }
        let first = findings.count(element, "min").unwrap_or(1025);
        let last = findings.count(element, "max").unwrap_or(65_534);
        if last > 65_535 || first > last {
            findings.problem(element, None, format!("{first} to {last} is not a range of ports"), None);
            return;
        }
        self.ports = Some(format!("{first}-{last}"));
        findings.supported(element, format!("ports_range: source ports {first} to {last}"));
    }

    fn seed(&mut self, element: Element<'_>, findings: &mut Findings) {
        if matches!(element.attribute("value"), None | Some("now")) {
            findings.approximated(element, None, "seed: a fixed one", "say --seed to play other users");
            return;
        }
        self.seed = findings.whole(element, "value");
        findings.supported(
            element,
            "seed: the same plays the same users, though not those that Tsung would play",
        );
    }

    fn file(&mut self, element: Element<'_>, name: &str, findings: &mut Findings) {
        let id = element.attribute("id").unwrap_or("default");
        if let Some(path) = findings.required(element, "value") {
            self.files.insert(id.to_owned(), path.to_owned());
            findings.supported(element, format!("{name}: values from {path}"));
        }
    }
}

fn milliseconds(element: Element<'_>, findings: &mut Findings) -> Option<Time> {
    if element.attribute("value") == Some("infinity") {
        return Some(Time(TIME_MAX));
    }
    findings.required(element, "value")?;
    let milliseconds = findings.count(element, "value")?;
    findings.time(element, "value", milliseconds as f64 / 1000.0)
}

fn without_effect(element: Element<'_>, name: &str, findings: &mut Findings) {
    if let Some((_, text, why)) = WITHOUT_COUNTERPART.iter().find(|(known, _, _)| *known == name) {
        findings.approximated(element, None, format!("{name}: {text}"), *why);
    } else if let Some((_, what_to_do)) = LEFT_OUT.iter().find(|(known, _)| *known == name) {
        findings.unsupported(element, None, format!("option {name}"), *what_to_do);
        for child in element.children() {
            findings.unsupported(child, None, format!("see option {name}"), *what_to_do);
        }
    } else {
        let known = READ
            .iter()
            .copied()
            .chain(WITHOUT_COUNTERPART.iter().map(|(known, _, _)| *known))
            .chain(LEFT_OUT.iter().map(|(known, _)| *known));
        let help = suggestion(name, known);
        findings.problem(element, Some("name"), format!("there is no option `{name}`"), help);
    }
}
