//! A Redis Cluster. Which master has which partition is requested from any of its servers at the beginning of each
//! session. When a slot moves or a master is replaced, the session ends, and the next one finds the new layout.

use super::channels::Channels;
use super::clients::{Clients, connect, patience};
use super::explain::explain;
use super::keys::Keys;
use super::place::Place;
use super::slots::{PARTITIONS, slot, tag};
use crate::failure::Failure;
use crate::session::SessionContext;
use ::redis::{ConnectionAddr, ConnectionInfo, Value, cmd, from_redis_value};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Cluster {
    clients: Clients,
    /// The configured servers; connections to all others use the same settings.
    seeds: Vec<ConnectionInfo>,
    /// All servers as last discovered: the configured ones may be gone.
    found: Mutex<Vec<ConnectionAddr>>,
    /// The hash tag of each partition.
    tags: Vec<String>,
    prefix: String,
}

/// A range of slots.
struct Range {
    first: u16,
    last: u16,
    /// The master first, then its replicas.
    servers: Vec<ConnectionAddr>,
}

impl Cluster {
    pub(crate) fn new(seeds: Vec<ConnectionInfo>, prefix: &str, clients: Clients) -> Cluster {
        let tags = (0..PARTITIONS).map(tag).collect();
        Cluster { clients, seeds, found: Mutex::default(), tags, prefix: prefix.to_owned() }
    }

    pub(crate) fn seeds(&self) -> &[ConnectionInfo] {
        &self.seeds
    }

    /// Returns the current place of each partition, according to the first server that knows a master for each.
    pub(crate) async fn places(&self, context: &SessionContext) -> Result<Vec<Place>, Failure> {
        let mut failure = Failure::Unreachable("no server is known".to_owned());
        for server in self.servers() {
            // A server that was removed from the cluster still answers, but knows no masters.
            let known = self.ask(&server, context).await.and_then(|ranges| {
                let places = self.places_in(&server, &ranges)?;
                self.remember(&ranges);
                Ok(places)
            });
            match known {
                Ok(places) => return Ok(places),
                Err(why) => failure = why,
            }
        }
        Err(failure)
    }

    /// Returns the configured servers, followed by the discovered ones.
    fn servers(&self) -> Vec<ConnectionInfo> {
        let mut servers = self.seeds.clone();
        for address in self.found().iter() {
            if servers.iter().all(|server| server.addr() != address) {
                servers.push(self.seeds[0].clone().set_addr(address.clone()));
            }
        }
        servers
    }

    async fn ask(&self, server: &ConnectionInfo, context: &SessionContext) -> Result<Vec<Range>, Failure> {
        let client = self.clients.client(server.clone()).map_err(|bad| Failure::Tls(bad.to_string()))?;
        let mut connection = connect(&client, &patience(context)).await?;
        let answer: Value = cmd("CLUSTER")
            .arg("SLOTS")
            .query_async(&mut connection)
            .await
            .map_err(|error| explain(&error))?;
        ranges(answer, server.addr())
            .ok_or_else(|| Failure::Refused("its hash slots cannot be parsed".to_owned()))
    }

    /// Remembers the servers, to ask them when the configured ones are gone.
    fn remember(&self, ranges: &[Range]) {
        let mut found: Vec<ConnectionAddr> = Vec::new();
        for address in ranges.iter().flat_map(|range| &range.servers) {
            if !found.contains(address) {
                found.push(address.clone());
            }
        }
        *self.found() = found;
    }

    fn places_in(&self, server: &ConnectionInfo, ranges: &[Range]) -> Result<Vec<Place>, Failure> {
        let place = |tag: &String| {
            let has_it = |range: &&Range| (range.first..=range.last).contains(&slot(tag));
            let master = ranges.iter().find(has_it).and_then(|range| range.servers.first());
            let master = master
                .ok_or_else(|| Failure::Refused(format!("no master serves hash slot {}", slot(tag))))?;
            let client = self.clients.client(server.clone().set_addr(master.clone()));
            let client = client.map_err(|bad| Failure::Tls(bad.to_string()))?;
            Ok(Place { client, keys: Keys::tagged(&self.prefix, tag), channels: Channels::Sharded })
        };
        self.tags.iter().map(place).collect()
    }

    fn found(&self) -> MutexGuard<'_, Vec<ConnectionAddr>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the answer to `CLUSTER SLOTS`; `asked` is the address of the server that answered. Returns `None` for
/// anything else.
fn ranges(answer: Value, asked: &ConnectionAddr) -> Option<Vec<Range>> {
    let range = |values: Value| {
        let mut values = array(values)?.into_iter();
        let mut edge = || small(values.next()?);
        let (first, last) = (edge()?, edge()?);
        let servers = values.map(|server| address(server, asked)).collect::<Option<Vec<_>>>()?;
        Some(Range { first, last, servers })
    };
    array(answer)?.into_iter().map(range).collect()
}

/// Parses a slot or a port. The crate's conversion would truncate larger numbers.
fn small(value: Value) -> Option<u16> {
    match value {
        Value::Int(number) => u16::try_from(number).ok(),
        _ => None,
    }
}

fn array(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

/// Parses a server's address: host and port come first. A server that does not know its own host has that of `asked`.
fn address(server: Value, asked: &ConnectionAddr) -> Option<ConnectionAddr> {
    let mut values = array(server)?.into_iter();
    let host: Option<String> = from_redis_value(values.next()?).ok()?;
    let port = small(values.next()?)?;
    let host = host.filter(|host| !host.is_empty());
    match asked {
        ConnectionAddr::Tcp(asked_host, _) => {
            Some(ConnectionAddr::Tcp(host.unwrap_or_else(|| asked_host.clone()), port))
        }
        ConnectionAddr::TcpTls { host: asked_host, insecure, tls_params, .. } => {
            Some(ConnectionAddr::TcpTls {
                host: host.unwrap_or_else(|| asked_host.clone()),
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn server(host: Value, port: i64) -> Value {
        Value::Array(vec![host, Value::Int(port), text("id"), Value::Array(vec![])])
    }

    #[test]
    fn ranges_are_read_with_masters_before_replicas() {
        let one = vec![
            Value::Int(0),
            Value::Int(8191),
            server(text("10.0.0.1"), 6379),
            server(text("10.0.0.2"), 6380),
        ];
        let two = vec![Value::Int(8192), Value::Int(16383), server(Value::Nil, 6381)];
        let asked = ConnectionAddr::Tcp("asked".to_owned(), 1);
        let ranges = ranges(Value::Array(vec![Value::Array(one), Value::Array(two)]), &asked)
            .expect("they are ranges");
        let tcp = |host: &str, port| ConnectionAddr::Tcp(host.to_owned(), port);
        assert_eq!((ranges[0].first, ranges[0].last), (0, 8191));
        assert_eq!(ranges[0].servers, [tcp("10.0.0.1", 6379), tcp("10.0.0.2", 6380)]);
        assert_eq!(ranges[1].servers, [tcp("asked", 6381)]);
    }

    #[test]
    fn what_is_no_range_is_not_read() {
        let asked = ConnectionAddr::Tcp("asked".to_owned(), 1);
        for wrong in [
            Value::Okay,
            Value::Array(vec![Value::Int(1)]),
            Value::Array(vec![Value::Array(vec![Value::Int(0)])]),
            Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(70_000)])]),
            Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(1), text("host")])]),
        ] {
            assert!(ranges(wrong, &asked).is_none());
        }
    }
}
