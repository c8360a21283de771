//! Clients, servers and monitoring.

use std::net::Ipv6Addr;

use super::addresses::ranges;
use super::document::Element;
use super::findings::Findings;

/// A server under test.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Server {
    /// Host name or address, an IPv6 address in brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_encrypted: bool,
    pub(super) weight: f64,
}

const SERVER_TYPES: &[&str] = &[
    "tcp",
    "ssl",
    "tcp6",
    "ssl6",
    "ws",
    "wss",
    "websocket",
    "websocket_ssl",
    "udp",
    "udp6",
    "bosh",
    "bosh_ssl",
    "erlang",
];

/// Returns all servers, each as a target.
pub(super) fn servers(root: Element<'_>, findings: &mut Findings) -> Vec<Server> {
    let Some(servers) = root.child("servers") else {
        findings.problem(root, None, "there are no `servers`", None);
        return Vec::new();
    };
    findings.supported(servers, "targets, drawn by weight");
    if servers.child("server").is_none() {
        findings.problem(servers, None, "there is no `server`", None);
    }
    servers.children().filter_map(|element| server(element, findings)).collect()
}

fn server(element: Element<'_>, findings: &mut Findings) -> Option<Server> {
    let host = findings.required(element, "host");
    let port = findings.required(element, "port").and_then(|text| port(element, text, findings));
    findings.required(element, "type");
    let kind = findings.word(element, "type", SERVER_TYPES);
    let weight = findings.number(element, "weight").unwrap_or(1.0);
    if weight == 0.0 {
        findings.problem(element, Some("weight"), "it must be above 0", None);
    }
    let (host, port, kind) = (host?, port?, kind?);
    let is_encrypted = match kind {
        "tcp" | "tcp6" | "ws" | "websocket" => false,
        "ssl" | "ssl6" | "wss" | "websocket_ssl" => true,
        other => {
            let help = "what is played is tcp, ssl, ws and wss".to_owned();
            findings.problem(
                element,
                Some("type"),
                format!("servers of type `{other}` are not played"),
                Some(help),
            );
            return None;
        }
    };
    if kind.ends_with('6') {
        let why = "IPv6 is used where the host is an IPv6 address or has no other";
        findings.approximated(element, Some("type"), "the address family follows from the host", why);
    }
    let encryption = if is_encrypted { " with TLS; any certificate is accepted, as Tsung does" } else { "" };
    findings.supported(element, format!("target {host}:{port}{encryption}"));
    Some(Server { host: authority(host), port, is_encrypted, weight })
}

fn port(element: Element<'_>, text: &str, findings: &mut Findings) -> Option<u16> {
    let port = text.trim().parse().ok().filter(|port| *port > 0);
    if port.is_none() {
        findings.problem(element, Some("port"), format!("`{text}` is not a port, 1 to 65535"), None);
    }
    port
}

fn authority(host: &str) -> String {
    let host = host.trim();
    if host.parse::<Ipv6Addr>().is_ok() { format!("[{host}]") } else { host.to_owned() }
}

/// Returns the source addresses of all clients, in the scenario's notation.
pub(super) fn clients(root: Element<'_>, findings: &mut Findings) -> Vec<String> {
    let Some(clients) = root.child("clients") else {
        findings.problem(root, None, "there are no `clients`", None);
        return Vec::new();
    };
    findings.supported(clients, "where the users come from");
    let mut addresses = Vec::new();
    for element in clients.children() {
        client(element, findings);
        for child in element.children() {
            match child.name() {
                "ip" => addresses.extend(address(child, findings)),
                _ => addresses.extend(address_range(child, findings)),
            }
        }
    }
    addresses
}

fn client(element: Element<'_>, findings: &mut Findings) {
    let host = element.attribute("host").unwrap_or("localhost");
    findings.number(element, "weight");
    findings.count(element, "cpu");
    findings.count(element, "maxusers");
    findings.flag(element, "use_controller_vm");
    match findings.word(element, "type", &["machine", "batch"]) {
        Some("batch") => {
            let what_to_do = "start `stampede agent` in the batch job and name it with --agents";
            findings.unsupported(element, None, "clients that a batch scheduler starts", what_to_do);
        }
        Some(_) | None => {
            let text = "its users are played by the machine that runs the scenario";
            let why = if host == "localhost" {
                "no other machine is needed".to_owned()
            } else {
                format!(
                    "to have {host} play its share, start `stampede agent` there and name it with --agents"
                )
            };
            findings.approximated(element, None, text, why);
        }
    }
    findings.approximated_attributes(
        element,
        &[
            (
                "weight",
                "no weight on one machine",
                "with --agents the controller divides the users among the agents",
            ),
            ("cpu", "no count of virtual machines", "one process uses the machine's cores"),
            ("maxusers", "no maximum per process", "one process plays as many users as memory holds"),
            ("use_controller_vm", "no virtual machines", "one process does all"),
            ("batch", "no batch scheduler", "see `type`"),
            (
                "scan_intf",
                "no scan of interfaces",
                "`source_addresses: machine` uses all of the machine's addresses",
            ),
        ],
    );
}

fn address(element: Element<'_>, findings: &mut Findings) -> Option<String> {
    let value = findings.required(element, "value")?.trim();
    if findings.flag(element, "scan") {
        let why = format!("all of the machine's own are used, not only those of `{value}`");
        findings.approximated(element, None, "source addresses of an interface", why);
        return Some("machine".to_owned());
    }
    if value == "resolve" {
        findings.approximated(
            element,
            None,
            "the client's own address",
            "the kernel chooses it for each connection",
        );
        return None;
    }
    if value.parse::<std::net::IpAddr>().is_err() {
        findings.problem(element, Some("value"), format!("`{value}` is not an IP address"), None);
        return None;
    }
    findings.approximated(
        element,
        None,
        format!("source address {value}"),
        "the source addresses of all clients are used in turn by the machine that runs the scenario, which must have them",
    );
    Some(value.to_owned())
}

fn address_range(element: Element<'_>, findings: &mut Findings) -> Vec<String> {
    let Some(value) = findings.required(element, "value") else { return Vec::new() };
    if findings.word(element, "version", &["v4", "v6"]) == Some("v6") {
        let what_to_do = "write the addresses into `source_addresses`";
        findings.unsupported(element, None, "a range of IPv6 addresses", what_to_do);
        return Vec::new();
    }
    match ranges(value) {
        Ok(ranges) => {
            findings.approximated(
                element,
                None,
                format!("source addresses {value}"),
                "used in turn, not drawn, by the machine that runs the scenario, which must have them",
            );
            ranges
        }
        Err(message) => {
            findings.problem(element, Some("value"), message, None);
            Vec::new()
        }
    }
}

pub(super) fn monitoring(root: Element<'_>, findings: &mut Findings) {
    let Some(monitoring) = root.child("monitoring") else { return };
    findings.supported(monitoring, "see its monitors");
    for monitor in monitoring.children() {
        findings.required(monitor, "host");
        findings.word(monitor, "type", &["erlang", "snmp", "munin"]);
        let host = monitor.attribute("host").unwrap_or_default();
        let what_to_do =
            "run with `--scrape URL` of a Prometheus endpoint there, or with `--pid PID` for a process here";
        findings.unsupported(monitor, None, format!("monitoring of {host}"), what_to_do);
        for detail in monitor.descendants().skip(1) {
            findings.unsupported(detail, None, "how it is monitored", "see `monitor`");
        }
    }
}
