//! The limits of a gateway that an operator may change, each with what happens beyond it.

use std::fmt;
use std::time::Duration;
use tokio::sync::Semaphore;

/// See the fields; all sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Unsent bytes that a slow client may have. Beyond it the client is closed with 1013 and reconnects.
    pub outbox_bytes_max: usize,
    /// Messages that may wait for a shard. Beyond it, broadcasts between shards are dropped and counted.
    pub mailbox_len_max: usize,
    /// Total number of connections. Beyond it a new one is answered 503; one over TLS only when it requests a
    /// WebSocket, since until then it counts as a plain HTTP connection.
    pub connections_max: usize,
    /// Memory that the server may take of the machine, in bytes, including the kernel's part; `None` for no limit.
    /// Beyond it a new connection is answered 503. What a single connection may make the server keep is bounded by what
    /// is left: a slow reader, or a client that leaves a large message incomplete, is closed with 1013.
    pub memory_budget: Option<u64>,
    /// Plain HTTP connections (pages, long-polling, TLS handshakes). Beyond it a new one is cut; one over TLS waits in
    /// the kernel instead. Each TLS listener takes one of them for the connection that it waits for.
    pub http_connections_max: usize,
    /// Long-poll sessions. Beyond it a new client is asked to come back later.
    pub longpoll_sessions_max: usize,
    /// Open connections and long-poll sessions of one IP address. Beyond it a new one is answered 429. The IPv6
    /// addresses of a [network](crate::network) count as one, here and below.
    pub connections_per_ip_max: u32,
    /// New connections and long-poll sessions of one IP address per second, with bursts of the same size. Beyond it a
    /// new one is answered 429.
    pub connection_rate_per_ip_max: u32,
    /// New connections per second in total; `None` for no limit. Beyond it a new one is answered 503.
    pub connection_rate_max: Option<u32>,
    /// How many of them may come at once.
    pub connection_burst_max: u32,
    /// Answers per second to new TLS connections that one of the limits above refuses, and as many at the same time:
    /// each costs a handshake. Beyond it they are cut.
    pub tls_refusals_per_second_max: u32,
    /// Joins per second in total, an equal part for each shard; `None` for no limit. Beyond it a join is queued and
    /// answered later.
    pub join_rate_max: Option<u32>,
    /// How long a join may have to wait in that queue. Beyond it, it is answered `overloaded`, with a time to wait.
    pub join_wait_max: Duration,
    /// Time for a request head to arrive. Beyond it the connection is answered 408.
    pub handshake_time_max: Duration,
    /// Size of a request head, from 256 bytes to 16 KiB. Beyond it the connection is answered 431.
    pub header_bytes_max: usize,
    /// Deliveries of broadcasts in one turn of a shard; other work is done between turns.
    pub deliveries_per_turn_max: usize,
    /// People of one topic whose changes are sent one by one. Beyond it, only their number is.
    pub presence_people_max: usize,
    /// Memory of the histories of all recoverable topics, in bytes; each shard has an equal part for the topics whose
    /// home it is. Beyond it, the topic that has been idle longest loses its history.
    pub history_bytes_max: usize,
    /// Missed messages that a client may get when it reconnects; they take at most half of
    /// [`Limits::outbox_bytes_max`]. Beyond it, the client is answered `too_many`.
    pub recovery_messages_max: usize,
}

impl Default for Limits {
    /// Generous: a load test from one address does not reach them.
    fn default() -> Self {
        Limits {
            outbox_bytes_max: 1 << 20,
            mailbox_len_max: 65_536,
            connections_max: 4_000_000,
            memory_budget: None,
            http_connections_max: 10_000,
            longpoll_sessions_max: 100_000,
            connections_per_ip_max: 4_000_000,
            connection_rate_per_ip_max: 100_000,
            connection_rate_max: None,
            connection_burst_max: 1_000,
            tls_refusals_per_second_max: 50,
            join_rate_max: None,
            join_wait_max: Duration::from_secs(5),
            handshake_time_max: Duration::from_secs(10),
            header_bytes_max: 16 << 10,
            deliveries_per_turn_max: 256,
            presence_people_max: 500,
            history_bytes_max: 256 << 20,
            recovery_messages_max: 1000,
        }
    }
}

/// The minimum and maximum of [`Limits::header_bytes_max`]: a browser's upgrade must fit, and a shard's read buffer
/// must hold the head.
const HEADER_BYTES_BOUNDS: (usize, usize) = (256, 16 << 10);

