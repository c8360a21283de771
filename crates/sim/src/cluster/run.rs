//! One run of a cluster from a seed.

use super::client::Client;
use super::world::World;
use crate::oracle::{Checked, violated};
use crate::presence::{Marks, Shown};
use crate::run::{Failure, Kind, Report, message_of};
use crate::trace::Trace;
use hub::Hub;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A cluster that has not come to rest after this many rounds never will.
const ROUNDS_MAX: usize = 200_000;
/// What is due later than this, in microseconds, does not prevent rest.
const REST_SPAN_US: u64 = 5_000_000;

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
            deliveries: world.deliveries,
            drops: world.drops + world.engine.lost,
            recoveries: world.clients.iter().map(|client| client.recoveries).sum(),
            queued: world.hubs().map(|hub| hub.counters().joins_queued).sum(),
        }),
        Some(violation) => Err(Failure { seed, of: Kind::Cluster, violation, tail: world.trace.into_tail() }),
    }
}

impl World {
    /// Returns the hubs of all running nodes.
    fn hubs(&self) -> impl Iterator<Item = &Hub> {
        self.nodes.iter().flatten().flat_map(|node| &node.shards).map(|shard| &shard.hub)
    }

    fn live(&mut self) -> Checked {
        self.trace.line(format_args!("{:?}", self.plan));
        for _ in 0..3 {
            for _ in 0..self.plan.steps / 3 {
                self.step()?;
            }
            self.mend();
            self.come_to_rest()?;
            self.check_rest()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Checked {
        self.now = self.now + self.random.pick(&[0, 50, 1_000, 20_000, 300_000]);
        if self.random.below(1000) < self.plan.danger_permille {
            self.danger()
        } else if self.random.percent(35) {
            self.client_acts()
        } else {
            self.server_step()
        }
    }

    /// Lets a shard, or the bus, do one thing.
    fn server_step(&mut self) -> Checked {
        let node = self.random.below(self.nodes.len());
        let shard = self.random.below(self.plan.shards);
        if self.stands_still(node) {
            return self.serve(node).map(drop);
        }
        match self.random.below(100) {
            0..40 => self.read_mail(node, shard).map(drop),
            40..60 => {
                let budget = self.random.between(1, 10);
                self.pump(node, shard, budget).map(drop)
            }
            60..80 => self.serve(node).map(drop),
            _ => {
                self.bring(node);
                Ok(())
            }
        }
    }

    /// Restores every node and every link.
    fn mend(&mut self) {
        self.nodes.iter_mut().flatten().for_each(|node| node.is_still = false);
        for node in 0..self.nodes.len() {
            if self.nodes[node].is_none() {
                self.start_node(node);
            }
            self.connect_bus_again(node);
        }
        self.expire_leases();
        self.trace.line(format_args!("{} everything is mended", self.now.0));
    }

    /// Lets everything run, in any order, until nothing is in flight and nothing is due soon.
    fn come_to_rest(&mut self) -> Checked {
        for _ in 0..ROUNDS_MAX {
            if self.is_busy() {
                self.server_step()?;
                continue;
            }
            let mut pending = false;
            for node in 0..self.nodes.len() {
                for shard in 0..self.plan.shards {
                    pending |= self.pump(node, shard, 10)?;
                }
            }
            let due =
                self.hubs().filter_map(Hub::deadline).filter(|due| *due <= self.now + REST_SPAN_US).max();
            match due {
                Some(due) => self.now = self.now.max(due),
                None if !pending && !self.is_busy() => return Ok(()),
                None => {}
            }
        }
        violated("the cluster does not come to rest")
    }

    /// Checks that a client that tracks somebody sees everybody who is tracked, on whatever node.
    fn check_presence(&self, client: &Client) -> Checked {
        let mut truth = Marks::new();
        for other in self.clients.iter().filter(|other| other.joined && other.topic == client.topic) {
            if let Some((key, mark)) = &other.tracks {
                truth.entry(key.clone()).or_default().push(*mark);
            }
        }
        truth.values_mut().for_each(|marks| marks.sort_unstable());
        match client.view.shown() {
            Shown::List(marks) if marks == truth => Ok(()),
            _ if client.presence_is_stale => Ok(()),
            shown => {
                violated(format!("client {} on {} sees {shown:?}, not {truth:?}", client.index, client.topic))
            }
        }
    }

    fn check_rest(&mut self) -> Checked {
        self.stale.clear();
        for client in self.clients.iter().filter(|client| client.joined && client.tracks.is_some()) {
            self.check_presence(client)?;
        }
        for client in self.clients.iter().filter(|client| client.is_recoverable()) {
            let head =
                self.engine.head(&client.topic).map(|head| (head.epoch.as_str().to_owned(), head.offset));
            client.at_rest(&self.ledger, head)?;
            if !self.plan.bus {
                client.check_density(&self.ledger)?;
            }
        }
        let unanswered =
            |client: &&Client| client.seat.is_some() && !client.joined && client.asks_again_at.is_none();
        if let Some(client) = self.clients.iter().find(unanswered) {
            return violated(format!("client {} asked for a join and was never answered", client.index));
        }
        for client in self.clients.iter_mut().filter(|client| !client.is_recoverable()) {
            let node = client.seat.and_then(|seat| self.nodes[seat.node].as_ref());
            let losses =
                node.map_or_else(Vec::new, |node| self.engine.losses.told_to(node.id, &client.topic));
            client.check_outages(node.map_or(0, |node| node.connects), &losses)?;
        }
        self.engine.losses.forget_told();
        self.nodes.iter_mut().flatten().for_each(|node| node.connects = 0);
        for hub in self.hubs() {
            let bytes = hub.memory().histories;
            // The bound does not include tables and what follows an order.
            if bytes > self.plan.history_bytes_max as u64 + 20_000 {
                return violated(format!("histories take {bytes} bytes"));
            }
        }
        Ok(())
    }
}
