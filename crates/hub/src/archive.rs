//! The histories of the topics whose home is this shard: the table of them, their order of idleness, and their expiry.
//! The total is bounded in bytes; beyond the bound, the history that has been idle longest is evicted.

use crate::hashing::SecretHash;
use crate::histories::Rule;
use crate::history::History;
use crate::ids::Micros;
use crate::limits::{HEADS_INTERVAL_US, HISTORIES_EXPIRED_MAX, IDLE_STEP_US};
use crate::link::Upstream;
use crate::place::{Epoch, Position};
use crate::sizes::{block_bytes, shared_text_bytes, table_bytes};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(crate) struct Archive {
    entries: HashMap<Arc<str>, Entry, SecretHash>,
    /// For each rule: the topics that have something to forget, ordered by when they were last touched, to the second.
    idle: Vec<BTreeMap<IdleKey, Arc<str>>>,
    serials: u64,
    /// Memory of all entries.
    bytes: usize,
    bytes_max: usize,
    /// Topics whose newest publication some shard may have missed, and when to send their positions.
    unheard: Vec<Arc<str>>,
    heads_due: Option<Micros>,
}

type IdleKey = (Micros, u64);

pub(crate) struct Entry {
    pub(crate) history: History,
    rule: usize,
    /// Its place in the order of idleness; `None` while it has nothing to forget.
    idle: Option<IdleKey>,
    /// Whether shards have members on the topic and rely on its order to continue.
    followed: bool,
    unheard: bool,
    /// Only for a topic that the bus orders.
    upstream: Option<Box<Upstream>>,
    accounted: usize,
}

/// The overhead of a history: its entry, topic name, epoch, and place in the order of idleness.
fn overhead_bytes(topic: &Arc<str>) -> usize {
    size_of::<(Arc<str>, Entry)>() + shared_text_bytes(topic) + EPOCH_BYTES + IDLE_BYTES
}

/// An epoch of sixteen characters.
const EPOCH_BYTES: usize = block_bytes(2 * size_of::<usize>() + 16);
/// A tree's nodes are two thirds full on average.
const IDLE_BYTES: usize = size_of::<(IdleKey, Arc<str>)>() * 3 / 2;

impl Archive {
    pub(crate) fn new(hash: SecretHash, rules: usize, bytes_max: usize) -> Archive {
        Archive {
            entries: HashMap::with_hasher(hash),
            idle: vec![BTreeMap::new(); rules],
            serials: 0,
            bytes: 0,
            bytes_max,
            unheard: Vec::new(),
            heads_due: None,
        }
    }

    pub(crate) fn get_mut(&mut self, topic: &str) -> Option<&mut History> {
        self.entries.get_mut(topic).map(|entry| &mut entry.history)
    }

    /// Returns a topic's history; a new one begins at `start`.
    pub(crate) fn open(
        &mut self,
        topic: &Arc<str>,
        rule: Rule,
        now: Micros,
        start: impl FnOnce() -> Epoch,
    ) -> &mut History {
        if !self.entries.contains_key(topic) {
            let history = History::new(Position { epoch: start(), offset: 0 }, rule.retention, now);
            self.insert(topic, rule, history, None, now);
        }
        &mut self.entries.get_mut(topic).expect("it is there by now").history
    }

    /// Begins the history of a topic that the bus orders, and marks it as followed.
    pub(crate) fn begin(&mut self, topic: &Arc<str>, rule: Rule, position: Position, now: Micros) {
        let upstream = Upstream::new(position.offset == 0);
        let history = History::new(position, rule.retention, now);
        self.insert(topic, rule, history, Some(Box::new(upstream)), now);
        self.follow(topic, true, now);
    }

    fn insert(
        &mut self,
        topic: &Arc<str>,
        rule: Rule,
        history: History,
        upstream: Option<Box<Upstream>>,
        now: Micros,
    ) {
        let entry = Entry {
            history,
            rule: rule.index,
            idle: None,
            followed: false,
            unheard: false,
            upstream,
            accounted: 0,
        };
        self.entries.insert(topic.clone(), entry);
        self.changed(topic, now);
    }

    /// Returns a topic's state towards the bus that orders it.
    pub(crate) fn upstream(&mut self, topic: &str) -> Option<&mut Upstream> {
        self.entries.get_mut(topic)?.upstream.as_deref_mut()
    }

