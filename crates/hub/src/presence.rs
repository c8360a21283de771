//! Presence on a topic, kept at the topic's home shard, in Phoenix's format.
//!
//! A key (a person) has one meta for each join that tracks it, older ones first. Every change is a diff of joins and
//! leaves; an update is both in one. Beyond a number of changes per tick, the changes are merged into one diff. Clients
//! apply joins first, so the merged diff has the same effect. In a crowd (more metas than the limit), only the number
//! of people is sent.

use crate::base64_id::Base64Id;
use crate::ids::{ConnectionKey, JoinInstance, Micros, ShardIndex};
use crate::limits::{PRESENCE_COUNT_INTERVAL_US, PRESENCE_DIFFS_PER_TICK_MAX};
use crate::outgoing::inside;
use crate::people::RemotePeople;
use crate::sizes::{block_bytes, shared_text_bytes};
use crate::splice::object_of;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `phx_ref`: 16 characters of URL-safe base64, unique to one meta.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhxRef(Base64Id);

impl PhxRef {
    /// The `count`th ref of a shard; `salt` tells nodes and restarts apart.
    pub(crate) fn new(salt: u32, shard: ShardIndex, count: u64) -> PhxRef {
        let mut raw = [0; 12];
        raw[..4].copy_from_slice(&salt.to_be_bytes());
        raw[4..6].copy_from_slice(&shard.0.to_be_bytes());
        raw[6..].copy_from_slice(&count.to_be_bytes()[2..]);
        PhxRef(Base64Id::new(raw))
    }

    /// Parses a ref that another node made.
    pub fn parse(text: &str) -> Option<PhxRef> {
        Base64Id::parse(text).map(PhxRef)
    }

    /// Returns its characters.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl std::fmt::Debug for PhxRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The join that a presence belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PresenceOwner {
    pub(crate) shard: ShardIndex,
    pub(crate) key: ConnectionKey,
    pub(crate) instance: JoinInstance,
}

#[derive(Default)]
pub(crate) struct Presence {
    people: BTreeMap<Box<str>, Vec<Meta>>,
    /// Number of tracked joins: the sum over the people.
    metas: usize,
    /// The state as JSON: set when the first newcomer needs it, cleared by the next change.
    state: Option<Arc<str>>,
    /// Whether only the count is sent.
    crowd: bool,
    /// When the count may be sent again; set while it differs from the last one sent.
    count_due: Option<Micros>,
    counted: Micros,
    /// Diffs sent one by one in this tick.
    told: usize,
    /// Changes to be merged into one diff at the end of the tick.
    merged: Diff,
    /// What is known of other nodes; `None` without a bus.
    pub(crate) remote: Option<Box<RemotePeople>>,
    /// Memory of the people and their metas.
    people_bytes: usize,
    /// The bytes that the shard's counters include for this value.
    pub(crate) accounted: usize,
}

/// A person's entry in the tree, whose nodes are two thirds full on average.
const PERSON_BYTES: usize = size_of::<(Box<str>, Vec<Meta>)>() * 3 / 2;

fn person_bytes(key: &str, metas: &Vec<Meta>) -> usize {
    PERSON_BYTES + block_bytes(key.len()) + block_bytes(metas.capacity() * size_of::<Meta>())
}

struct Meta {
    reference: PhxRef,
    json: Box<str>,
}

/// What has to be published after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tell {
    Nothing,
    /// Publish now.
    Event(&'static str, String),
    /// Call [`Presence::settle`] at the end of the tick.
    Later,
}

#[derive(Default)]
pub(crate) struct Diff {
    joins: BTreeMap<Box<str>, Vec<Box<str>>>,
    leaves: BTreeMap<Box<str>, Vec<Box<str>>>,
}

pub(crate) const STATE_EVENT: &str = "presence_state";
pub(crate) const DIFF_EVENT: &str = "presence_diff";
pub(crate) const COUNT_EVENT: &str = "presence_count";

impl Presence {
    pub(crate) fn is_empty(&self) -> bool {
        let idle = self.remote.as_ref().is_none_or(|remote| remote.is_idle());
        idle && self.people.is_empty() && self.merged.is_empty() && self.count_due.is_none()
    }