/// The error for a limit under which a gateway could not serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadLimit {
    /// The field of [`Limits`].
    pub name: &'static str,
    /// The condition that it must meet.
    pub must: &'static str,
}

impl fmt::Display for BadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the limit `{}` must be {}", self.name, self.must)
    }
}

impl std::error::Error for BadLimit {}

impl Limits {
    /// Returns the interval between two joins of one shard, in microseconds; 0 for no limit.
    pub(crate) fn join_interval_us(&self, shards: usize) -> u64 {
        let part = |per_second: u32| 1_000_000 * shards.max(1) as u64 / u64::from(per_second.max(1));
        self.join_rate_max.map_or(0, |per_second| part(per_second).max(1))
    }

    /// Checks for a limit that lets nothing through, or that its mechanism cannot represent.
    pub fn check(&self) -> Result<(), BadLimit> {
        let at_least_one = [
            ("outbox_bytes_max", self.outbox_bytes_max),
            ("mailbox_len_max", self.mailbox_len_max),
            ("connections_max", self.connections_max),
            ("http_connections_max", self.http_connections_max),
            ("longpoll_sessions_max", self.longpoll_sessions_max),
            ("connections_per_ip_max", self.connections_per_ip_max as usize),
            ("connection_rate_per_ip_max", self.connection_rate_per_ip_max as usize),
            ("connection_rate_max", self.connection_rate_max.unwrap_or(1) as usize),
            ("connection_burst_max", self.connection_burst_max as usize),
            ("tls_refusals_per_second_max", self.tls_refusals_per_second_max as usize),
            ("join_rate_max", self.join_rate_max.unwrap_or(1) as usize),
            ("deliveries_per_turn_max", self.deliveries_per_turn_max),
        ];
        if let Some(&(name, _)) = at_least_one.iter().find(|(_, limit)| *limit == 0) {
            return Err(BadLimit { name, must: "at least 1" });
        }
        let countable = [
            ("http_connections_max", self.http_connections_max),
            ("longpoll_sessions_max", self.longpoll_sessions_max),
        ];
        if let Some(&(name, _)) = countable.iter().find(|(_, limit)| *limit > Semaphore::MAX_PERMITS) {
            return Err(BadLimit { name, must: "at most an eighth of the largest `usize`" });
        }
        if self.handshake_time_max.is_zero() {
            return Err(BadLimit { name: "handshake_time_max", must: "longer than 0" });
        }
        let (least, most) = HEADER_BYTES_BOUNDS;
        if !(least..=most).contains(&self.header_bytes_max) {
            return Err(BadLimit { name: "header_bytes_max", must: "from 256 bytes to 16 KiB" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_rate_of_joins() {
        let interval =
            |rate, shards| Limits { join_rate_max: rate, ..Limits::default() }.join_interval_us(shards);
        assert_eq!([interval(None, 4), interval(Some(1000), 1), interval(Some(1000), 4)], [0, 1000, 4000]);
        assert_eq!([interval(Some(1), 2), interval(Some(u32::MAX), 2)], [2_000_000, 1]);
    }

    #[test]
    fn limits_that_let_nothing_through_are_found_by_name() {
        type Break = fn(&mut Limits);
        let broken: [(&str, Break); 12] = [
            ("deliveries_per_turn_max", |limits| limits.deliveries_per_turn_max = 0),
            ("connections_per_ip_max", |limits| limits.connections_per_ip_max = 0),
            ("connection_rate_max", |limits| limits.connection_rate_max = Some(0)),
            ("connection_burst_max", |limits| limits.connection_burst_max = 0),
            ("tls_refusals_per_second_max", |limits| limits.tls_refusals_per_second_max = 0),
            ("join_rate_max", |limits| limits.join_rate_max = Some(0)),
            ("outbox_bytes_max", |limits| limits.outbox_bytes_max = 0),
            ("handshake_time_max", |limits| limits.handshake_time_max = Duration::ZERO),
            ("header_bytes_max", |limits| limits.header_bytes_max = 255),
            ("header_bytes_max", |limits| limits.header_bytes_max = (16 << 10) + 1),
            ("http_connections_max", |limits| limits.http_connections_max = usize::MAX),
            ("longpoll_sessions_max", |limits| limits.longpoll_sessions_max = usize::MAX),
        ];
        for (name, break_it) in broken {
            let mut limits = Limits::default();
            assert_eq!(limits.check(), Ok(()));
            break_it(&mut limits);
            assert_eq!(limits.check().map_err(|bad| bad.name), Err(name));
        }
    }
}
