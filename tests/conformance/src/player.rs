//! Carries the steps of a case out against a server.

mod act;
mod expect;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::case::Case;
use crate::client::Client;
use crate::control;
use crate::failure::Failure;
use crate::script::{Deed, Step};
use crate::server::Server;
use crate::transcript::Transcript;
use crate::variables::Variables;
use crate::{PATIENCE, POLL_INTERVAL};

/// One fits into a message of the fixture's small mount (1,024 bytes), two do not.
const FILLER_BYTES: usize = 600;

/// A case that did not go as written.
#[derive(Debug)]
pub struct Report {
    step: String,
    failure: Failure,
    transcript: Transcript,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  step:     {}\n  {}\n  wire:\n{}", self.step, self.failure, self.transcript)
    }
}

/// Plays one case from beginning to end; its clients are gone when it returns.
///
/// # Errors
/// The first step that failed, with the transcript up to it.
pub fn play(case: &Case, server: &Server) -> Result<(), Report> {
    let mut player = Player {
        server,
        clients: BTreeMap::new(),
        variables: starting_variables(&case.id),
        transcript: Transcript::start(),
        heartbeats: 0,
    };
    match player.play_steps(&case.script.0) {
        Ok(()) => Ok(()),
        Err((step, failure)) => Err(Report { step, failure, transcript: player.transcript }),
    }
}

/// `$room` is a topic that no other case, attempt or run shares.
fn starting_variables(id: &str) -> Variables {
    static PLAYED: AtomicU64 = AtomicU64::new(0);
    let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u32);
    let attempt = PLAYED.fetch_add(1, Ordering::Relaxed);
    let mut variables = Variables::default();
    variables.set("room", format!("room:{}-{run:x}-{attempt}", id.to_lowercase()));
    variables.set("filler", "x".repeat(FILLER_BYTES));
    variables
}

struct Player<'a> {
    server: &'a Server,
    clients: BTreeMap<char, Client>,
    variables: Variables,
    transcript: Transcript,
    heartbeats: u64,
}

impl Player<'_> {
    fn play_steps(&mut self, steps: &[Step]) -> Result<(), (String, Failure)> {
        steps.iter().try_for_each(|step| match &step.deed {
            Deed::Repeat { name, first, last, steps } => (*first..=*last).try_for_each(|value| {
                self.variables.set(name, value.to_string());
                self.play_steps(steps)
            }),
            Deed::Eventually(steps) => self.play_until_it_succeeds(steps),
            deed => self.play_deed(deed).map_err(|failure| (step.text.clone(), failure)),
        })
    }

    fn play_until_it_succeeds(&mut self, steps: &[Step]) -> Result<(), (String, Failure)> {
        let deadline = Instant::now() + PATIENCE;
        let before = self.transcript.length();
        loop {
            match self.play_steps(steps) {
                Err((_, Failure::Mismatch { .. })) if Instant::now() < deadline => {
                    self.transcript.forget_since(before);
                    std::thread::sleep(POLL_INTERVAL);
                }
                outcome => return outcome,
            }
        }
    }

    fn play_deed(&mut self, deed: &Deed) -> Result<(), Failure> {
        let address = self.server.address();
        match deed {
            Deed::Act(who, action) => self.act(*who, action),
            Deed::Broadcast { topic, event, payload } => {
                let topic = self.variables.fill(topic)?;
                self.transcript.sent('!', format!("broadcast {topic} {event} {payload}"));
                control::broadcast(address, &topic, event, payload)
            }
            Deed::Drain => control::drain(address),
            Deed::Exits => self.server.await_exit(),
            Deed::Live(count) => control::await_live(address, *count),
            Deed::Differ(left, right) => match (self.variables.value(left), self.variables.value(right)) {
                (Some(left), Some(right)) if left != right => Ok(()),
                (left, right) => {
                    Err(Failure::mismatch("two different values", format!("{left:?} and {right:?}")))
                }
            },
            Deed::Repeat { .. } | Deed::Eventually(_) => unreachable!("blocks are played step by step"),
        }
    }

    fn client(&mut self, who: char) -> &mut Client {
        let address = self.server.address();
        self.clients.entry(who).or_insert_with(|| Client::new(address))
    }
}
