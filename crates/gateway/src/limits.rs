//! Bounds of a gateway that an operator may change, with what happens past each.

use std::time::Duration;

/// See the fields; all sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Unsent bytes that a slow client may have. Past it the client is closed with 1013 and comes back.
    pub outbox_bytes_max: usize,
    /// Messages that may wait for a shard. Past it broadcasts between shards are dropped and counted.
    pub mailbox_len_max: usize,
    /// Connections in all. Past it a new one is answered 503.
    pub connections_max: usize,
    /// Plain HTTP connections (pages, long-polling, TLS handshakes). Past it a new one is cut.
    pub http_connections_max: usize,
    /// Open connections of one IP address. Past it a new one is answered 429.
    pub connections_per_ip_max: u32,
    /// New connections of one IP address per second, with bursts of the same size. Past it a new one is answered 429.
    pub connection_rate_per_ip_max: u32,
    /// Time for a request's head to arrive. Past it the connection is answered 408.
    pub handshake_time_max: Duration,
    /// A request's head. Past it the connection is answered 431. At most 16 KiB.
    pub header_bytes_max: usize,
    /// Deliveries of broadcasts in one turn of a shard, between which other work is done.
    pub deliveries_per_turn_max: usize,
    /// People of one topic whose comings and goings are told one by one. Past it only their number is.
    pub presence_people_max: usize,
}

impl Default for Limits {
    /// Generous: a load test from one address does not meet them.
    fn default() -> Self {
        Limits {
            outbox_bytes_max: 1 << 20,
            mailbox_len_max: 65_536,
            connections_max: 4_000_000,
            http_connections_max: 10_000,
            connections_per_ip_max: 4_000_000,
            connection_rate_per_ip_max: 100_000,
            handshake_time_max: Duration::from_secs(10),
            header_bytes_max: 16 << 10,
            deliveries_per_turn_max: 256,
            presence_people_max: 500,
        }
    }
}
