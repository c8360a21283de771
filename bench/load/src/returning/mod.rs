//! Clients in recoverable rooms whose server dies: each reconnects to one of the other servers, from its last position,
//! as soon as it is cut off.
//!
//! Unlike a [`Crowd`](crate::Crowd), it reads message contents: a publisher sends the numbers 1, 2, 3, … to every room,
//! and each client must receive each exactly once, whether live or replayed. A client that is refused does not retry: a
//! refusal by a live server is a result.

mod client;
mod failure;
mod tally;
mod texts;
mod worker;

use std::io;
use std::net::SocketAddrV4;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{CONNECTIONS_PER_THREAD_MAX, sys};
use tally::Tally;
use worker::Worker;

/// Time limit for each stage: until all have joined, until all are back, until all have the last number.
const PATIENCE: Duration = Duration::from_secs(300);
/// Polling interval; the times themselves are taken by the clients' threads.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The clients and the servers.
#[derive(Clone, Debug)]
pub struct Returning {
    /// The server that will die.
    pub first: SocketAddrV4,
    /// The servers that the clients move to then, in turn.
    pub others: Vec<SocketAddrV4>,
    /// Path of the upgrade request.
    pub path: String,
    /// Prefix of the rooms' names; a number follows.
    pub topic_prefix: String,
    /// Number of rooms; clients are spread evenly.
    pub rooms: usize,
    /// Number of clients.
    pub connections: usize,
    /// Minimum number of threads.
    pub threads: usize,
}

/// The result of joining, when every client has joined or failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Came {
    /// Clients in their rooms.
    pub open: usize,
    /// Clients that were refused, or cut off before they had joined.
    pub failed: usize,
    /// Seconds from the first connection to the last response.
    pub seconds: f64,
}

/// The result of returning, when every client is back or has failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Returned {
    /// Clients that were cut off.
    pub cut: usize,
    /// Clients that are in their rooms again.
    pub back: usize,
    /// Of these, the clients to which the server replays everything they missed.
    pub recovered: usize,
    /// Clients that were refused or cut off on the way.
    pub failed: usize,
    /// Seconds from the first cut to the last response; `None` while no client is back.
    pub seconds: Option<f64>,
}

/// The totals of received numbers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Heard {
    /// Clients that have received the last number.
    pub complete: usize,
    /// Numbers that clients did not receive.
    pub lost: u64,
    /// Numbers that clients received more than once.
    pub extra: u64,
}

/// Runs the measurement. `came` is called when all clients have joined; from then on the server may die. `returned` is
/// called when all are back, and returns the last number.
///
/// # Errors
/// If threads, descriptors or source addresses run out.
pub fn returning(
    plan: &Returning,
    came: impl FnOnce(Came) -> io::Result<()>,
    returned: impl FnOnce(Returned) -> io::Result<u64>,
) -> io::Result<Heard> {
    sys::raise_descriptor_limit()?;
    let threads = plan.threads.max(plan.connections.div_ceil(CONNECTIONS_PER_THREAD_MAX));
    let tally = Tally::new(Instant::now());
    thread::scope(|scope| {
        let tally = &tally;
        let workers: Vec<_> = (0..threads)
            .map(|index| {
                scope.spawn(move || {
                    // The coordinating thread must learn that a thread has ended.
                    let outcome = Worker::start(plan, index, threads, tally).and_then(Worker::run);
                    tally.ended(outcome.is_err());
                    outcome
                })
            })
            .collect();
        let told = conduct(plan.connections, tally, came, returned);
        tally.stop();
        let mut heard = Heard { complete: 0, lost: 0, extra: 0 };
        let last = *told.as_ref().unwrap_or(&0);
        for worker in workers {
            let clients = worker.join().map_err(|_| io::Error::other("a thread of the crowd panicked"))??;
            for client in clients {
                heard.complete += usize::from(client.heard == last);
                heard.lost += client.miscounts.lost + last.saturating_sub(client.heard);
                heard.extra += client.miscounts.extra + client.heard.saturating_sub(last);
            }
        }
        told.map(|_| heard)
    })
}

/// Goes through the stages; returns the last number published.
fn conduct(
    connections: usize,
    tally: &Tally,
    came: impl FnOnce(Came) -> io::Result<()>,
    returned: impl FnOnce(Returned) -> io::Result<u64>,
) -> io::Result<u64> {
    let began = Instant::now();
    wait(tally, || tally.joined() + tally.failed() >= connections);
    came(Came { open: tally.joined(), failed: tally.failed(), seconds: began.elapsed().as_secs_f64() })?;
    let failed_before = tally.failed();
    wait(tally, || tally.back() + tally.failed() >= connections);
    let last = returned(Returned {
        cut: tally.cut(),
        back: tally.back(),
        recovered: tally.recovered(),
        failed: tally.failed() - failed_before,
        seconds: tally.away(),
    })?;
    tally.expect(last);
    wait(tally, || tally.complete() + tally.failed() >= connections);
    Ok(last)
}

fn wait(tally: &Tally, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() && !tally.is_broken() && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
}
