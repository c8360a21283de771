//! The epoch of a stream's orders, and how its sequences map to offsets: stored beside the streams, and agreed on by
//! all nodes when their sessions begin.
//!
//! A restarted server that lost its newest data is detected by a node that knows of something newer.

use super::ledger::Ledger;
use super::places::Places;
use crate::failure::Failure;
use crate::stored_head::{StoredHead, StoredPosition};
use hub::Epoch;
use std::time::SystemTime;

/// How often to retry when other nodes write the same stream's marks concurrently.
const TRIES_MAX: usize = 10;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Marks {
    pub(crate) epoch: String,
    /// The run of the server that wrote last.
    run: String,
    /// The newest offset when that run was first seen.
    loaded: u64,
    pub(crate) places: Places,
}

/// The state in which a stream was found.
pub(crate) struct Found<'a> {
    /// Identifies the run of the server and the stream.
    pub(crate) run: &'a str,
    /// Its last sequence.
    pub(crate) newest: u64,
}

/// Agrees on the marks with the other nodes. `key` identifies the stream.
pub(crate) async fn agree(
    ledger: &Ledger,
    key: &str,
    found: &Found<'_>,
    witness: &StoredHead,
) -> Result<Marks, Failure> {
    for _ in 0..TRIES_MAX {
        let (text, revision) = ledger.read(key).await?;
        let known = text.as_deref().and_then(read);
        let next = next(known.as_ref(), found, witness.seen().as_ref(), now_us(), fresh()?);
        if known.as_ref() == Some(&next) || ledger.write(key, &write(&next), revision).await? {
            return Ok(next);
        }
    }
    Err(Failure::Refused("too many nodes update their state at the same time".to_owned()))
}

/// Returns the current epoch.
pub(crate) async fn current(ledger: &Ledger, key: &str) -> Result<Option<Epoch>, Failure> {
    let (text, _) = ledger.read(key).await?;
    Ok(text.as_deref().and_then(read).and_then(|marks| Epoch::new(&marks.epoch)))
}

fn next(
    known: Option<&Marks>,
    found: &Found<'_>,
    seen: Option<&StoredPosition>,
    now_us: u64,
    fresh: String,
) -> Marks {
    let Found { run, newest } = *found;
    let unseen = now_us.max(seen.map_or(0, |seen| seen.offset + 1));
    let Some(known) = known else {
        let places = Places::begin(newest, unseen);
        return Marks { epoch: fresh, run: run.to_owned(), loaded: places.offset(newest), places };
    };
    let mut next = known.clone();
    let reached = known.places.offset(newest);
    if known.run != run || known.places.newest_run() > newest {
        (next.run, next.loaded) = (run.to_owned(), reached);
        next.places.begin_run(newest, unseen.max(reached + 1));
    }
    let is_lost = |seen: &StoredPosition| {
        let before = *seen.run != *run && seen.offset > next.loaded;
        seen.epoch.as_str() == next.epoch && (before || seen.offset > reached)
    };
    if seen.is_some_and(is_lost) {
        next.epoch = fresh;
    }
    next
}

fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX).max(1)
}

fn fresh() -> Result<String, Failure> {
    let mut fresh = [0; 9];
    getrandom::fill(&mut fresh).map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(fresh.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write(marks: &Marks) -> String {
    let Marks { epoch, run, loaded, places } = marks;
    format!("{epoch} {run} {loaded} {places}")
}

fn read(text: &str) -> Option<Marks> {
    let mut words = text.split(' ');
    let (epoch, run) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (loaded, places) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Epoch::new(&epoch)?;
    Some(Marks { epoch, run, loaded, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "server-1@1";
    const TWO: &str = "server-2@1";

    fn at(known: Option<&Marks>, run: &str, newest: u64, seen: Option<&StoredPosition>) -> Marks {
        next(known, &Found { run, newest }, seen, 1_000_000, "fresh".to_owned())
    }

    fn marks() -> Marks {
        let places = Places::begin(0, 1000);
        Marks { epoch: "old".to_owned(), run: ONE.to_owned(), loaded: 999, places }
    }

    fn seen(offset: u64, run: &str) -> StoredPosition {
        StoredPosition { epoch: Epoch::new("old").expect("an epoch"), offset, run: run.into() }
    }

    #[test]
    fn a_restart_that_lost_nothing_changes_no_epoch_and_no_offset() {
        let known = marks();
        assert_eq!(at(Some(&known), ONE, 5, Some(&seen(1004, ONE))), known);
        let next = at(Some(&known), TWO, 5, Some(&seen(1004, ONE)));
        assert_eq!((&*next.epoch, next.loaded, next.places.offset(5)), ("old", 1004, 1004));
        assert_eq!(next.places.offset(6), 1_000_000);
        assert_eq!(read(&write(&next)), Some(next));
    }

    #[test]
    fn who_was_told_of_something_newer_begins_another_epoch_even_if_others_were_faster() {
        let witness = seen(1004, ONE);
        assert_eq!(at(Some(&marks()), TWO, 3, Some(&witness)).epoch, "fresh");
        let faster = at(Some(&marks()), TWO, 3, None);
        assert_eq!(faster.epoch, "old", "nobody knows better yet");
        let late = at(Some(&faster), TWO, 100, Some(&witness));
        assert_eq!(late.epoch, "fresh", "what was written since does not stand for what was lost");
        assert_eq!(late.places.offset(4), 1_000_000, "no offset is given twice");
    }

    #[test]
    fn a_stream_that_was_emptied_in_the_same_run_is_another_order() {
        let mut known = marks();
        known.places.begin_run(10, 5000);
        let next = at(Some(&known), ONE, 0, Some(&seen(5003, ONE)));
        assert_eq!((&*next.epoch, next.places.offset(1)), ("fresh", 1_000_000));
    }

    #[test]
    fn offsets_go_on_behind_what_was_seen_when_a_clock_went_back() {
        let next = at(Some(&marks()), TWO, 3, Some(&seen(2_000_000, ONE)));
        assert_eq!(next.places.offset(4), 2_000_001);
        let places = Places::begin(0, 3_000_000);
        let known = Marks { places, ..marks() };
        assert_eq!(at(Some(&known), TWO, 3, None).places.offset(4), 3_000_003);
    }
}
