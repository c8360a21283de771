//! When people were last seen, queued for the store.
//!
//! Presence records it per person; the newest of each waits here until a round writes it in batches. What a store in
//! trouble did not accept keeps waiting.

use crate::messenger::Messenger;
use chat::limits::SEEN_MAX;
use chat::verbs::NoteSeen;
use chat::{By, CommunityId, Failure, Moment, PersonId};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// People with a queued sighting. Beyond it, sightings of others are dropped and counted.
const PEOPLE_MAX: usize = 100_000;
/// Batches per round, taken from the communities in turn.
const BATCHES_PER_ROUND: usize = 8;

/// See the module.
#[derive(Default)]
pub(crate) struct LastSeenQueue {
    waiting: Mutex<Waiting>,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    communities: HashMap<CommunityId, BTreeMap<PersonId, Moment>>,
    /// The communities, in turn order.
    turns: VecDeque<CommunityId>,
    people: usize,
}

/// What is written together.
type Batch = (CommunityId, Vec<(PersonId, Moment)>);

impl LastSeenQueue {
    /// Queues that a person was seen at that moment.
    pub(crate) fn note(&self, community: &CommunityId, person: PersonId, seen: Moment) {
        if !self.lock().note(community, person, seen, PEOPLE_MAX) {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Returns how many were dropped because too many were queued.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    fn take(&self) -> Option<Batch> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Returns whether there was room.
    fn note(&mut self, community: &CommunityId, person: PersonId, seen: Moment, people_max: usize) -> bool {
        let is_full = self.people >= people_max;
        let known = self.communities.get(community).is_some_and(|people| people.contains_key(&person));
        if is_full && !known {
            return false;
        }
        let people = self.communities.entry(community.clone()).or_insert_with_key(|community| {
            self.turns.push_back(community.clone());
            BTreeMap::new()
        });
        let noted = people.entry(person).or_default();
        *noted = seen.max(*noted);
        self.people += usize::from(!known);
        true
    }

    fn take(&mut self) -> Option<Batch> {
        let community = self.turns.pop_front()?;
        let mut batch = self.communities.remove(&community)?;
        if let Some((first_left, _)) = batch.iter().nth(SEEN_MAX) {
            let left = batch.split_off(&first_left.clone());
            self.communities.insert(community.clone(), left);
            self.turns.push_back(community.clone());
        }
        self.people -= batch.len();
        Some((community, batch.into_iter().collect()))
    }
}

impl Messenger {
    /// Writes a round's share of the queue.
    pub(crate) async fn write_sightings(&self) {
        self.write_batches(BATCHES_PER_ROUND).await;
    }

    /// Records that everybody online who is not invisible is seen now, and writes the whole queue: called before the
    /// process ends.
    ///
    /// Gives up if the store does not accept it.
    pub async fn take_leave(&self) {
        for (community, person, seen) in self.inner.audience.everybody_seen(crate::clock::now()) {
            self.inner.sightings.note(&community, person, seen);
        }
        while self.write_batches(BATCHES_PER_ROUND).await {}
    }

    /// Returns whether there was anything to write, and the store accepted it.
    async fn write_batches(&self, batches_max: usize) -> bool {
        let sightings = &self.inner.sightings;
        let batches: Vec<Batch> = std::iter::from_fn(|| sightings.take()).take(batches_max).collect();
        let ask = |(community, people): &Batch| {
            self.ask(community, By::Service, NoteSeen { people: people.clone() })
        };
        let answers: Vec<_> = batches.iter().map(ask).collect();
        let mut is_taken = !batches.is_empty();
        for ((community, people), answer) in batches.into_iter().zip(answers) {
            match answer.await {
                Ok(()) => {}
                Err(Failure::Unavailable(_)) => {
                    is_taken = false;
                    for (person, seen) in people {
                        sightings.note(&community, person, seen);
                    }
                }
                Err(failure) => {
                    tracing::info!(%failure, %community, "last-seen times of a community can no longer be stored")
                }
            }
        }
        is_taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::{Choice, DeviceId, LEASE, Presence, Status};
    use crate::scene::{self, by, id, run, somebody};
    use std::time::{Duration, Instant};

    fn minute(number: u64) -> Moment {
        Moment::from_millis(number * 60_000)
    }

    #[test]
    fn the_newest_sighting_of_each_waits_and_communities_take_turns() {
        let mut waiting = Waiting::default();
        for nth in 0..SEEN_MAX + 1 {
            assert!(waiting.note(&id("many"), somebody(&format!("p{nth}")), minute(1), PEOPLE_MAX));
        }
        for number in [3, 2] {
            assert!(waiting.note(&id("few"), somebody("ann"), minute(number), PEOPLE_MAX));
        }
        let taken: Vec<Batch> = std::iter::from_fn(|| waiting.take()).collect();
        let sizes: Vec<(&str, usize)> =
            taken.iter().map(|(community, people)| (community.as_str(), people.len())).collect();
        assert_eq!(sizes, [("many", SEEN_MAX), ("few", 1), ("many", 1)]);
        assert_eq!(taken[1].1, [(somebody("ann"), minute(3))]);
        assert_eq!(waiting.people, 0);
    }

    #[test]
    fn past_the_bound_only_who_waits_already_is_noted() {
        let mut waiting = Waiting::default();
        assert!(waiting.note(&id("one"), somebody("ann"), minute(1), 1));
        assert!(!waiting.note(&id("one"), somebody("bob"), minute(1), 1));
        assert!(waiting.note(&id("one"), somebody("ann"), minute(2), 1));
        assert_eq!(waiting.take(), Some((id("one"), vec![(somebody("ann"), minute(2))])));
    }

    #[test]
    fn who_goes_is_seen_last_then_also_by_a_messenger_that_comes_after_this_one() {
        run(async {
            let (messenger, _) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            for name in ["ann", "bob", "cat"] {
                scene::person(&messenger, "one", name, &lobby).await;
            }
            let (one, device) = (id("one"), DeviceId(1));
            let audience = &messenger.inner.audience;
            for name in ["bob", "cat"] {
                audience.arrive(&one, &somebody(name), device).expect("there is room");
            }
            let invisible = Some(Choice::Invisible);
            audience.set_status(&one, &somebody("cat"), device, None, invisible, minute(2));
            for name in ["bob", "cat"] {
                audience.depart(&one, &somebody(name), device, minute(5));
            }
            let due = audience.sweep(Instant::now() + LEASE + Duration::from_secs(1), minute(6), false);
            for (community, person, seen) in due.seen {
                messenger.inner.sightings.note(&community, person, seen);
            }
            messenger.write_sightings().await;

            let later = Messenger::new(messenger.store(), crate::Settings::default());
            let people = ["bob", "cat", "ann", "nob"].map(somebody).to_vec();
            let seen = later.presences(&one, by("ann"), people).await.expect("she may");
            let offline = |name, seen| Presence { person: somebody(name), status: Status::Offline, seen };
            let expected =
                [offline("bob", Some(minute(5))), offline("cat", Some(minute(2))), offline("ann", None)];
            assert_eq!(seen, expected);
        });
    }

    #[test]
    fn what_the_store_did_not_take_waits_on() {
        run(async {
            let (messenger, held) = scene::holding();
            let lobby = scene::community(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            messenger.inner.sightings.note(&id("one"), somebody("ann"), minute(4));
            held.hold();
            tokio::join!(messenger.write_sightings(), async { held.fail() });
            held.commit();
            messenger.take_leave().await;
            let seen = messenger.presences(&id("one"), By::Service, vec![somebody("ann")]).await;
            assert_eq!(seen.expect("a key may")[0].seen, Some(minute(4)));
        });
    }
}
