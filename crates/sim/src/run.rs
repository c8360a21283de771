//! One run from a seed: steps in random order, rest, checks, and the end of all connections.

use crate::oracle::{Checked, violated};
use crate::presence::Shown;
use crate::trace::Trace;
use crate::world::World;
use hub::Reach;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a run that violated nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The hash of everything that happened: equal seeds give equal hashes.
    pub hash: u64,
    /// How many lines its trace has.
    pub lines: u64,
    /// Publications delivered to clients, counted for each member.
    pub deliveries: u64,
    /// Messages that full mailboxes, or the bus, dropped.
    pub drops: u64,
    /// Joins that recovered what they had missed.
    pub recoveries: u64,
    /// Joins that waited in the queue.
    pub queued: u64,
}

/// What is simulated from a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One node.
    Node,
    /// Several, with a bus.
    Cluster,
    /// A node with stored rooms.
    Stored,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The seed that reproduces it.
    pub seed: u64,
    /// Which of that seed's runs it was.
    pub of: Kind,
    /// The invariant that was violated, in one sentence.
    pub violation: String,
    /// The end of the trace.
    pub tail: Vec<String>,
}

impl Failure {
    /// Returns the command that reproduces it.
    pub fn replay(&self) -> String {
        let of = match self.of {
            Kind::Node => "",
            Kind::Cluster => " --cluster",
            Kind::Stored => " --stored",
        };
        format!("cargo run -p sim -- --seed {}{of} --trace", self.seed)
    }
}

/// A node that has not come to rest after this many rounds never will.
const ROUNDS_MAX: usize = 100_000;

/// Runs one seed. `sink` receives every line of the trace as it happens.
///
/// # Errors
/// The first invariant that was violated, or the panic of a hub.
pub fn run(seed: u64, sink: Option<fn(&str)>) -> Result<Report, Failure> {
    let mut world = World::new(seed, Trace::new(sink));
    let outcome = catch_unwind(AssertUnwindSafe(|| world.live()));
    let violation = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(violation)) => Some(violation.0),
        Err(panic) => Some(format!("a hub panicked: {}", message_of(&*panic))),
    };
    match violation {
        None => Ok(Report {
            hash: world.trace.hash(),
            lines: world.trace.lines(),
            deliveries: world.oracle.deliveries,
            drops: world.oracle.drops,
            recoveries: 0,
            queued: 0,
        }),
        Some(violation) => Err(Failure { seed, of: Kind::Node, violation, tail: world.trace.into_tail() }),
    }
}

pub(crate) fn message_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[derive(Clone, Copy)]
enum Step {
    ReadMail,
    Pump,
    FinishTask,
    Tick,
}

impl World {
    fn live(&mut self) -> Checked {
        self.trace.line(format_args!("{:?}", self.plan));
        for _ in 0..2 {
            for _ in 0..self.plan.steps / 2 {
                self.step()?;
            }
            self.come_to_rest()?;
            self.check_rest()?;
        }
        while let Some(&id) = self.clients.keys().next() {
            self.cut(id)?;
            self.server_step()?;
        }
        self.come_to_rest()?;
        self.check_end()
    }

    fn step(&mut self) -> Checked {
        self.now = self.now + self.random.pick(&[0, 50, 1_000, 20_000, 300_000]);
        if self.random.percent(self.plan.clients_percent) {
            self.client_acts()
        } else if self.random.percent(8) {
            self.server_acts()
        } else {
            self.server_step()
        }
    }

    /// Lets one shard do one thing.
    fn server_step(&mut self) -> Checked {
        let shards: Vec<_> = self.plan.shard_weights.iter().copied().zip(0..).collect();
        let shard = self.random.weighted(&shards);
        match self.random.weighted(&[
            (50, Step::ReadMail),
            (35, Step::Pump),
            (12, Step::FinishTask),
            (3, Step::Tick),
        ]) {
            Step::ReadMail => self.read_mail(shard).map(drop),
            Step::Pump => {
                let budget = self.random.between(1, self.plan.budget_max);
                // Crowds wait for a turn as long as the driver chooses.
                let reach = if self.random.percent(50) { Reach::All } else { Reach::Few };
                self.pump(shard, budget, reach).map(drop)
            }
            Step::FinishTask => self.finish_task().map(drop),
            Step::Tick => self.tick(shard),
        }
    }

    /// Lets the server run, in any order, until nothing is in flight and nothing is due.
    fn come_to_rest(&mut self) -> Checked {
        for _ in 0..ROUNDS_MAX {
            if self.is_busy() {
                self.server_step()?;
                continue;
            }
            let mut pending = false;
            for shard in 0..self.shards.len() {
                pending |= self.pump(shard, self.plan.budget_max, Reach::All)?;
            }
            let due = self.shards.iter().filter_map(|shard| shard.hub.deadline()).max();
            match due {
                Some(due) => self.now = self.now.max(due),
                None if !pending && !self.is_busy() => return Ok(()),
                None => {}
            }
        }
        violated("the node does not come to rest")
    }

    fn check_rest(&mut self) -> Checked {
        self.oracle.at_rest()?;
        for client in self.clients.values() {
            client.at_rest(&self.oracle)?;
            for (join, topic, view) in client.joins() {
                if topic.starts_with("present:") && !self.oracle.presence_is_stale(join) {
                    self.check_presence(topic, &view.shown())
                        .or_else(|violation| violated(format!("{join:?} on {topic}: {}", violation.0)))?;
                }
            }
        }
        self.check_counts()
    }

    /// Checks that a view shows the truth: everybody, or for a crowd how many.
    fn check_presence(&self, topic: &str, shown: &Shown) -> Checked {
        let joins = self.clients.values().flat_map(|client| client.joins());
        let truth = self.truth.of(joins.filter(|(_, joined, _)| *joined == topic).map(|(join, _, _)| join));
        let right = match shown {
            Shown::Nothing => false,
            Shown::Count(count) => *count == truth.len() as u64,
            Shown::List(marks) => *marks == truth,
        };
        if right { Ok(()) } else { violated(format!("shows {shown:?}, not {truth:?}")) }
    }

    /// Checks that the hubs count what the oracle counts.
    fn check_counts(&self) -> Checked {
        let counters = self.shards.iter().map(|shard| shard.hub.counters());
        let (connections, joined) = counters
            .fold((0, 0), |(connections, joined), c| (connections + c.connections, joined + c.joined));
        let (clients, standing) = (self.clients.len() as u64, self.oracle.standing() as u64);
        if (connections, joined) != (clients, standing) {
            return violated(format!(
                "{connections} connections and {joined} joins, not {clients} and {standing}"
            ));
        }
        let members: usize =
            self.shards.iter().flat_map(|shard| shard.hub.topics()).map(|(_, members)| members).sum();
        if members as u64 != standing {
            return violated(format!("{members} members, not {standing}"));
        }
        Ok(())
    }

    fn check_end(&mut self) -> Checked {
        self.oracle.at_rest()?;
        self.check_counts()?;
        match self.shards.iter().position(|shard| !shard.hub.is_empty()) {
            Some(shard) => violated(format!("all are gone, and s{shard} is not empty")),
            None => Ok(()),
        }
    }
}
