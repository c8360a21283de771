//! One message to everyone on a topic: the server's CPU time per delivery, and the time until the last receiver has it.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{OPEN_PATIENCE, microseconds_each};
use crate::worker::{Tally, Worker};
use crate::{Crowd, Opened, ServerProcesses, Target};

/// Polling interval for the progress of a round; the times themselves are taken by the receiving threads.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Pause after each round, in which the server's CPU time settles and stray messages arrive.
const SETTLE: Duration = Duration::from_millis(50);

/// What to broadcast, and how often.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// Number of receiving connections; an additional one, not counted here, publishes.
    pub receivers: usize,
    /// Minimum number of receiver threads.
    pub threads: usize,
    /// Number of messages, each sent when the previous one has arrived everywhere. An unmeasured one precedes them. If
    /// one does not arrive everywhere, no more are sent.
    pub rounds: u32,
    /// Time limit until the last receiver of a round has the message.
    pub patience: Duration,
    /// How often receivers read, instead of when something arrives: see [`Crowd::receive`].
    pub read_every: Option<Duration>,
    /// The client frame that triggers the server's broadcast.
    pub publication: Vec<u8>,
}

/// Results of [`broadcast`]. Times are in milliseconds, one for each complete round.
#[derive(Clone, Debug, Serialize)]
pub struct BroadcastReport {
    /// The result of connecting the receivers.
    pub opened: Opened,
    /// Open receivers divided by the time in which they connected.
    pub connections_per_second: f64,
    /// The server's CPU time per open receiver.
    pub server_cpu_us_per_connection: Option<f64>,
    /// Times from sending until the last receiver had the message, sorted.
    pub last_receiver_ms: Vec<f64>,
    /// Median of these times.
    pub last_receiver_ms_median: f64,
    /// The server's CPU time per delivery, including the publisher's own copy.
    pub server_cpu_us_per_delivery: Option<f64>,
    /// Deliveries that did not arrive in time, or whose connection was cut.
    pub lost: u64,
    /// Messages in excess of one per round.
    pub extra: u64,
}

/// Opens the receivers and the publisher, and publishes round by round.
pub fn broadcast(
    target: Target,
    plan: &Broadcast,
    server: Option<&ServerProcesses>,
) -> io::Result<BroadcastReport> {
    let mut crowd = Crowd::start(target.clone(), plan.threads, plan.receivers)?;
    let cpu_before = server.map(|server| server.cpu());
    let opened = crowd.open_until(plan.receivers, OPEN_PATIENCE)?;
    let opening_cpu = server.zip(cpu_before).map(|(server, before)| server.cpu().saturating_sub(before));
    // The index after those of the crowd's threads gives the publisher its own source address.
    let index = crowd.threads();
    let mut publisher = Worker::new(index, Arc::new(target), Arc::new(Tally::new(Instant::now())))?;
    publisher.open_until(1, Instant::now() + OPEN_PATIENCE)?;

    crowd.receive(plan.read_every)?;
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

/// Publishes once and waits until the crowd has `expected` messages in total. Returns the time until the last receiver
/// had the message; `None` if the time limit was exceeded.
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