    /// Returns the number of tracked joins, on all nodes.
    pub(crate) fn tracked_joins(&self) -> usize {
        self.metas
    }

    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.count_due
    }

    /// Returns the memory it takes now, in bytes. Changes merged within a tick are gone before anybody counts.
    pub(crate) fn bytes(&self) -> usize {
        let state = self.state.as_ref().map_or(0, shared_text_bytes);
        block_bytes(size_of::<Presence>()) + self.people_bytes + state
    }

    /// Adds a meta; replaces `previous` if it is given.
    pub(crate) fn track(
        &mut self,
        key: &str,
        reference: PhxRef,
        previous: Option<PhxRef>,
        meta: &str,
    ) -> Diff {
        let mut diff = Diff::default();
        if let Some(left) = previous.and_then(|previous| self.remove(key, previous)) {
            diff.leaves.insert(key.into(), vec![left.json]);
        }
        diff.absorb(self.put(key, reference, with_reference(meta, reference, previous)));
        diff
    }

    /// Adds a meta whose JSON contains its refs already.
    pub(crate) fn put(&mut self, key: &str, reference: PhxRef, json: Box<str>) -> Diff {
        let mut diff = Diff::default();
        diff.joins.insert(key.into(), vec![json.clone()]);
        self.people_bytes += block_bytes(json.len());
        match self.people.get_mut(key) {
            Some(metas) => {
                self.people_bytes -= person_bytes(key, metas);
                // Older ones first. With metas of other nodes, sort by ref, so that the order is the same everywhere.
                let at = match &self.remote {
                    Some(_) => metas.partition_point(|meta| meta.reference < reference),
                    None => metas.len(),
                };
                metas.insert(at, Meta { reference, json });
                self.people_bytes += person_bytes(key, metas);
            }
            None => {
                let metas = vec![Meta { reference, json }];
                self.people_bytes += person_bytes(key, &metas);
                self.people.insert(key.into(), metas);
            }
        }
        self.metas += 1;
        self.state = None;
        diff
    }

    pub(crate) fn untrack(&mut self, key: &str, reference: PhxRef) -> Diff {
        let mut diff = Diff::default();
        if let Some(left) = self.remove(key, reference) {
            diff.leaves.insert(key.into(), vec![left.json]);
        }
        diff
    }

    fn remove(&mut self, key: &str, reference: PhxRef) -> Option<Meta> {
        let metas = self.people.get_mut(key)?;
        let at = metas.iter().position(|meta| meta.reference == reference)?;
        let meta = metas.remove(at);
        self.people_bytes -= block_bytes(meta.json.len());
        if metas.is_empty() {
            self.people_bytes -= person_bytes(key, metas);
            self.people.remove(key);
        }
        self.metas -= 1;
        self.state = None;
        Some(meta)
    }

    /// Decides how a change is published; above `tracked_max` tracked joins the topic is a crowd.
    pub(crate) fn changed(&mut self, diff: Diff, tracked_max: usize, now: Micros) -> Tell {
        if diff.is_empty() {
            return Tell::Nothing;
        }
        if self.crowd && self.metas <= tracked_max / 5 * 4 {
            self.crowd = false;
            self.count_due = None;
            return Tell::Event(STATE_EVENT, self.state_json());
        }
        if self.crowd || self.metas > tracked_max {
            self.crowd = true;
            self.merged = Diff::default();
            self.count_due.get_or_insert((self.counted + PRESENCE_COUNT_INTERVAL_US).max(now));
            return Tell::Later;
        }
        self.told += 1;
        if self.told <= PRESENCE_DIFFS_PER_TICK_MAX {
            return Tell::Event(DIFF_EVENT, diff.json());
        }
        self.merged.absorb(diff);
        Tell::Later
    }

    /// Returns what to publish at the end of a tick; [`Tell::Later`] if the count is not due yet.
    pub(crate) fn settle(&mut self, now: Micros) -> Tell {
        self.told = 0;
        match self.count_due {
            Some(due) if due <= now => {
                self.count_due = None;
                self.counted = now;
                return Tell::Event(COUNT_EVENT, self.count_json());
            }
            Some(_) => return Tell::Later,
            None => {}
        }
        let merged = std::mem::take(&mut self.merged);
        if merged.is_empty() { Tell::Nothing } else { Tell::Event(DIFF_EVENT, merged.json()) }
    }

    /// Returns what a newcomer gets: everybody, or the size of the crowd.
    pub(crate) fn for_newcomer(&mut self) -> (&'static str, Arc<str>) {
        if self.crowd {
            return (COUNT_EVENT, self.count_json().into());
        }
        let state = self.state.take().unwrap_or_else(|| self.state_json().into());
        (STATE_EVENT, self.state.insert(state).clone())
    }

    /// Iterates over all metas with their keys, in key order.
    pub(crate) fn metas(&self) -> impl Iterator<Item = (&str, PhxRef, &str)> {
        self.people
            .iter()
            .map(|(key, metas)| (&**key, metas))
            .flat_map(|(key, metas)| metas.iter().map(move |meta| (key, meta.reference, &*meta.json)))
    }

    fn state_json(&self) -> String {
        let people = self.people.iter();
        people_json(people.map(|(key, metas)| (&**key, metas.iter().map(|meta| &*meta.json))))
    }

    /// Counts people, not tracked joins.
    fn count_json(&self) -> String {
        format!("{{\"count\":{}}}", self.people.len())
    }
}

