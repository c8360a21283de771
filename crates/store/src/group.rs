//! Group commit: requests that queued up during the last commit share one transaction.
//!
//! There is no timer: a lone request is committed at once, and under load the groups grow by themselves. Answers are
//! sent only after the commit.

use crate::planted::PlantedBug;
use chat::rows::Found;
use chat::verbs::{Appended, append_batch};
use chat::{Failure, PendingAppend, Request, Rows, StoreError, StoreErrorKind, Work};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Maximum total [weight](chat::Verb::weight) of the requests in one transaction: enough to amortize the sync, little
/// enough to keep the transaction short. Each request waits for the transaction under way, and for the whole of its own,
/// whichever communities the others are from. Two connections take twice as much at a time.
pub const WEIGHT_MAX: u32 = 250;
const _: () = assert!(chat::WEIGHT_MAX <= WEIGHT_MAX, "any request fits into a transaction");
/// Maximum number of attempts to run a request alone after it lost to another writer. All but the first exclude other
/// writers; only a server of an older version, which does not take the lock for that, can still win against them.
const ATTEMPTS_MAX: u32 = 32;
/// Maximum wait before the next attempt. The wait grows with each attempt up to this value and is random, so that two
/// waiting writers do not collide again. Everybody else who wants to write waits too.
const WAIT_MAX: Duration = Duration::from_millis(16);

/// A database connection that runs transactions.
pub trait Database {
    /// Begins, runs and commits a transaction; durable when it returns.
    ///
    /// # Errors
    /// Nothing was done; or it is unknown whether the commit took effect, in which case all of it may appear later.
    fn transaction(&mut self, kind: Kind, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Found<()>;

    /// Rolls back a transaction that a panic left open.
    fn take_back(&mut self);

    /// Reconnects before the next transaction.
    fn reopen(&mut self);
}

/// What a transaction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Only reads.
    Reads,
    /// Only appends, which lock the conversations that they read.
    Appends,
    /// Reads and writes anything.
    Writes,
    /// Like `Writes`, while no other server writes, if several share the database: a request that lost to others cannot
    /// lose again.
    WritesAlone,
}

/// Runs all requests and answers them.
pub fn run(database: &mut impl Database, requests: Vec<Request>) {
    let alone = requests.len() == 1;
    let mut group = Group::new(requests);
    let kind = group.kind();
    match attempt(database, &mut group, kind) {
        Err(StoreError { kind: StoreErrorKind::Contended, .. }) => each_alone(database, group),
        Err(StoreError { kind: StoreErrorKind::Corrupt, .. }) if !alone => each_alone(database, group),
        outcome => group.settle(outcome),
    }
}

/// Runs each request alone: one of them may have caused the failure, and the others need not fail with it.
fn each_alone(database: &mut impl Database, group: Group) {
    for request in group.into_requests() {
        run_alone(database, request);
    }
}

fn run_alone(database: &mut impl Database, request: Request) {
    let mut group = Group::new(vec![request]);
    let kind = group.kind();
    let mut outcome = attempt(database, &mut group, kind);
    for tried in 1..ATTEMPTS_MAX {
        let again = outcome.as_ref().is_err_and(|trouble| trouble.kind == StoreErrorKind::Contended);
        if !again {
            break;
        }
        std::thread::sleep(wait_after(tried));
        outcome = attempt(database, &mut group, if kind == Kind::Reads { kind } else { Kind::WritesAlone });
    }
    group.settle(outcome);
}

fn wait_after(tried: u32) -> Duration {
    let longest = WAIT_MAX.min(Duration::from_millis(tried.into()));
    // Without random numbers both wait equally long, and still retry.
    let chance = getrandom::u32().unwrap_or(u32::MAX);
    longest.mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

fn attempt(database: &mut impl Database, group: &mut Group, kind: Kind) -> Found<()> {
    let run = AssertUnwindSafe(|| database.transaction(kind, &mut |rows| group.run(rows)));
    let outcome = catch_unwind(run).unwrap_or_else(|_| {
        database.take_back();
        Err(StoreError::new(StoreErrorKind::Corrupt, "internal error: a request panicked"))
    });
    if let Err(trouble) = &outcome
        && matches!(trouble.kind, StoreErrorKind::Io | StoreErrorKind::Away | StoreErrorKind::ReadOnly)
    {
        database.reopen();
    }
    outcome
}

/// Runs a completion callback. If it panics, which the panic hook reports, the thread that serves everybody goes on.
fn answering(answer: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(answer));
}

/// Requests in order; adjacent appends form one batch.
struct Group(Vec<Part>);

enum Part {
    Appends { appends: Vec<PendingAppend>, answers: Vec<Result<Appended, Failure>> },
    Write(Box<dyn Work>),
    Read(Box<dyn Work>),
}

impl Group {
    fn new(requests: Vec<Request>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for request in requests {
            match request {
                Request::Append(append) => {
                    if let Some(Part::Appends { appends, .. }) = parts.last_mut() {
                        appends.push(append);
                    } else {
                        parts.push(Part::Appends { appends: vec![append], answers: Vec::new() });
                    }
                }
                Request::Write(work) => parts.push(Part::Write(work)),
                Request::Read(work) => parts.push(Part::Read(work)),
            }
        }
        Self(parts)
    }

    fn kind(&self) -> Kind {
        if self.0.iter().all(|part| matches!(part, Part::Read(_))) {
            Kind::Reads
        } else if self.0.iter().all(|part| matches!(part, Part::Appends { .. })) {
            Kind::Appends
        } else {
            Kind::Writes
        }
    }

    fn run(&mut self, rows: &mut dyn Rows) -> Found<()> {
        for part in &mut self.0 {
            match part {
                Part::Appends { appends, answers } => {
                    let asked: Vec<_> = appends.iter().map(|append| &append.asked).collect();
                    *answers = append_batch(rows, &asked)?;
                }
                Part::Write(work) | Part::Read(work) => work.run(rows)?,
            }
        }
        if self.kind() == Kind::Appends && PlantedBug::AnswersBeforeCommit.is_planted() {
            Self(std::mem::take(&mut self.0)).settle(Ok(()));
        }
        Ok(())
    }

    fn settle(self, outcome: Found<()>) {
        for part in self.0 {
            match part {
                Part::Appends { appends, answers } => {
                    let mut answers = answers.into_iter();
                    for append in appends {
                        let answer = outcome.clone().map_err(Failure::from);
                        let answer =
                            answer.and_then(|()| answers.next().unwrap_or_else(|| Err(unanswered())));
                        answering(|| append.settle(answer));
                    }
                }
                Part::Write(work) | Part::Read(work) => answering(|| work.settle(outcome.clone())),
            }
        }
    }

    fn into_requests(self) -> Vec<Request> {
        self.0
            .into_iter()
            .flat_map(|part| match part {
                Part::Appends { appends, .. } => appends.into_iter().map(Request::Append).collect(),
                Part::Write(work) => vec![Request::Write(work)],
                Part::Read(work) => vec![Request::Read(work)],
            })
            .collect()
    }
}

fn unanswered() -> Failure {
    StoreError::new(StoreErrorKind::Corrupt, "internal error: a batch returned fewer results than requests")
        .into()
}
