//! What was read lately: communities, rooms' names, people, how people stand to conversations, newest pages, pages of what
//! was said before, and pages of what changed.
//!
//! It is bounded in bytes. Everything in it is forgotten by [`News`](crate::News) when it becomes stale, also while it is
//! being read: one entry by its key, whatever belongs to a community, a conversation or a person by [`stamps`]. What was
//! read meanwhile is true for who asked before that, and is given to nobody else. Those who want the same at the same time
//! wait for one reading; when the store cannot answer it, none of them asks again.

mod carrying;
mod key;
mod stamps;
#[cfg(test)]
mod tests;

pub(crate) use key::{Found, Key, Met, Outline, Part, Standing};

use crate::entrance::Directory;
use chat::{CommunityId, ConversationId, Failure, Moment, Person, PersonId};
use key::{ENTRY_BYTES, KINDS};
use quick_cache::Weighter;
use stamps::{Stamps, Subject, Sum};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

/// An entry. It counts as long as its key's stamps stand where they stood before it was read.
#[derive(Clone)]
struct Entry {
    // Boxed: nearly all were found.
    found: Result<Found, Box<Failed>>,
    read_at: Sum,
}

/// A reading that the store could not answer. It is for those who waited for it, and counts for nobody who comes later.
#[derive(Clone)]
struct Failed {
    /// Of all that failed.
    nth: u64,
    failure: Failure,
}

/// Of an entry on average: for how many there is to be room at once.
const EXPECTED_BYTES: u64 = 2 * ENTRY_BYTES;

#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Entry> for Bytes {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        entry.found.as_ref().map_or(ENTRY_BYTES, Found::bytes)
    }
}

/// See the module.
pub(crate) struct Cache {
    items: quick_cache::sync::Cache<Key, Entry, Bytes>,
    stamps: Stamps,
    bytes_max: u64,
    /// Readings that the store could not answer.
    failed: AtomicU64,
    hits: [AtomicU64; KINDS.len()],
    misses: [AtomicU64; KINDS.len()],
}