impl Diff {
    fn is_empty(&self) -> bool {
        self.joins.is_empty() && self.leaves.is_empty()
    }

    /// Appends a later diff. A meta that came and went within one merge could be left out, but sending it is harmless:
    /// clients apply joins first.
    pub(crate) fn absorb(&mut self, later: Diff) {
        for (into, from) in [(&mut self.joins, later.joins), (&mut self.leaves, later.leaves)] {
            for (key, metas) in from {
                into.entry(key).or_default().extend(metas);
            }
        }
    }

    pub(crate) fn json(&self) -> String {
        let side = |people: &BTreeMap<Box<str>, Vec<Box<str>>>| {
            people_json(people.iter().map(|(key, metas)| (&**key, metas.iter().map(|json| &**json))))
        };
        format!("{{\"joins\":{},\"leaves\":{}}}", side(&self.joins), side(&self.leaves))
    }
}

/// `{"ann":{"metas":[…]},…}`
fn people_json<'a, M: Iterator<Item = &'a str>>(people: impl Iterator<Item = (&'a str, M)>) -> String {
    let mut json = String::from("{");
    for (key, metas) in people {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&serde_json::Value::from(key).to_string());
        json.push_str(":{\"metas\":[");
        for (count, meta) in metas.enumerate() {
            if count > 0 {
                json.push(',');
            }
            json.push_str(meta);
        }
        json.push_str("]}");
    }
    json.push('}');
    json
}

