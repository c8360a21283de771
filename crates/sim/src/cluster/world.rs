//! A cluster and one random path through everything that may happen to it.

use super::client::Client;
use super::engine::Engine;
use super::ledger::{Ledger, MessageId};
use super::node::Node;
use super::plan::Plan;
use crate::oracle::{Checked, violated};
use crate::random::Random;
use crate::trace::Trace;
use hub::{BusEvent, Class, Effect, Effects, Event, Micros, NodeId, Outgoing, Reach, ShardMessage};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct World {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) random: Random,
    pub(super) now: Micros,
    /// `None` for killed nodes.
    pub(super) nodes: Vec<Option<Node>>,
    pub(super) engine: Engine,
    pub(super) clients: Vec<Client>,
    pub(super) ledger: Ledger,
    pub(super) trace: Trace,
    pub(super) numbers: u64,
    pub(super) deliveries: u64,
    pub(super) drops: u64,
    /// Shards of nodes where presence diffs of a topic were dropped since the last rest: an earlier one may still be in
    /// flight, even to clients that join later.
    pub(super) stale: BTreeSet<(usize, usize, String)>,
}

impl World {
    pub(super) fn new(seed: u64, trace: Trace) -> World {
        let mut random = Random::from_seed(seed);
        let plan = Plan::draw(&mut random);
        let client = |index| {
            let kind = if random.percent(70) { "kept" } else { "plain" };
            Client::new(index, format!("{kind}:{}", random.below(plan.topics)))
        };
        let clients = (0..plan.clients).map(client).collect();
        let mut world = World {
            seed,
            nodes: (0..plan.nodes).map(|_| None).collect(),
            plan,
            random,
            now: Micros(0),
            engine: Engine::default(),
            clients,
            ledger: Ledger::default(),
            trace,
            numbers: 0,
            deliveries: 0,
            drops: 0,
            stale: BTreeSet::new(),
        };
        (0..world.plan.nodes).for_each(|node| world.start_node(node));
        world
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn start_node(&mut self, node: usize) {
        let id = NodeId(self.number());
        self.trace.line(format_args!("{} node {node} starts as {id:?}", self.now.0));
        self.nodes[node] = Some(Node::new(id, self.seed, &self.plan));
        self.connect_bus(node);
    }

    pub(super) fn connect_bus(&mut self, node: usize) {
        if let Some(node) = self.nodes[node].as_mut().filter(|_| self.plan.bus) {
            self.engine.connect(node.id, self.now);
            node.connects += 1;
            node.bus_event(None, &BusEvent::Up);
        }
    }

    pub(super) fn stands_still(&self, node: usize) -> bool {
        self.nodes[node].as_ref().is_some_and(|node| node.is_still)
    }

    /// Cuts a node's link to the bus. What the node already received stays; what was in flight is lost.
    pub(super) fn cut_bus(&mut self, node: usize) {
        if let Some(node) = self.nodes[node].as_mut().filter(|_| self.plan.bus) {
            self.engine.cut(node.id, self.now);
            node.bus_event(None, &BusEvent::Down);
        }
    }

    pub(super) fn handle(&mut self, node: usize, shard: usize, event: Event<'_>) -> Checked {
        let Some(place) = self.nodes[node].as_mut() else { return Ok(()) };
        let mut effects = std::mem::take(&mut place.shards[shard].effects);
        place.shards[shard].hub.handle(self.now, event, &mut effects);
        let waiting = place.shards[shard].hub.counters().joins_waiting;
        if waiting * self.plan.join_interval_us > self.plan.join_wait_us_max {
            return violated(format!("{waiting} joins stand in line on n{node} s{shard}"));
        }
        self.carry_out(node, shard, effects)
    }

    /// Returns `true` if more is pending.
    pub(super) fn pump(&mut self, node: usize, shard: usize, budget: usize) -> Checked<bool> {
        let Some(place) = self.nodes[node].as_mut() else { return Ok(false) };
        let mut effects = std::mem::take(&mut place.shards[shard].effects);
        let more = place.shards[shard].hub.pump(self.now, budget, Reach::All, &mut effects).any();
        self.carry_out(node, shard, effects)?;
        Ok(more)
    }

    fn carry_out(&mut self, node: usize, shard: usize, mut effects: Effects) -> Checked {
        let Effects { list, bytes, slots, frames } = &mut effects;
        for effect in list.drain(..) {
            match effect {
                Effect::Send { slot, range } => self.receive(node, shard, slot, &bytes[range])?,
                Effect::Deliver { slots: receivers, frame } => {
                    for slot in &slots[receivers] {
                        self.deliveries += 1;
                        self.receive(node, shard, *slot, &frames[frame as usize])?;
                    }
                }
                Effect::ToShard { shard: to, message, class } => {
                    let Some(place) = self.nodes[node].as_mut() else { continue };
                    let mailbox = &mut place.shards[usize::from(to.0)].mailbox;
                    if class == Class::Control || mailbox.len() < self.plan.mailbox_max {
                        mailbox.push_back(message);
                        continue;
                    }
                    self.drops += 1;
                    self.trace.line(format_args!("{} n{node} s{} refuses {message:?}", self.now.0, to.0));
                    match (class, message) {
                        (Class::Durable, message) => self.handle(node, shard, Event::Refused(message))?,
                        (_, ShardMessage::Deliver(publication)) => {
                            self.presence_is_stale(node, usize::from(to.0), &publication.topic);
                        }
                        (_, ShardMessage::Publish { .. }) => {}
                        (_, other) => return violated(format!("{other:?} was dropped")),
                    }
                }
                Effect::Bus(effect) => {
                    let Some(id) = self.nodes[node].as_ref().map(|node| node.id) else { continue };
                    self.trace.line(format_args!("{} n{node} s{shard} wants {effect:?}", self.now.0));
                    self.engine.ask(id, shard, *effect, self.now);
                }
                Effect::Close { .. } | Effect::Spawn { .. } => {
                    return violated("nobody is closed, and no task runs");
                }
                Effect::Taken { .. } | Effect::Walked { .. } => {}
            }
        }
        effects.clear();
        if let Some(place) = self.nodes[node].as_mut() {
            place.shards[shard].effects = effects;
        }
        Ok(())
    }

    fn receive(&mut self, node: usize, shard: usize, slot: u32, bytes: &[u8]) -> Checked {
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else { return violated("not JSON") };
        let Some(client) = self.clients.get_mut(slot as usize) else { return violated("a slot of nobody") };
        if client.seat.is_none_or(|seat| (seat.node, seat.shard) != (node, shard)) {
            return violated(format!("slot {slot} of n{node} s{shard} is not open"));
        }
        self.trace.line(format_args!("{} n{node} s{shard} client {slot} gets {message}", self.now.0));
        let joined = client.joined;
        client.receive(&message, self.now, &mut self.ledger)?;
        if let Some(wait_us) = client.turned_away_us.take() {
            // At most one join more than the queue holds, and the millisecond that it is rounded up to.
            if wait_us > self.plan.join_wait_us_max + self.plan.join_interval_us + 1_000 {
                return violated(format!("client {slot} is to come back after {wait_us} µs"));
            }
            client.asks_again_at = Some(self.now + wait_us);
        }
        if client.joined && !joined {
            client.presence_is_stale = self.stale.contains(&(node, shard, client.topic.clone()));
        }
        Ok(())
    }

    fn presence_is_stale(&mut self, node: usize, shard: usize, topic: &str) {
        let there = |client: &&mut Client| {
            client.topic == topic && client.seat.is_some_and(|seat| (seat.node, seat.shard) == (node, shard))
        };
        self.clients.iter_mut().filter(there).for_each(|client| client.presence_is_stale = true);
        self.stale.insert((node, shard, topic.to_owned()));
    }

    /// Lets the bus execute one request of a node. Returns `false` if there is none.
    pub(super) fn serve(&mut self, node: usize) -> Checked<bool> {
        let Some(id) = self.nodes[node].as_ref().map(|node| node.id) else { return Ok(false) };
        let Some(kept) = self.engine.serve(id, self.now, &self.plan, &mut self.random) else {
            return Ok(false);
        };
        if let Some(kept) = kept {
            self.trace
                .line(format_args!("{} the bus orders {:?} {:?}", self.now.0, kept.position, kept.draft));
            let id = message_of(&kept.draft.payload);
            self.ledger.stands(&kept.topic, kept.position.epoch.as_str(), kept.position.offset, id)?;
        }
        Ok(true)
    }

    /// Passes something from the bus to a node. Returns `false` if there is nothing.
    pub(super) fn bring(&mut self, node: usize) -> bool {
        let Some(place) = self.nodes[node].as_mut() else { return false };
        let Some((shard, event)) = self.engine.next_event(place.id, &mut self.random) else { return false };
        place.bus_event(shard, &event);
        true
    }

    /// Handles the oldest mail of a shard, or what came from the bus. Returns `false` if there is none.
    pub(super) fn read_mail(&mut self, node: usize, shard: usize) -> Checked<bool> {
        let Some(place) = self.nodes[node].as_mut() else { return Ok(false) };
        let shard_mail = &mut place.shards[shard];
        let from_bus = shard_mail.mailbox.is_empty() || self.random.percent(50);
        if from_bus && let Some(event) = shard_mail.bus_mail.pop_front() {
            self.trace.line(format_args!("{} n{node} s{shard} hears {event:?}", self.now.0));
            self.handle(node, shard, Event::Bus(event))?;
            return Ok(true);
        }
        let Some(message) = shard_mail.mailbox.pop_front() else { return Ok(false) };
        self.trace.line(format_args!("{} n{node} s{shard} reads {message:?}", self.now.0));
        self.handle(node, shard, Event::Shard(message))?;
        Ok(true)
    }

    /// Restarts the bus. If it lost some entries, those that it keeps are in orders with new epochs.
    pub(super) fn restart_bus(&mut self, loses_tail: bool) -> Checked {
        self.trace.line(format_args!("{} the bus restarts, and loses its newest: {loses_tail}", self.now.0));
        (0..self.nodes.len()).for_each(|node| self.cut_bus(node));
        self.engine.restart(loses_tail, &mut self.random);
        for ordered in self.engine.orders() {
            let (topic, id) = (&ordered.draft.topic, message_of(&ordered.draft.payload));
            self.ledger.stands(topic, ordered.position.epoch.as_str(), ordered.position.offset, id)?;
        }
        Ok(())
    }

    pub(super) fn is_busy(&self) -> bool {
        self.engine.is_busy() || self.nodes.iter().flatten().any(Node::is_busy)
    }
}

/// Returns the number in a payload.
fn message_of(payload: &Outgoing<'_>) -> MessageId {
    let number = match payload {
        Outgoing::Json(text) => {
            serde_json::from_str::<Value>(text).ok().and_then(|json| json["message"].as_u64())
        }
        Outgoing::Binary(_) => None,
    };
    MessageId(number.unwrap_or_default())
}