impl Cache {
    pub(crate) fn new(bytes_max: u64, secret: u64) -> Self {
        let items = (bytes_max / EXPECTED_BYTES).clamp(64, 1 << 22) as usize;
        let zero = || std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            items: quick_cache::sync::Cache::with_weighter(items, bytes_max, Bytes),
            stamps: Stamps::new(secret),
            bytes_max,
            failed: AtomicU64::new(0),
            hits: zero(),
            misses: zero(),
        }
    }

    /// What is kept under a key, or what `read` brings. Whoever else wants it meanwhile waits for the same reading.
    ///
    /// # Errors
    /// As `read`; failures are not kept. That the store cannot answer is said to whoever waits for the same reading, too: asking
    /// one after the other each of them would wait for all before them.
    pub(crate) async fn get(
        &self,
        key: Key,
        read: impl Future<Output = Result<Found, Failure>>,
    ) -> Result<Found, Failure> {
        let failed_before = self.failed.load(Acquire);
        loop {
            match self.items.get_value_or_guard_async(&key).await {
                Ok(Entry { found: Err(failed), .. }) if failed.nth > failed_before => {
                    return Err(failed.failure);
                }
                Ok(entry) => {
                    if let Some(found) = self.counting(&key, entry) {
                        self.hits[key.kind()].fetch_add(1, Relaxed);
                        return Ok(found);
                    }
                }
                Err(guard) => {
                    self.misses[key.kind()].fetch_add(1, Relaxed);
                    let read_at = self.stamps.sum(&key);
                    let outcome = read.await;
                    let found = match &outcome {
                        Ok(found) => Ok(found.clone()),
                        Err(failure @ Failure::Unavailable(_)) => Err(self.failed(failure)),
                        Err(_) => return outcome,
                    };
                    // Refused when its key was forgotten meanwhile: it is true for who asked before that.
                    let _ = guard.insert(Entry { found, read_at });
                    if outcome.is_err() {
                        self.items.remove_if(&key, |entry| entry.found.is_err());
                    }
                    return outcome;
                }
            }
        }
    }

    /// Notes a person as they are at that time, and says whether they were known here as `same` as that. If not, whatever
    /// else was read of them is stale: of whom nothing is known there may be standings all the same, with a role that they
    /// have no more.
    pub(crate) fn note_person(
        &self,
        community: &CommunityId,
        person: &Person,
        at: Moment,
        same: impl FnOnce(&Person) -> bool,
    ) -> bool {
        let key = Key::Person(community.clone(), person.id.clone());
        let known = self.items.peek(&key).and_then(|entry| self.counting(&key, entry));
        let is_same = match known {
            Some(Found::Person(known)) => same(&known.person),
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Page(_)) | None => false,
        };
        if !is_same {
            self.forget_person(community, &person.id);
        }
        let read_at = self.stamps.sum(&key);
        let found = Found::Person(Met { person: Arc::new(person.clone()), at });
        self.items.insert(key, Entry { found: Ok(found), read_at });
        is_same
    }

    /// Where a person's stamps stand, before they are read.
    pub(crate) fn person_stamps(&self, community: &CommunityId, person: &PersonId) -> Sum {
        self.stamps.sum(&Key::Person(community.clone(), person.clone()))
    }

    /// Keeps a person who was read when their stamps stood there. Nothing else that was read of them becomes stale.
    pub(crate) fn keep_person(&self, community: &CommunityId, met: Met, read_at: Sum) {
        let key = Key::Person(community.clone(), met.person.id.clone());
        self.items.insert(key, Entry { found: Ok(Found::Person(met)), read_at });
    }

    /// A person, if they are known here.
    pub(crate) fn known_person(&self, community: &CommunityId, person: &PersonId) -> Option<Met> {
        let key = Key::Person(community.clone(), person.clone());
        let found = self.items.get(&key).and_then(|entry| self.counting(&key, entry));
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count[key.kind()].fetch_add(1, Relaxed);
        match found {
            Some(Found::Person(met)) => Some(met),
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Page(_)) | None => None,
        }
    }

    /// Somebody, as one with what is kept of them here, if that is the same.
    pub(crate) fn shared_person(&self, community: &CommunityId, person: Person) -> Arc<Person> {
        match self.items.peek(&Key::Person(community.clone(), person.id.clone())) {
            Some(Entry { found: Ok(Found::Person(met)), .. }) if *met.person == person => met.person,
            Some(_) | None => Arc::new(person),
        }
    }

    /// A community, if it was read lately.
    pub(crate) fn known_community(&self, community: &CommunityId) -> Option<Arc<Directory>> {
        let key = Key::Community(community.clone());
        match self.items.peek(&key).and_then(|entry| self.counting(&key, entry)) {
            Some(Found::Community(directory)) => Some(directory),
            Some(Found::Room(_) | Found::Person(_) | Found::Standing(_) | Found::Page(_)) | None => None,
        }
    }

    /// One entry is stale; with a newest page all that was read of what changed in the conversation.
    pub(crate) fn forget(&self, key: &Key) {
        if let Key::Newest(community, conversation) = key {
            self.stamps.raise(Subject::Messages(community, *conversation));
        }
        self.items.remove(key);
    }

    /// A message of a conversation was changed, or may have been: all its pages are stale.
    pub(crate) fn forget_messages(&self, community: &CommunityId, conversation: ConversationId) {
        self.stamps.raise(Subject::Past(community, conversation));
        self.forget(&Key::Newest(community.clone(), conversation));
    }

    /// A person is stale, and how they stand to anything.
    pub(crate) fn forget_person(&self, community: &CommunityId, person: &PersonId) {
        self.stamps.raise(Subject::Person(community, person));
    }

    /// How anybody stands to a conversation is stale.
    pub(crate) fn forget_standings(&self, community: &CommunityId, conversation: ConversationId) {
        self.stamps.raise(Subject::Conversation(community, conversation));
    }

    /// All pages of a community's messages are stale.
    pub(crate) fn forget_pages(&self, community: &CommunityId) {
        self.stamps.raise(Subject::Pages(community));
    }

    /// Everything of a community is stale.
    pub(crate) fn forget_community(&self, community: &CommunityId) {
        self.stamps.raise(Subject::Community(community));
    }

    /// Everything is stale.
    pub(crate) fn forget_everything(&self) {
        self.stamps.raise_all();
    }

    /// Hits and misses of each of the kinds of keys.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        KINDS
            .iter()
            .enumerate()
            .map(move |(kind, name)| (*name, load(&self.hits[kind]), load(&self.misses[kind])))
    }

    /// Bytes that are taken, and that may be.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.items.weight(), self.bytes_max)
    }

    fn failed(&self, failure: &Failure) -> Box<Failed> {
        Box::new(Failed { nth: self.failed.fetch_add(1, AcqRel) + 1, failure: failure.clone() })
    }

    /// What an entry holds, if it counts; one that does not is taken out, unless a newer one stands there by now.
    fn counting(&self, key: &Key, entry: Entry) -> Option<Found> {
        let counts = |entry: &Entry| entry.found.is_ok() && entry.read_at == self.stamps.sum(key);
        if counts(&entry) {
            return entry.found.ok();
        }
        self.items.remove_if(key, |entry| !counts(entry));
        None
    }
}