/// Puts `phx_ref`, and for an update `phx_ref_prev`, after the application's fields: see [`object_of`].
pub(crate) fn with_reference(meta: &str, reference: PhxRef, previous: Option<PhxRef>) -> Box<str> {
    let fields = inside(meta).unwrap_or_default();
    let reference = reference.as_str();
    match previous {
        None => object_of(fields, &["\"phx_ref\":\"", reference, "\""]),
        Some(previous) => object_of(
            fields,
            &["\"phx_ref\":\"", reference, "\",\"phx_ref_prev\":\"", previous.as_str(), "\""],
        ),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(count: u64) -> PhxRef {
        PhxRef::new(0, ShardIndex(0), count)
    }

    fn join(presence: &mut Presence, key: &str, count: u64, now: Micros) -> Tell {
        let diff = presence.track(key, reference(count), None, "{}");
        presence.changed(diff, 10, now)
    }

    #[test]
    fn an_update_is_a_join_and_a_leave_in_one_diff() {
        let mut presence = Presence::default();
        presence.track("ann", reference(1), None, r#"{"n":1}"#);
        let diff = presence.track("ann", reference(2), Some(reference(1)), r#"{"n":2}"#);
        assert_eq!(
            diff.json(),
            concat!(
                r#"{"joins":{"ann":{"metas":[{"n":2,"phx_ref":"AAAAAAAAAAAAAAAC","phx_ref_prev":"AAAAAAAAAAAAAAAB"}]}},"#,
                r#""leaves":{"ann":{"metas":[{"n":1,"phx_ref":"AAAAAAAAAAAAAAAB"}]}}}"#
            )
        );
    }

    #[test]
    fn a_reference_that_the_application_writes_is_not_the_one_that_counts() {
        let meta = with_reference(r#" { "phx_ref":"forged" } "#, reference(1), None);
        let value: serde_json::Value = serde_json::from_str(&meta).expect("valid JSON");
        assert_eq!(value["phx_ref"], "AAAAAAAAAAAAAAAB");
        for not_an_object in ["[]", "7", ""] {
            let meta = with_reference(not_an_object, reference(1), None);
            assert_eq!(&*meta, r#"{"phx_ref":"AAAAAAAAAAAAAAAB"}"#);
        }
    }

    #[test]
    fn the_state_lists_older_metas_first() {
        let mut presence = Presence::default();
        presence.track("a\"b", reference(1), None, "{}");
        presence.track("a\"b", reference(2), None, "{ }");
        let state = presence.state_json();
        let value: serde_json::Value = serde_json::from_str(&state).expect("valid JSON");
        let refs: Vec<_> =
            value["a\"b"]["metas"].as_array().expect("a list").iter().map(|m| &m["phx_ref"]).collect();
        assert_eq!(refs, ["AAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAC"]);
    }

    #[test]
    fn newcomers_share_a_state_until_it_changes() {
        let mut presence = Presence::default();
        presence.track("ann", reference(1), None, "{}");
        let (_, first) = presence.for_newcomer();
        let (_, second) = presence.for_newcomer();
        assert!(Arc::ptr_eq(&first, &second));
        presence.track("ann", reference(2), Some(reference(1)), r#"{"n":2}"#);
        let (_, updated) = presence.for_newcomer();
        assert_eq!(*updated, *presence.state_json());
        assert_ne!(updated, first);
        presence.untrack("ann", reference(2));
        assert_eq!(&*presence.for_newcomer().1, "{}");
    }

    #[test]
    fn a_crowd_is_made_of_tracked_joins_and_its_count_of_people() {
        let mut presence = Presence::default();
        for count in 0..11 {
            join(&mut presence, "ann", count, Micros(0));
        }
        assert_eq!(presence.for_newcomer(), (COUNT_EVENT, r#"{"count":1}"#.into()));
    }

    #[test]
    fn changes_beyond_the_bound_of_a_tick_are_merged() {
        let mut presence = Presence::default();
        for count in 0..PRESENCE_DIFFS_PER_TICK_MAX as u64 {
            let diff = presence.track("k", reference(count), None, "{}");
            assert!(matches!(presence.changed(diff, 1000, Micros(0)), Tell::Event(DIFF_EVENT, _)));
        }
        let diff = presence.track("late", reference(99), None, "{}");
        assert_eq!(presence.changed(diff, 1000, Micros(0)), Tell::Later);
        let Tell::Event(DIFF_EVENT, json) = presence.settle(Micros(0)) else { panic!("a merged diff") };
        assert!(json.contains("late"));
        assert_eq!(presence.settle(Micros(0)), Tell::Nothing);
    }

    #[test]
    fn a_crowd_is_counted_once_a_second_and_listed_again_when_it_is_small() {
        let mut presence = Presence::default();
        for count in 0..10 {
            assert!(matches!(
                join(&mut presence, &count.to_string(), count, Micros(0)),
                Tell::Event(DIFF_EVENT, _)
            ));
        }
        let later = Micros(5_000_000);
        assert_eq!(join(&mut presence, "one more", 10, later), Tell::Later);
        assert_eq!(presence.settle(later), Tell::Event(COUNT_EVENT, r#"{"count":11}"#.into()));
        assert_eq!(join(&mut presence, "and one", 11, later), Tell::Later);
        assert_eq!(presence.settle(later + 1), Tell::Later);
        assert_eq!(presence.settle(later + 1_000_000), Tell::Event(COUNT_EVENT, r#"{"count":12}"#.into()));
        for count in 0..4 {
            let diff = presence.untrack(&count.to_string(), reference(count));
            let tell = presence.changed(diff, 10, later);
            assert_eq!(matches!(tell, Tell::Event(STATE_EVENT, _)), count == 3, "{tell:?}");
        }
    }
}