    /// Sets whether shards have members on the topic.
    pub(crate) fn follow(&mut self, topic: &Arc<str>, followed: bool, now: Micros) {
        if let Some(entry) = self.entries.get_mut(topic) {
            entry.followed = followed;
            self.changed(topic, now);
        }
    }

    /// Accounts for a history after a change and updates its place; evicts others while the total exceeds the bound.
    pub(crate) fn changed(&mut self, topic: &Arc<str>, now: Micros) {
        let Some(entry) = self.entries.get_mut(topic) else { return };
        let upstream = entry.upstream.as_ref().map_or(0, |_| block_bytes(size_of::<Upstream>()));
        let after = entry.history.bytes() + overhead_bytes(topic) + upstream;
        let before = std::mem::replace(&mut entry.accounted, after);
        self.bytes = self.bytes + after - before;
        self.place(topic);
        while self.bytes > self.bytes_max {
            let oldest = self.idle.iter().filter_map(BTreeMap::first_key_value).min_by_key(|(key, _)| **key);
            let Some((_, oldest)) = oldest else { return };
            let oldest = oldest.clone();
            self.forget(&oldest, now);
        }
    }

    /// Updates an entry's place in the order of idleness; within a second it stays where it is.
    fn place(&mut self, topic: &Arc<str>) {
        let Some(entry) = self.entries.get_mut(topic) else { return };
        let has_something = !(entry.followed && entry.history.is_empty());
        let right = entry.idle.is_some_and(|(at, _)| entry.history.touched - at < IDLE_STEP_US);
        if has_something && right {
            return;
        }
        let idle = &mut self.idle[entry.rule];
        if let Some(key) = entry.idle.take() {
            idle.remove(&key);
        }
        if has_something {
            self.serials += 1;
            let key = (entry.history.touched, self.serials);
            entry.idle = Some(key);
            idle.insert(key, topic.clone());
        }
    }

    /// Forgets a topic's publications. If shards follow the topic, its order is kept.
    fn forget(&mut self, topic: &Arc<str>, now: Micros) {
        let Some(entry) = self.entries.get_mut(topic) else { return };
        if entry.followed {
            entry.history.clear();
            if let Some(upstream) = &mut entry.upstream {
                upstream.complete = false;
            }
            return self.changed(topic, now);
        }
        self.remove(topic);
    }

    /// Removes a topic and its history.
    pub(crate) fn remove(&mut self, topic: &Arc<str>) {
        let Some(entry) = self.entries.remove(topic) else { return };
        if let Some(key) = entry.idle {
            self.idle[entry.rule].remove(&key);
        }
        self.bytes -= entry.accounted;
    }

    /// Forgets what is too old, for a bounded number of topics per call.
    pub(crate) fn expire(&mut self, now: Micros) {
        for rule in 0..self.idle.len() {
            for _ in 0..HISTORIES_EXPIRED_MAX {
                let Some((&(at, _), topic)) = self.idle[rule].first_key_value() else { break };
                let topic = topic.clone();
                let Some(entry) = self.entries.get(&topic) else { break };
                // The entry's place may lag by one step.
                if now - at <= entry.history.retention.age_us_max.saturating_add(IDLE_STEP_US) {
                    break;
                }
                self.forget(&topic, now);
            }
        }
    }

    /// Notes that a shard may have missed the topic's newest publication.
    pub(crate) fn unheard(&mut self, topic: &Arc<str>, now: Micros) {
        let Some(entry) = self.entries.get_mut(topic) else { return };
        if !std::mem::replace(&mut entry.unheard, true) {
            self.unheard.push(topic.clone());
            self.heads_due.get_or_insert(now + HEADS_INTERVAL_US);
        }
    }

    /// Returns the topics whose positions are to be sent to their shards now.
    pub(crate) fn take_unheard(&mut self, now: Micros) -> Vec<(Arc<str>, Position)> {
        if self.heads_due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.heads_due = None;
        let mut heads = Vec::new();
        for topic in std::mem::take(&mut self.unheard) {
            if let Some(entry) = self.entries.get_mut(&topic) {
                entry.unheard = false;
                heads.push((topic, entry.history.position()));
            }
        }
        heads
    }

