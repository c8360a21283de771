//! A crowd of people in recoverable rooms whose server dies: each comes back, to one of the other servers, from where it
//! stood, as soon as it is cut.
//!
//! Unlike a [`Crowd`](crate::Crowd), it reads what it is told: somebody publishes the numbers 1, 2, 3, … in every room, and
//! each client must hear each once, whether it was there or had to be given it. A client that is refused does not try
//! again: on servers that live, that is what there is to find.

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

/// How long each part may take: all to come, all to come back, all to hear the last.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often it is looked at; the times themselves are taken by the clients' threads.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Who comes, and where to.
#[derive(Clone, Debug)]
pub struct Returning {
    /// The server that will die.
    pub first: SocketAddrV4,
    /// Those that the crowd goes to then, in turn.
    pub others: Vec<SocketAddrV4>,
    /// Path of the upgrade request.
    pub path: String,
    /// What the rooms' names begin with; a number follows.
    pub topic_prefix: String,
    /// So many rooms; clients are spread evenly.
    pub rooms: usize,
    /// So many clients.
    pub connections: usize,
    /// Threads at least.
    pub threads: usize,
}

/// All are in their rooms, or will not be.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Came {
    /// In their rooms.
    pub open: usize,
    /// Refused, or cut before they were there.
    pub failed: usize,
    /// From the first connection to the last answer.
    pub seconds: f64,
}

/// All are back, or will not be.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Returned {
    /// Were cut.
    pub cut: usize,
    /// Are in their rooms again.
    pub back: usize,
    /// Of these, those whom the server gives everything that they missed.
    pub recovered: usize,
    /// Refused or cut on the way.
    pub failed: usize,
    /// From the first cut to the last answer; nothing while nobody is back.
    pub seconds: Option<f64>,
}

/// What was heard in all.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Heard {
    /// Clients that have heard the last number.
    pub complete: usize,
    /// Numbers that clients did not hear.
    pub lost: u64,
    /// Numbers that clients heard again.
    pub extra: u64,
}

/// Plays it. `came` is told when all are there: from then on the server may die. `returned` is told when all are back, and
/// says which number is the last one.
///
/// # Errors
/// When threads, descriptors or sources are missing.
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
                    // Whoever waits for the others must learn that a thread has ended.
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

/// Goes through the parts; the number that was published last.
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
