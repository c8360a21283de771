//! The bus's engine and the nodes' links to it: what Redis or NATS is to a cluster, with every delay and loss that
//! those may have.

use super::losses::Losses;
use super::plan::Plan;
use crate::random::Random;
use hub::{
    AppendError, BusEffect, BusEvent, BusHistory, Draft, Epoch, Micros, NodeId, NodePeople, Ordered,
    Position, Span,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The order of one topic.
struct Log {
    epoch: Epoch,
    newest: u64,
    /// Nothing up to this offset is kept.
    floor: u64,
    kept: VecDeque<Ordered>,
}

/// A node's connection: two streams, each in order, that may overtake each other.
#[derive(Default)]
pub(super) struct Link {
    pub(super) up: bool,
    requests: VecDeque<(usize, BusEffect)>,
    answers: VecDeque<(Option<usize>, BusEvent)>,
    published: VecDeque<(Option<usize>, BusEvent)>,
    subscribed: BTreeSet<Arc<str>>,
}

#[derive(Default)]
pub(super) struct Engine {
    logs: BTreeMap<Arc<str>, Log>,
    pub(super) links: BTreeMap<NodeId, Link>,
    /// Nodes with valid leases, and their people by topic.
    leases: BTreeSet<NodeId>,
    people: BTreeMap<(Arc<str>, NodeId), NodePeople>,
    epochs: u64,
    pub(super) lost: u64,
    pub(super) losses: Losses,
}

/// What the engine added to an order, for the ledger.
pub(super) struct Kept {
    pub(super) topic: Arc<str>,
    pub(super) position: Position,
    pub(super) draft: Draft,
}

impl Engine {
    /// Takes a request from a node's hub.
    pub(super) fn ask(&mut self, node: NodeId, shard: usize, effect: BusEffect, now: Micros) {
        match self.links.get_mut(&node).filter(|link| link.up) {
            Some(link) => link.requests.push_back((shard, effect)),
            None => self.losses.note(node, &effect, now),
        }
    }

    /// Executes one request of a node. `None` if there is none.
    pub(super) fn serve(
        &mut self,
        node: NodeId,
        now: Micros,
        plan: &Plan,
        random: &mut Random,
    ) -> Option<Option<Kept>> {
        let (shard, effect) = self.links.get_mut(&node)?.requests.pop_front()?;
        let mut kept = None;
        match effect {
            BusEffect::Publish(publication) => {
                let topic = publication.topic.clone();
                self.publish(&topic, &BusEvent::Delivered { node, publication }, plan, random);
            }
            BusEffect::Append { token, .. } if random.percent(2) => {
                let result = Err(AppendError::Overloaded);
                self.answer(node, shard, BusEvent::Appended { token, result });
            }
            BusEffect::Append { draft, token } => {
                let ordered = self.append(*draft, now, plan, random);
                let (position, draft) = (ordered.position.clone(), ordered.draft.clone());
                let topic = draft.topic.clone();
                self.publish(&topic, &BusEvent::Ordered(Box::new(ordered)), plan, random);
                let result = Ok(position.clone());
                self.answer(node, shard, BusEvent::Appended { token, result });
                kept = Some(Kept { topic, position, draft });
            }
            BusEffect::Interest { topic, on: None } => {
                self.links.get_mut(&node)?.subscribed.remove(&topic);
            }
            BusEffect::Interest { topic, on: Some(subscription) } => {
                self.links.get_mut(&node)?.subscribed.insert(topic.clone());
                let position = topic.starts_with("kept:").then(|| self.log(&topic).position());
                self.answer(node, shard, BusEvent::Subscribed { topic, subscription, position });
            }
            BusEffect::ReadHistory { topic, span, token } => {
                self.log(&topic).trim(now, plan);
                let history = (!random.percent(3)).then(|| Box::new(self.log(&topic).read(span, random)));
                self.answer(node, shard, BusEvent::History { topic, token, history });
            }
            BusEffect::Heads(heads) => {
                for (topic, position) in heads {
                    self.tell_others(node, &topic.clone(), &BusEvent::Head { topic, position });
                }
            }
            // The lease has expired; the node learns that from the end of its link.
            BusEffect::Present { .. } | BusEffect::People { .. } if !self.leases.contains(&node) => {}
            BusEffect::Present { topic, version, previous, change } => {
                let empty = NodePeople { node, version: 0, people: Vec::new() };
                let of = self.people.entry((topic.clone(), node)).or_insert(empty);
                of.version = version;
                let gone = change.left.as_ref().map(|(_, reference)| *reference);
                of.people.retain(|meta| Some(meta.reference) != gone);
                of.people.extend(change.joined.clone());
                let event = BusEvent::Present { topic: topic.clone(), node, version, previous, change };
                self.publish(&topic, &event, plan, random);
            }
            BusEffect::People { topic, version, people } => {
                self.people.insert((topic.clone(), node), NodePeople { node, version, people });
                self.publish(&topic.clone(), &BusEvent::PresenceHead { topic, node, version }, plan, random);
            }
            BusEffect::ReadPeople { topic } => {
                let of = self.people.iter().filter(|((of, _), _)| *of == topic);
                let nodes = (!random.percent(3)).then(|| of.map(|(_, people)| people.clone()).collect());
                self.answer(node, shard, BusEvent::People { topic, nodes });
            }
            BusEffect::Dismiss(dismissal) => {
                for (_, link) in self.links.iter_mut().filter(|(other, link)| **other != node && link.up) {
                    link.published.push_back((None, BusEvent::Dismissed(dismissal.clone())));
                }
            }
            // `Tell` is for the programs around hubs, of which there are none here.
            BusEffect::Tell(_) => {}
            BusEffect::PresenceHeads(heads) => {
                for (topic, version) in heads {
                    self.tell_others(node, &topic.clone(), &BusEvent::PresenceHead { topic, node, version });
                }
            }
        }
        Some(kept)
    }

    fn log(&mut self, topic: &Arc<str>) -> &mut Log {
        let epochs = &mut self.epochs;
        self.logs.entry(topic.clone()).or_insert_with(|| {
            *epochs += 1;
            Log { epoch: epoch(*epochs), newest: 0, floor: 0, kept: VecDeque::new() }
        })
    }

    fn append(&mut self, draft: Draft, now: Micros, plan: &Plan, random: &mut Random) -> Ordered {
        let step = random.pick(&[1, 1, 1, 4]);
        let log = self.log(&draft.topic.clone());
        let previous = log.newest;
        log.newest += step;
        let ordered = Ordered { position: log.position(), previous, draft };
        log.kept.push_back(ordered.clone());
        log.trim(now, plan);
        ordered
    }

    /// Publishes to every subscriber, the publisher included; some of that is lost, by the plan.
    fn publish(&mut self, topic: &Arc<str>, event: &BusEvent, plan: &Plan, random: &mut Random) {
        for link in self.links.values_mut().filter(|link| link.hears(topic)) {
            if random.percent(plan.loss_percent) {
                self.lost += 1;
            } else {
                link.published.push_back((None, event.clone()));
            }
        }
    }

    /// Sends what concerns a node itself, to the other nodes only. It is not lost, because a node sends it several
    /// times.
    fn tell_others(&mut self, node: NodeId, topic: &Arc<str>, event: &BusEvent) {
        let others = self.links.iter_mut().filter(|(other, link)| **other != node && link.hears(topic));
        others.for_each(|(_, link)| link.published.push_back((None, event.clone())));
    }

    fn answer(&mut self, node: NodeId, shard: usize, event: BusEvent) {
        if let Some(link) = self.links.get_mut(&node) {
            link.answers.push_back((Some(shard), event));
        }
    }

    /// Returns what reaches a node next, and which of its shards if it is not the topic's home.
    pub(super) fn next_event(
        &mut self,
        node: NodeId,
        random: &mut Random,
    ) -> Option<(Option<usize>, BusEvent)> {
        let link = self.links.get_mut(&node)?;
        let answers_first = random.percent(50) || link.holds_back();
        let (first, second) = match answers_first {
            true => (&mut link.answers, &mut link.published),
            false => (&mut link.published, &mut link.answers),
        };
        first.pop_front().or_else(|| second.pop_front())
    }

    /// Connects a node, which tells the others at once what they have missed of it.
    pub(super) fn connect(&mut self, node: NodeId, now: Micros) {
        self.links.insert(node, Link { up: true, ..Link::default() });
        self.leases.insert(node);
        self.tell_leases();
        for (topic, lost_at) in self.losses.tell(node) {
            let event = BusEvent::Lost { topic: topic.clone(), node, age_us: now - lost_at };
            for link in self.links.values_mut().filter(|link| link.up && link.subscribed.contains(&topic)) {
                link.published.push_back((None, event.clone()));
            }
        }
    }

    /// Cuts a node's link, and drops everything that was on it.
    pub(super) fn cut(&mut self, node: NodeId, now: Micros) {
        let before = self.links.insert(node, Link::default());
        for (_, effect) in before.into_iter().flat_map(|link| link.requests) {
            self.losses.note(node, &effect, now);
        }
    }

    /// Expires the leases of nodes that are disconnected or frozen. The latter keep their links until they notice.
    pub(super) fn expire_leases(&mut self, still: &BTreeSet<NodeId>) {
        let links = &self.links;
        let renews = |node: &NodeId| links.get(node).is_some_and(|link| link.up) && !still.contains(node);
        self.leases.retain(renews);
        let leases = &self.leases;
        self.people.retain(|(_, node), _| leases.contains(node));
        self.tell_leases();
    }

    /// Returns whether a node's link is up and its lease valid.
    pub(super) fn is_with(&self, node: NodeId) -> bool {
        self.leases.contains(&node) && self.links.get(&node).is_some_and(|link| link.up)
    }

    fn tell_leases(&mut self) {
        let leases: Vec<NodeId> = self.leases.iter().copied().collect();
        let with = self.links.iter_mut().filter(|(node, link)| link.up && self.leases.contains(node));
        for (_, link) in with {
            link.published.push_back((None, BusEvent::Leases(leases.clone())));
        }
    }

    /// Restarts the engine: with everything, or without its newest entries, and then the orders begin new epochs.
    pub(super) fn restart(&mut self, loses_tail: bool, random: &mut Random) {
        for link in self.links.values_mut() {
            *link = Link::default();
        }
        if !loses_tail {
            return;
        }
        for log in self.logs.values_mut() {
            let lost = random.below(3).min(log.kept.len());
            log.kept.truncate(log.kept.len() - lost);
            log.newest = log.kept.back().map_or(log.floor, |newest| newest.position.offset);
            self.epochs += 1;
            log.epoch = epoch(self.epochs);
            log.kept.iter_mut().for_each(|kept| kept.position.epoch = log.epoch.clone());
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        let mut links = self.links.values();
        links.any(|link| !(link.requests.is_empty() && link.answers.is_empty() && link.published.is_empty()))
    }

    /// Returns the position of a topic.
    pub(super) fn head(&self, topic: &str) -> Option<Position> {
        self.logs.get(topic).map(Log::position)
    }

    /// Returns everything kept. What a restart kept of an order is part of the new one.
    pub(super) fn orders(&self) -> impl Iterator<Item = &Ordered> {
        self.logs.values().flat_map(|log| &log.kept)
    }
}

impl Link {
    fn hears(&self, topic: &Arc<str>) -> bool {
        self.up && self.subscribed.contains(topic)
    }

    /// Returns whether the next publication comes after a position that the node has yet to be told.
    fn holds_back(&self) -> bool {
        let Some((_, BusEvent::Ordered(next))) = self.published.front() else { return false };
        let mut answers = self.answers.iter();
        answers.any(
            |(_, answer)| matches!(answer, BusEvent::Subscribed { topic, .. } if *topic == next.draft.topic),
        )
    }
}

impl Log {
    fn position(&self) -> Position {
        Position { epoch: self.epoch.clone(), offset: self.newest }
    }

    /// Drops what is too much or too old.
    fn trim(&mut self, now: Micros, plan: &Plan) {
        let retention = &plan.retention;
        let too_old = |oldest: &Ordered| oldest.draft.received + retention.age_us_max < now;
        while self.kept.len() > retention.messages_max || self.kept.front().is_some_and(too_old) {
            self.floor = self.kept.pop_front().map_or(self.floor, |oldest| oldest.position.offset);
        }
    }

    fn read(&self, span: Span, random: &mut Random) -> BusHistory {
        let head = self.position();
        match span {
            Span::Oldest { since } => {
                let from = since.max(self.floor).min(self.newest);
                let above = self.kept.iter().filter(|kept| kept.position.offset > from);
                let ordered: Vec<Ordered> = above.take(random.between(1, 20)).cloned().collect();
                let to = ordered.last().map_or(self.newest, |last| last.position.offset);
                BusHistory { head, from, to, ordered }
            }
            Span::Newest { since, until, messages_max, .. } => {
                let wanted = since.max(self.floor).min(until);
                let inside = |kept: &&Ordered| (wanted + 1..=until).contains(&kept.position.offset);
                let mut ordered: Vec<Ordered> = self.kept.iter().filter(inside).cloned().collect();
                let cut = ordered.len().saturating_sub(messages_max);
                let left_out = ordered.drain(..cut).next_back();
                let from = left_out.map_or(wanted, |left_out| left_out.position.offset);
                BusHistory { head, from, to: until, ordered }
            }
        }
    }
}

fn epoch(number: u64) -> Epoch {
    Epoch::new(&format!("e{number}")).expect("letters and digits")
}
