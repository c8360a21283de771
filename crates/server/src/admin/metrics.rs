//! `/metrics`, as text or OpenMetrics. A scrape reads counters that others maintain; it sends no requests.

mod bus;
mod memory;
mod page;
mod people;
mod process;
mod rest;

use super::Served;
use axum::Router;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use exposition::Format;
use gateway::{CloseReason, Snapshot};
use page::Page;
use people::MessengerCollector;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;
use rest::RestCollector;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Creates the route for scrapes.
pub(super) fn router(served: Served) -> Router {
    let mut registry = Registry::default();
    let messenger = served.messenger.clone();
    let api = served.rest.clone();
    let resident_bytes_at_start = served.handle.memory().resident_bytes;
    let gateway = GatewayCollector { served, resident_bytes_at_start, started: SystemTime::now() };
    registry.register_collector(Box::new(gateway));
    registry.register_collector(Box::new(MessengerCollector { messenger }));
    registry.register_collector(Box::new(RestCollector { api }));
    Router::new().route("/metrics", get(scrape)).with_state(Arc::new(registry))
}

async fn scrape(State(registry): State<Arc<Registry>>, headers: HeaderMap) -> Response {
    let format = Format::preferred(headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()));
    let mut page = String::new();
    match text::encode(&mut page, &registry) {
        Ok(()) => {
            let headers = [(CONTENT_TYPE, format.content_type()), (VARY, ACCEPT.as_str())];
            (headers, format.page(page)).into_response()
        }
        Err(fmt::Error) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Reads the gateway and the machine at each scrape.
struct GatewayCollector {
    served: Served,
    /// The process's memory without any connection.
    resident_bytes_at_start: u64,
    /// When the process started, except for the time until this was created.
    started: SystemTime,
}

impl fmt::Debug for GatewayCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GatewayCollector")
    }
}

impl Collector for GatewayCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Served { handle, memory, bus, memory_limit, .. } = &self.served;
        let snapshot = handle.metrics();
        let mut page = Page::new(encoder);
        connections(&mut page, &snapshot)?;
        messages(&mut page, &snapshot)?;
        recovery(&mut page, &snapshot)?;
        shards(&mut page, &snapshot)?;
        if let Some(status) = bus {
            bus::encode(&mut page, &status.snapshot())?;
        }
        process::encode(&mut page, self.started)?;
        memory::encode(&mut page, &snapshot, &memory.snapshot(), self.resident_bytes_at_start)?;
        memory::encode_bounds(&mut page, handle.memory_budget(), memory_limit.as_ref())
    }
}

fn connections(page: &mut Page<'_>, snapshot: &Snapshot) -> fmt::Result {
    let closed = snapshot.closed.iter().map(|(reason, count)| (reason.label(), *count));
    let slow: u64 = snapshot
        .closed
        .iter()
        .filter(|(reason, _)| *reason == CloseReason::SlowConsumer)
        .map(|(_, n)| n)
        .sum();
    page.gauge("throng_connections_open", "Open connections.", snapshot.connections_open)?;
    page.counter("throng_connections", "Accepted connections.", snapshot.connections_total)?;
    page.counters("throng_connections_closed", "Closed connections, by reason.", "reason", closed)?;
    page.counter(
        "throng_slow_consumer_closes",
        "Connections closed because the client read too slowly.",
        slow,
    )?;
    page.counters(
        "throng_rejected",
        "Refused connections, by reason.",
        "reason",
        snapshot.rejected.iter().copied(),
    )?;
    page.counters(
        "throng_tls_refusals",
        "Refused TLS connections, by outcome: whether the client got a response.",
        "outcome",
        snapshot.tls_refusals.iter().copied(),
    )?;
    page.gauge("throng_longpoll_sessions", "Open long-polling sessions.", snapshot.longpoll_sessions)?;
    page.counters(
        "throng_longpoll_forwarded",
        "Long-polling requests forwarded to the node that has the session, by outcome.",
        "outcome",
        snapshot.longpoll_forwarded.iter().copied(),
    )
}

