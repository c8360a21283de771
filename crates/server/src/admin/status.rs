//! `GET /api/status`: everything that `throng top` shows, in one answer.

use super::memory::WholeMemory;
use super::problem::Problem;
use crate::status::{
    BudgetStatus, ComponentStatus, ConnectionStatus, MemoryStatus, ReaderStatus, ShardStatus, Status,
    TopicStatus, Totals,
};
use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use gateway::machine::MemoryLimit;
use gateway::{CloseReason, Handle, MemorySnapshot, Snapshot, Space};
use messenger::Messenger;
use serde::Deserialize;
use std::sync::OnceLock;
use std::time::Instant;

/// Number of topics and slow readers that are listed.
const LISTED_DEFAULT: usize = 10;
const LISTED_MAX: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusQuery {
    topics: Option<usize>,
    readers: Option<usize>,
}

/// Records the start time of the server, for its uptime.
pub(super) fn begin() {
    started();
}

fn started() -> Instant {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    *STARTED.get_or_init(Instant::now)
}

pub(super) async fn status(
    State(handle): State<Handle>,
    Extension(messenger): Extension<Messenger>,
    Extension(memory): Extension<WholeMemory>,
    Extension(limit): Extension<Option<MemoryLimit>>,
    query: Result<Query<StatusQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(query) = query.map_err(|rejection| Problem::bad_request(rejection.body_text()))?;
    let (topics_max, readers_max) = (listed("topics", query.topics)?, listed("readers", query.readers)?);
    let census = handle.census(topics_max, readers_max).await;
    let snapshot = handle.metrics();
    let topics = census.topics.into_iter();
    let readers = census.slow_readers.into_iter();
    let status = Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_seconds: started().elapsed().as_secs_f64(),
        connections: ConnectionStatus {
            open: snapshot.connections_open,
            joined: snapshot.joined,
            topics: snapshot.topics,
            longpoll_sessions: snapshot.longpoll_sessions,
            joins_waiting: snapshot.joins_waiting + messenger.joins_waiting(),
        },
        totals: totals(&snapshot),
        shards: shards(&snapshot),
        memory: memory_status(&handle, &memory.snapshot(), limit.map(|limit| limit.bytes)),
        topics: topics
            .map(|(topic, members)| TopicStatus { topic: topic.to_string(), members: members as u64 })
            .collect(),
        slow_readers: readers
            .map(|reader| ReaderStatus {
                shard: reader.shard.into(),
                remote: reader.remote.map(|remote| remote.to_string()),
                socket_id: reader.socket_id.map(String::from),
                waiting_bytes: reader.waiting_bytes as u64,
            })
            .collect(),
    };
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    // A document of numbers and texts can always be serialized.
    Ok((headers, serde_json::to_string(&status).unwrap_or_default()).into_response())
}

fn listed(name: &str, wanted: Option<usize>) -> Result<usize, Problem> {
    match wanted.unwrap_or(LISTED_DEFAULT) {
        count @ 0..=LISTED_MAX => Ok(count),
        count => Err(Problem::bad_request(format!("`{name}` is {count}, but must be at most {LISTED_MAX}"))),
    }
}

fn totals(snapshot: &Snapshot) -> Totals {
    let slow = snapshot.closed.iter().find(|(reason, _)| *reason == CloseReason::SlowConsumer);
    let mailboxes: u64 = snapshot.shards.iter().map(|shard| shard.mailbox_dropped_total).sum();
    Totals {
        accepted: snapshot.connections_total,
        closed: snapshot.closed.iter().map(|(_, count)| count).sum(),
        slow_consumers: slow.map_or(0, |(_, count)| *count),
        rejected: snapshot.rejected.iter().map(|(_, count)| count).sum(),
        joins: snapshot.joins_total,
        messages_in: snapshot.messages_in_total,
        messages_out: snapshot.messages_out_total,
        bytes_in: snapshot.bytes_in_total,
        bytes_out: snapshot.bytes_out_total,
        dropped: snapshot.publications_dropped_total + mailboxes,
    }
}

fn shards(snapshot: &Snapshot) -> Vec<ShardStatus> {
    let of = |shard: &gateway::ShardSnapshot| ShardStatus {
        connections: shard.connections,
        mailbox_depth: shard.mailbox_depth,
        outbox_bytes: shard.outbox_bytes,
        busy_us: shard.busy_us_total,
        turn_us_max: shard.turn_us_max,
    };
    snapshot.shards.iter().map(of).collect()
}

fn memory_status(handle: &Handle, memory: &MemorySnapshot, limit_bytes: Option<u64>) -> MemoryStatus {
    let component = |(component, bytes): &(gateway::Component, u64)| ComponentStatus {
        component: component.label().to_owned(),
        kernel: component.space() == Space::Kernel,
        bytes: *bytes,
        connection_bytes: (!component.is_fixed() && memory.connections > 0)
            .then(|| bytes / memory.connections),
    };
    MemoryStatus {
        resident_bytes: memory.resident_bytes,
        whole_bytes: memory.whole(),
        budget: handle
            .memory_budget()
            .map(|budget| BudgetStatus { bytes: budget.bytes, connections: budget.allowed }),
        limit_bytes,
        components: memory.components.iter().map(component).collect(),
    }
}
