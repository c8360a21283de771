//! Presence as a client sees it, computed like phoenix.js does, and as it truly is.

use crate::journal::{JoinId, Mark, Note};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Meta {
    reference: String,
    mark: Mark,
}

type People = BTreeMap<String, Vec<Meta>>;

/// Marks by key, sorted: the form in which both sides are compared.
pub(crate) type Marks = BTreeMap<String, Vec<Mark>>;

/// One join's view.
#[derive(Default, Debug)]
pub(crate) struct View {
    people: People,
    /// Diffs that arrived before the first state.
    pending: Vec<(People, People)>,
    has_state: bool,
    /// The count that replaced the list when the topic became a crowd.
    count: Option<u64>,
}

/// What a view shows.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    Nothing,
    Count(u64),
    List(Marks),
}

impl View {
    /// Applies `presence_state`, `presence_diff` or `presence_count`; `None` if the payload is malformed.
    pub(crate) fn take(&mut self, event: &str, payload: &Value) -> Option<()> {
        match event {
            "presence_state" => {
                self.sync_state(people(payload)?);
                (self.has_state, self.count) = (true, None);
                for (joins, leaves) in std::mem::take(&mut self.pending) {
                    self.sync_diff(joins, leaves);
                }
            }
            "presence_diff" => {
                let (joins, leaves) = (people(&payload["joins"])?, people(&payload["leaves"])?);
                match self.has_state {
                    true => self.sync_diff(joins, leaves),
                    false => self.pending.push((joins, leaves)),
                }
            }
            // Our own event, unknown to phoenix.js: a page that shows a count forgets the diffs that wait for a state,
            // since the later changes of a crowd are not sent and the next state is complete.
            _ => {
                self.count = Some(payload["count"].as_u64()?);
                self.pending.clear();
            }
        }
        Some(())
    }

    /// `Presence.syncState`: the difference from what was known, applied as a diff.
    fn sync_state(&mut self, new: People) {
        let without = |metas: &[Meta], known: Option<&Vec<Meta>>| -> Vec<Meta> {
            let known =
                |meta: &&Meta| known.is_some_and(|k| k.iter().any(|other| other.reference == meta.reference));
            metas.iter().filter(|meta| !known(meta)).cloned().collect()
        };
        let difference = |of: &People, to: &People| -> People {
            let differences = of.iter().map(|(key, metas)| (key.clone(), without(metas, to.get(key))));
            differences.filter(|(_, metas)| !metas.is_empty()).collect()
        };
        let (joins, leaves) = (difference(&new, &self.people), difference(&self.people, &new));
        self.sync_diff(joins, leaves);
    }

    /// `Presence.syncDiff`: joins first, keeping known metas with other refs in front, then leaves.
    fn sync_diff(&mut self, joins: People, leaves: People) {
        for (key, joined) in joins {
            let metas = self.people.entry(key).or_default();
            metas.retain(|known| joined.iter().all(|meta| meta.reference != known.reference));
            metas.extend(joined);
        }
        for (key, left) in leaves {
            let Some(metas) = self.people.get_mut(&key) else { continue };
            metas.retain(|known| left.iter().all(|meta| meta.reference != known.reference));
            if metas.is_empty() {
                self.people.remove(&key);
            }
        }
    }

    pub(crate) fn shown(&self) -> Shown {
        match (self.count, self.has_state) {
            (Some(count), _) => Shown::Count(count),
            (None, false) => Shown::Nothing,
            (None, true) => Shown::List(
                self.people
                    .iter()
                    .map(|(key, metas)| (key.clone(), sorted(metas.iter().map(|m| m.mark))))
                    .collect(),
            ),
        }
    }
}

fn people(payload: &Value) -> Option<People> {
    let person = |(key, entry): (&String, &Value)| {
        let metas = entry["metas"].as_array()?.iter().map(meta).collect::<Option<Vec<_>>>()?;
        Some((key.clone(), metas))
    };
    payload.as_object()?.iter().map(person).collect()
}

fn meta(value: &Value) -> Option<Meta> {
    Some(Meta { reference: value["phx_ref"].as_str()?.to_owned(), mark: Mark(value["mark"].as_u64()?) })
}

fn sorted(marks: impl Iterator<Item = Mark>) -> Vec<Mark> {
    let mut marks: Vec<_> = marks.collect();
    marks.sort_unstable();
    marks
}

/// Who tracks what, as the channels report it.
#[derive(Default)]
pub(crate) struct Truth(BTreeMap<JoinId, BTreeMap<String, Mark>>);

impl Truth {
    pub(crate) fn noted(&mut self, note: &Note) {
        match note {
            Note::Tracked { join, key, mark } => {
                self.0.entry(*join).or_default().insert(key.clone(), *mark);
            }
            Note::Untracked { join, key } => {
                self.0.entry(*join).or_default().remove(key);
            }
            Note::Ended { join } => {
                self.0.remove(join);
            }
            Note::Joined { .. } | Note::Published(_) | Note::HandedOut { .. } | Note::Kicked { .. } => {}
        }
    }

    /// Returns the marks that `joins` track.
    pub(crate) fn of(&self, joins: impl Iterator<Item = JoinId>) -> Marks {
        let mut marks = Marks::new();
        for (key, mark) in joins.filter_map(|join| self.0.get(&join)).flatten() {
            marks.entry(key.clone()).or_default().push(*mark);
        }
        marks.values_mut().for_each(|marks| marks.sort_unstable());
        marks
    }
}