fn messages(page: &mut Page<'_>, snapshot: &Snapshot) -> fmt::Result {
    page.gauge("throng_joined", "Currently joined channels.", snapshot.joined)?;
    page.counter("throng_joins", "Accepted joins.", snapshot.joins_total)?;
    page.counter("throng_joins_refused", "Refused joins.", snapshot.joins_refused_total)?;
    page.gauge("throng_joins_waiting", "Joins waiting in the queue.", snapshot.joins_waiting)?;
    page.counter("throng_joins_queued", "Joins that had to wait in the queue.", snapshot.joins_queued_total)?;
    let overloaded = snapshot.joins_overloaded_total;
    page.counter("throng_joins_overloaded", "Joins refused because the queue was too long.", overloaded)?;
    page.gauge("throng_topics", "Topics, counted once for each shard with members.", snapshot.topics)?;
    page.counter("throng_messages_in", "Messages received from clients.", snapshot.messages_in_total)?;
    page.counter(
        "throng_messages_out",
        "Messages sent to clients, one for each receiver.",
        snapshot.messages_out_total,
    )?;
    page.counter("throng_bytes_in", "Bytes read from connections.", snapshot.bytes_in_total)?;
    page.counter("throng_bytes_out", "Bytes written to connections.", snapshot.bytes_out_total)?;
    let dropped = snapshot.publications_dropped_total;
    page.counter("throng_publications_dropped", "Broadcasts dropped because a queue was full.", dropped)?;
    let undeliverable = snapshot.undeliverable_total;
    page.counter(
        "throng_undeliverable",
        "Messages that could not be encoded for a client's serializer.",
        undeliverable,
    )?;
    page.counter(
        "throng_channels_failed",
        "Channels that panicked or failed.",
        snapshot.channels_failed_total,
    )?;
    let undecodable = snapshot.undecodable_total;
    page.counter("throng_undecodable", "Connections closed because of an invalid message.", undecodable)?;
    let parked = snapshot.parked_overflows_total;
    page.counter(
        "throng_parked_overflows",
        "Connections closed because they sent too much before a join completed.",
        parked,
    )?;
    page.histogram(
        "throng_processing_seconds",
        "Time from receiving a message until it is written or queued for its last local subscriber.",
        &snapshot.processing_seconds,
    )?;
    page.histogram(
        "throng_fanout_size",
        "Members that a broadcast reached on a shard.",
        &snapshot.fanout_size,
    )
}

fn recovery(page: &mut Page<'_>, snapshot: &Snapshot) -> fmt::Result {
    let counters = [
        ("throng_appends", "Broadcasts added to the history of a recoverable topic.", snapshot.appends_total),
        (
            "throng_appends_refused",
            "Broadcasts on recoverable topics that were refused: too many were waiting, or the bus was unavailable.",
            snapshot.appends_refused_total,
        ),
        (
            "throng_gaps",
            "Times that a shard missed part of a topic, or may have missed it while the bus was unavailable.",
            snapshot.gaps_total,
        ),
        (
            "throng_gaps_healed",
            "Times that a shard recovered everything that it had missed.",
            snapshot.gaps_healed_total,
        ),
        ("throng_gaps_told", "Times that members were told of lost messages.", snapshot.gaps_told_total),
        ("throng_recoveries", "Joins that recovered the missed messages.", snapshot.recoveries_total),
        (
            "throng_recoveries_refused",
            "Joins that could not recover the missed messages.",
            snapshot.recoveries_refused_total,
        ),
    ];
    counters.into_iter().try_for_each(|(name, help, value)| page.counter(name, help, value))
}

fn shards(page: &mut Page<'_>, snapshot: &Snapshot) -> fmt::Result {
    let numbered = || (0..).map(|index: usize| index.to_string()).zip(&snapshot.shards);
    page.gauges(
        "throng_shard_connections",
        "Open connections of a shard.",
        "shard",
        numbered().map(|(index, shard)| (index, shard.connections)),
    )?;
    page.counters(
        "throng_shard_busy_seconds",
        "Time that a shard was busy; its maximum is one second per second.",
        "shard",
        numbered().map(|(index, shard)| (index, Duration::from_micros(shard.busy_us_total).as_secs_f64())),
    )?;
    page.gauges(
        "throng_mailbox_depth",
        "Messages from other threads that are waiting for a shard.",
        "shard",
        numbered().map(|(index, shard)| (index, shard.mailbox_depth)),
    )?;
    page.counters(
        "throng_mailbox_dropped",
        "Messages dropped because a shard's mailbox was full.",
        "shard",
        numbered().map(|(index, shard)| (index, shard.mailbox_dropped_total)),
    )
}
