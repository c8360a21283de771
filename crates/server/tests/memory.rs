//! Compares the memory metrics with what the kernel reports.

mod client;
mod throng;
mod tls;

use client::Client;
use gateway::machine;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use throng::{NO_IDLE_TIMEOUT, Throng};

const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
const CONNECTIONS: usize = 14_000;
/// Descriptors that the test and the server need besides connections.
const DESCRIPTORS_RESERVED: u64 = 700;
/// The memory of fewer connections would be lost in the process's base memory.
const CONNECTIONS_MIN: usize = 3_000;
/// With one topic each, connections take so little that the pages that a busy machine's threads touch besides, 0.2 MB, are a
/// fifth of it.
const TOPICS_EACH: usize = 4;

/// The samples of a scrape, by name and label.
struct Scrape(HashMap<String, f64>);

impl Scrape {
    fn of(server: &Throng) -> Scrape {
        let body = server.get(server.admin, "/metrics").body;
        let samples = body.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Scrape(samples.filter_map(sample).collect())
    }

    fn value(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("{name} is missing"))
    }

    /// Returns the components of a metric, with their names.
    fn components(&self, metric: &str) -> Vec<(&str, f64)> {
        let prefix = format!("{metric}{{component=\"");
        let named = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?, *value)));
        named.map(|(name, value)| (name.trim_end_matches("\"}"), value)).collect()
    }

    fn sum(&self, metric: &str) -> f64 {
        self.components(metric).iter().map(|(_, value)| value).sum()
    }

    fn resident(&self) -> f64 {
        self.value("process_resident_memory_bytes")
    }

    /// Returns everything about memory, for failure messages.
    fn table(&self) -> String {
        let mut lines: Vec<String> = self
            .0
            .iter()
            .filter(|(name, _)| name.contains("memory"))
            .map(|(n, v)| format!("{n} {v}"))
            .collect();
        lines.sort();
        lines.join("\n")
    }
}

fn as_many_as_fit() -> usize {
    let limit = machine::raise_descriptor_limit().expect("raised").soft.unwrap_or(u64::MAX);
    let connections = CONNECTIONS.min(limit.saturating_sub(DESCRIPTORS_RESERVED) as usize);
    assert!(connections >= CONNECTIONS_MIN, "raise the hard limit of descriptors (ulimit -Hn) to run this");
    connections
}

#[test]
fn the_components_are_the_resident_memory_within_a_tenth() {
    let connections = as_many_as_fit();
    let server = Throng::start(&NO_IDLE_TIMEOUT);
    let empty = Scrape::of(&server);
    let mut members = Vec::with_capacity(connections);
    let mut come_until = |count: usize| {
        for number in members.len()..count {
            let mut member = Client::open(server.address, SOCKET);
            for nth in 0..TOPICS_EACH {
                member.join(&format!("rooms:{}", (number + nth) % 100), "{}");
            }
            members.push(member);
        }
        Scrape::of(&server)
    };
    // Memory that the process used only for its start is returned meanwhile, and would hide what the connections take.
    let some = come_until(connections / 2);
    let full = come_until(connections);
    assert_eq!(full.value("throng_connections_open") as usize, connections);
    for scrape in [&empty, &full] {
        let part = scrape.sum("throng_memory_bytes") / scrape.resident();
        assert!((0.9..=1.1).contains(&part), "{part:.3} of\n{}", scrape.table());
    }
    // The process's base memory must not hide what connections take. Between 2,000 and 8,000 connections, the allocator's
    // partly used pages grow by 0.4 MB; beyond that, up to 18,000, they do not grow any more. So the second half is
    // measured.
    let counted = full.sum("throng_memory_bytes") - some.sum("throng_memory_bytes");
    let part = counted / (full.resident() - some.resident());
    assert!(
        (0.85..=1.15).contains(&part),
        "{part:.3} of the growth of\n{}\nto\n{}",
        some.table(),
        full.table()
    );
}

#[test]
fn each_connection_has_its_bytes_by_component_the_kernels_among_them() {
    const MEMBERS: usize = 200;
    let server = Throng::start(&NO_IDLE_TIMEOUT);
    let mut members: Vec<Client> = (0..MEMBERS).map(|_| Client::open(server.address, SOCKET)).collect();
    for member in &mut members {
        member.join("rooms:lobby", r#"{"presence":true,"name":"ann"}"#);
        while !member.hear_text().contains("presence_state") {}
    }
    let scrape = Scrape::of(&server);
    for (component, least) in [
        ("connection_slots", 40.0),
        ("connection_states", 56.0),
        ("topic_members", 16.0),
        ("presence", 100.0),
        ("sockets", 1_000.0),
    ] {
        let bytes = scrape.value(&format!("throng_connection_memory_bytes{{component=\"{component}\"}}"));
        assert!(bytes >= least, "{component}: {bytes} in\n{}", scrape.table());
    }
    let cache = scrape.value("throng_memory_bytes{component=\"store_cache\"}");
    assert!(cache == scrape.value("throng_cache_bytes"), "{cache} in\n{}", scrape.table());
    let each = scrape.components("throng_connection_memory_bytes");
    assert!(!each.iter().any(|(component, _)| ["program", "runtime"].contains(component)), "{each:?}");
    assert!(scrape.value("throng_kernel_memory_bytes{component=\"sockets\"}") >= 1_000.0 * MEMBERS as f64);
}

/// Checks that the components grow by what connections actually take. A first crowd warms the process up.
fn grows_as_counted(server: &Throng, mut connect: impl FnMut()) {
    const WARM: usize = 300;
    const MEASURED: usize = 1_000;
    (0..WARM).for_each(|_| connect());
    let before = Scrape::of(server);
    (0..MEASURED).for_each(|_| connect());
    let after = Scrape::of(server);
    let counted = after.sum("throng_memory_bytes") - before.sum("throng_memory_bytes");
    let part = counted / (after.resident() - before.resident());
    assert!(
        (0.7..=1.4).contains(&part),
        "{part:.3} of the growth of\n{}\nto\n{}",
        before.table(),
        after.table()
    );
}

#[test]
fn connections_by_tls_take_what_is_counted_for_them() {
    as_many_as_fit();
    let folder = tempfile::tempdir().expect("a folder");
    let trusted = tls::write_pair(folder.path());
    let server = tls::start(folder.path(), &NO_IDLE_TIMEOUT);
    let address = tls::address(&server);
    let mut members = Vec::new();
    grows_as_counted(&server, || {
        let stream = tls::connect(address, &trusted).expect("connected");
        let mut member =
            Client::upgrade(Box::new(stream), address, SOCKET, "").expect("answered").expect("upgraded");
        member.join("rooms:lobby", "{}");
        members.push(member);
    });
}

#[test]
fn idle_connections_of_the_http_server_take_what_is_counted_for_them() {
    as_many_as_fit();
    let server = Throng::start(&[]);
    let mut idle = Vec::new();
    grows_as_counted(&server, || {
        let mut stream = TcpStream::connect(server.address).expect("connected");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").expect("written");
        let mut answer = [0; 1024];
        let length = stream.read(&mut answer).expect("an answer");
        assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
        idle.push(stream);
    });
}
