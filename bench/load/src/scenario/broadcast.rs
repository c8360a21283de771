//! One message to everyone on a topic: the server's CPU for each delivery, and the time until the last one has it.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{OPEN_PATIENCE, microseconds_each};
use crate::worker::{Tally, Worker};
use crate::{Crowd, Opened, ServerProcesses, Target};

/// How often the rounds' progress is looked at; the times themselves are taken by the receiving threads.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A pause after each round, in which the server's CPU time settles and stray messages come in.
const SETTLE: Duration = Duration::from_millis(50);

/// What to broadcast, and how often.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// Connections that receive; one more, which is not counted among them, publishes.
    pub receivers: usize,
    /// Threads of the receivers at least.
    pub threads: usize,
    /// Messages, each sent when the one before has arrived everywhere. One more goes first, unmeasured. No other follows
    /// one that did not.
    pub rounds: u32,
    /// How long the last receiver of a round may take.
    pub patience: Duration,
    /// The client frame that makes the server broadcast.
    pub publication: Vec<u8>,
}

/// What [`broadcast`] measured. Times are in milliseconds, one for each round that was complete.
#[derive(Clone, Debug, Serialize)]
pub struct BroadcastReport {
    /// How the receivers fared when they connected.
    pub opened: Opened,
    /// Open receivers over the time that all of them took.
    pub connections_per_second: f64,
    /// The server's CPU time for each open receiver.
    pub server_cpu_us_per_connection: Option<f64>,
    /// From sending to the last receiver, sorted.
    pub last_receiver_ms: Vec<f64>,
    /// Median of these.
    pub last_receiver_ms_median: f64,
    /// The server's CPU time for each delivery, the publisher's own copy included.
    pub server_cpu_us_per_delivery: Option<f64>,
    /// Deliveries that did not come in time, or on connections that were cut.
    pub lost: u64,
    /// Messages beyond one for each round.
    pub extra: u64,
}

/// Opens the receivers and the publisher, and lets the one speak to the others.
pub fn broadcast(
    target: Target,
    plan: &Broadcast,
    server: Option<&ServerProcesses>,
) -> io::Result<BroadcastReport> {
    let mut crowd = Crowd::start(target.clone(), plan.threads, plan.receivers)?;
    let cpu_before = server.map(|server| server.cpu());
    let opened = crowd.open_until(plan.receivers, OPEN_PATIENCE)?;
    let opening_cpu = server.zip(cpu_before).map(|(server, before)| server.cpu().saturating_sub(before));
    // The index after those of the crowd's threads gives it a source address of its own.
    let index = crowd.threads();
    let mut publisher = Worker::new(index, Arc::new(target), Arc::new(Tally::new(Instant::now())))?;
    publisher.open_until(1, Instant::now() + OPEN_PATIENCE)?;

    crowd.receive()?;
    let mut sent = 1;
    let mut complete = run_round(&crowd, &publisher, plan, opened.open as u64)?;
    let cpu_before = server.map(|server| server.cpu());
    let mut last_receiver_ms = Vec::new();
    while complete.is_some() && sent <= plan.rounds {
        sent += 1;
        complete = run_round(&crowd, &publisher, plan, u64::from(sent) * opened.open as u64)?;
        last_receiver_ms.extend(complete.map(|elapsed| elapsed.as_secs_f64() * 1e3));
    }
    let cpu = server.zip(cpu_before).map(|(server, before)| server.cpu().saturating_sub(before));
    crowd.stop()?;
    let (lost, extra) = crowd.miscount(sent)?;

    last_receiver_ms.sort_by(f64::total_cmp);
    let deliveries = u64::from(sent - 1) * (opened.open as u64 + 1);
    Ok(BroadcastReport {
        opened,
        connections_per_second: opened.open as f64 / opened.seconds,
        server_cpu_us_per_connection: opening_cpu.map(|cpu| microseconds_each(cpu, opened.open as u64)),
        last_receiver_ms_median: last_receiver_ms
            .get(last_receiver_ms.len() / 2)
            .copied()
            .unwrap_or(f64::NAN),
        last_receiver_ms,
        server_cpu_us_per_delivery: cpu.map(|cpu| microseconds_each(cpu, deliveries)),
        lost,
        extra,
    })
}

/// Publishes once, waits until the crowd has `expected` messages in all, and tells how long the last one took; `None` if
/// time is up.
fn run_round(
    crowd: &Crowd,
    publisher: &Worker,
    plan: &Broadcast,
    expected: u64,
) -> io::Result<Option<Duration>> {
    let sent_at = Instant::now();
    if !publisher.send_one(&plan.publication) {
        return Err(io::Error::other("the publisher has no connection"));
    }
    while crowd.messages() < expected && sent_at.elapsed() < plan.patience {
        thread::sleep(LOOK_EVERY);
    }
    let is_complete = crowd.messages() >= expected;
    let last = crowd.last_message_at().unwrap_or(sent_at);
    thread::sleep(SETTLE);
    Ok(is_complete.then(|| last.saturating_duration_since(sent_at)))
}