    /// Returns when [`Archive::take_unheard`] or [`Archive::expire`] next has something to do.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        let expiry = self.idle.iter().filter_map(|idle| {
            let ((at, _), topic) = idle.first_key_value()?;
            let age_us_max = self.entries.get(topic)?.history.retention.age_us_max;
            Some(*at + age_us_max.saturating_add(IDLE_STEP_US + 1))
        });
        expiry.chain(self.heads_due).min()
    }

    /// Returns the memory of all histories, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the memory of the table beyond its entries, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        table_bytes(&self.entries).saturating_sub(self.entries.len() * size_of::<(Arc<str>, Entry)>())
    }

    /// Returns the number of topics that have a history.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histories::Retention;
    use crate::outgoing::Outgoing;
    use crate::place::Place;
    use crate::publication::Publication;

    const SECOND: u64 = 1_000_000;

    fn rule() -> Rule {
        let retention = Retention { messages_max: 1000, age_us_max: 10 * SECOND, bytes_max: 1 << 20 };
        Rule { index: 0, retention }
    }

    fn archive(bytes_max: usize) -> Archive {
        Archive::new(SecretHash(1), 1, bytes_max)
    }

    fn put(archive: &mut Archive, topic: &str, bytes: usize, now: Micros) {
        let topic: Arc<str> = topic.into();
        let history = archive.open(&topic, rule(), now, || Epoch::new("e").expect("an epoch"));
        let (offset, previous) = (history.newest + 1, history.newest);
        let place = Place { epoch: history.epoch.clone(), offset, previous, except: None };
        let payload = Outgoing::from(vec![0; bytes]);
        let publication = Publication {
            topic: topic.clone(),
            event: "e".into(),
            payload,
            received: now,
            place: Some(Box::new(place)),
        };
        history.append(Arc::new(publication), now);
        archive.changed(&topic, now);
    }

    fn sum(archive: &Archive) -> usize {
        let entries = archive.entries.iter();
        entries.map(|(topic, entry)| entry.history.bytes() + overhead_bytes(topic)).sum()
    }

    #[test]
    fn the_longest_idle_topic_makes_room_for_the_others() {
        let mut archive = archive(20_000);
        for (at, topic) in [(0, "a"), (2, "b"), (4, "c"), (6, "a"), (8, "d")] {
            put(&mut archive, topic, 5000, Micros(at * SECOND));
            assert!(archive.bytes() <= 20_000, "{}", archive.bytes());
            assert_eq!(archive.bytes(), sum(&archive));
        }
        let there: Vec<bool> = ["a", "b", "c", "d"].map(|topic| archive.get_mut(topic).is_some()).into();
        assert_eq!(there, [true, false, false, true], "`b` and `c` were idle for longer than `a`");
    }

    #[test]
    fn a_followed_topic_keeps_its_order_when_it_loses_what_it_published() {
        let mut archive = archive(8000);
        put(&mut archive, "a", 5000, Micros(0));
        archive.follow(&"a".into(), true, Micros(0));
        put(&mut archive, "b", 5000, Micros(2 * SECOND));
        let a = archive.get_mut("a").expect("still followed");
        assert_eq!((a.newest, a.floor, a.is_empty()), (1, 1, true));
        archive.follow(&"a".into(), false, Micros(2 * SECOND));
        put(&mut archive, "b", 5000, Micros(3 * SECOND));
        assert!(archive.get_mut("a").is_none());
    }

    #[test]
    fn what_is_too_old_is_forgotten_when_it_is_due_and_not_before() {
        let mut archive = archive(1 << 20);
        put(&mut archive, "a", 10, Micros(0));
        put(&mut archive, "a", 10, Micros(SECOND / 2));
        let due = archive.deadline().expect("it ages");
        archive.expire(Micros(due.0 - 1));
        assert!(archive.get_mut("a").is_some());
        while let Some(due) = archive.deadline() {
            archive.expire(due);
        }
        assert_eq!((archive.len(), archive.bytes()), (0, 0));
    }

    #[test]
    fn shards_are_told_of_what_they_may_have_missed_once_a_second() {
        let mut archive = archive(1 << 20);
        put(&mut archive, "a", 10, Micros(0));
        archive.unheard(&"a".into(), Micros(0));
        archive.unheard(&"a".into(), Micros(1));
        assert!(archive.take_unheard(Micros(SECOND - 1)).is_empty());
        let heads = archive.take_unheard(Micros(SECOND));
        assert_eq!(heads.iter().map(|(topic, head)| (&**topic, head.offset)).collect::<Vec<_>>(), [("a", 1)]);
        assert!(archive.take_unheard(Micros(9 * SECOND)).is_empty());
    }
}
