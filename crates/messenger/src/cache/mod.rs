//! The read cache: communities, room names, people, standings in conversations, newest pages, pages before them, and
//! pages of changes.
//!
//! It is bounded in bytes. [`News`](crate::News) invalidates every entry that becomes stale, also while it is being
//! read: a single entry by its key, everything of a community, a conversation or a person by [`generations`]. A value that
//! became stale while it was read is valid for those who asked before that, and is given to nobody else. Concurrent
//! requests for the same key wait for one read; if the store cannot answer it, none of them asks again.
//!
//! A person is cached only when they come a second time, and so is a standing that only a join needs (see
//! [`doorkeeper`]): most people come and stay, and nothing is read again of them.

mod doorkeeper;
mod generations;
mod key;
#[cfg(test)]
mod tests;
mod updating;

pub(crate) use key::{ConfirmedPerson, Found, Key, Part, Standing};

use crate::entrance::Directory;
use crate::known::Known;
use chat::{CommunityId, Conversation, ConversationId, Failure, Moment, Person, PersonId, RoomName};
use doorkeeper::Doorkeeper;
use generations::{Generations, Subject, Sum};
use identity::UnixSeconds;
use key::{Digest, ENTRY_BYTES, KINDS};
use quick_cache::Weighter;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

/// An entry. It is valid while its key's stamps are what they were before it was read.
#[derive(Clone)]
struct Entry {
    // The error is boxed because it is rare.
    found: Result<Found, Box<Failed>>,
    read_at: Sum,
}

/// A read that the store could not answer. It is for those who waited for it, and is ignored for later ones.
#[derive(Clone)]
struct Failed {
    /// Its number among all failed reads.
    nth: u64,
    failure: Failure,
}

/// The average size of an entry, for the initial capacity.
const EXPECTED_BYTES: u64 = 2 * ENTRY_BYTES;

#[derive(Clone)]
struct Bytes;

impl Weighter<Digest, Entry> for Bytes {
    fn weight(&self, _: &Digest, entry: &Entry) -> u64 {
        entry.found.as_ref().map_or(ENTRY_BYTES, Found::bytes)
    }
}

/// See the module.
pub(crate) struct Cache {
    items: quick_cache::sync::Cache<Digest, Entry, Bytes>,
    generations: Generations,
    doorkeeper: Doorkeeper,
    /// Prevents that keys are chosen to have the same digest.
    secret: u64,
    bytes_max: u64,
    /// The number of reads that the store could not answer.
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
            generations: Generations::new(secret),
            doorkeeper: Doorkeeper::new(),
            secret,
            bytes_max,
            failed: AtomicU64::new(0),
            hits: zero(),
            misses: zero(),
        }
    }

    /// Returns the value of a key from the cache, or else from `read`. Concurrent requests for the key wait for the
    /// same read.
    ///
    /// # Errors
    /// As `read`; failures are not cached. Only if the store cannot answer, those who waited for the same read get the
    /// failure, too: if they asked one after the other, each would wait for all before it.
    pub(crate) async fn get<F>(&self, key: Key, read: impl FnOnce() -> F) -> Result<Found, Failure>
    where
        F: Future<Output = Result<Found, Failure>>,
    {
        let failed_before = self.failed.load(Acquire);
        let digest = key.digest(self.secret);
        loop {
            match self.items.get_value_or_guard_async(&digest).await {
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
                    let read_at = self.generations.sum(&key);
                    // Boxed, because every future that might have to read would otherwise be as large as one that does.
                    let outcome = Box::pin(read()).await;
                    let found = match &outcome {
                        Ok(found) => Ok(found.clone()),
                        Err(failure @ Failure::Unavailable(_)) => Err(self.failed(failure)),
                        Err(_) => return outcome,
                    };
                    // Rejected if the key was invalidated meanwhile: the value is valid for those who asked before
                    // that.
                    let _ = guard.insert(Entry { found, read_at });
                    if outcome.is_err() {
                        self.items.remove_if(&digest, |entry| entry.found.is_err());
                    }
                    return outcome;
                }
            }
        }
    }

    /// Notes a person as they are at that time, and returns whether the cached person was `same`. If not, or if none
    /// was cached, everything else read of the person becomes stale: there may be cached standings with a role that
    /// they no longer have. They are cached if they were before, or came before.
    pub(crate) fn note_person(
        &self,
        community: &CommunityId,
        person: &Person,
        at: Moment,
        same: impl FnOnce(&Known) -> bool,
    ) -> bool {
        let key = Key::Person(community.clone(), person.id.clone());
        let known = self.peek(&key);
        let is_cached = known.is_some();
        let is_same = match known {
            Some(Found::Person(known, _)) => same(&known),
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Page(..)) | None => false,
        };
        if !is_same {
            self.forget_person(community, &person.id);
        }
        if self.note_request(&key) || is_cached {
            let read_at = self.generations.sum(&key);
            let met = ConfirmedPerson { person: Arc::new(Known::of(person.clone())), at };
            self.items.insert(key.digest(self.secret), Entry { found: Ok(met.into()), read_at });
        }
        is_same
    }

    /// Returns the current stamps of a person, to be taken before the person is read.
    pub(crate) fn person_generations(&self, community: &CommunityId, person: &PersonId) -> Sum {
        self.generations.sum(&Key::Person(community.clone(), person.clone()))
    }

    /// Notes a request, and returns whether the key was requested before; both of them approximately.
    pub(crate) fn note_request(&self, key: &Key) -> bool {
        self.doorkeeper.note(&key.digest(self.secret))
    }

    /// Caches a person who was read when their stamps were `read_at`, if they came before. Nothing else that was read of
    /// them becomes stale.
    pub(crate) fn keep_person(&self, community: &CommunityId, met: ConfirmedPerson, read_at: Sum) {
        let key = Key::Person(community.clone(), met.person.id().clone());
        if self.note_request(&key) {
            self.items.insert(key.digest(self.secret), Entry { found: Ok(met.into()), read_at });
        }
    }

    /// Returns a person, if cached.
    pub(crate) fn known_person(&self, community: &CommunityId, person: &PersonId) -> Option<ConfirmedPerson> {
        let key = Key::Person(community.clone(), person.clone());
        match self.counted(&key) {
            Some(Found::Person(person, at)) => {
                let at = Moment::from_millis(UnixSeconds::from(at).0 * 1_000);
                Some(ConfirmedPerson { person, at })
            }
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Page(..)) | None => None,
        }
    }

    /// Returns a person's standing in a conversation, if cached.
    pub(crate) fn known_standing(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Option<Arc<Standing>> {
        let key = Key::Standing(community.clone(), conversation, person.clone());
        match self.counted(&key) {
            Some(Found::Standing(standing)) => Some(standing),
            Some(Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Page(..)) | None => None,
        }
    }

    /// Returns a conversation's name; the allocation of its cached newest page if that has the same name.
    pub(crate) fn shared_name(
        &self,
        community: &CommunityId,
        conversation: Conversation,
    ) -> Option<RoomName> {
        let newest = Key::Newest(community.clone(), conversation.id);
        match self.items.peek(&newest.digest(self.secret)) {
            Some(Entry { found: Ok(Found::Page(page, _)), .. })
                if page.conversation.name == conversation.name =>
            {
                page.conversation.name.clone()
            }
            Some(_) | None => conversation.name,
        }
    }

    /// Returns a community, if cached.
    pub(crate) fn known_community(&self, community: &CommunityId) -> Option<Arc<Directory>> {
        let key = Key::Community(community.clone());
        match self.peek(&key) {
            Some(Found::Community(directory)) => Some(directory),
            Some(Found::Room(_) | Found::Person(..) | Found::Standing(_) | Found::Page(..)) | None => None,
        }
    }

    /// Invalidates one entry; with a newest page, also all pages of changes of the conversation.
    pub(crate) fn forget(&self, key: &Key) {
        if let Key::Newest(community, conversation) = key {
            self.generations.raise(Subject::Messages(community, *conversation));
        }
        self.items.remove(&key.digest(self.secret));
    }

    /// Invalidates all pages of a conversation, because one of its messages was changed or may have been.
    pub(crate) fn forget_messages(&self, community: &CommunityId, conversation: ConversationId) {
        self.generations.raise(Subject::Past(community, conversation));
        self.forget(&Key::Newest(community.clone(), conversation));
    }

    /// Invalidates a person and all their standings.
    pub(crate) fn forget_person(&self, community: &CommunityId, person: &PersonId) {
        self.generations.raise(Subject::Person(community, person));
    }

    /// Invalidates everybody's standing in a conversation.
    pub(crate) fn forget_standings(&self, community: &CommunityId, conversation: ConversationId) {
        self.generations.raise(Subject::Conversation(community, conversation));
    }

    /// Invalidates all pages of a community's messages.
    pub(crate) fn forget_pages(&self, community: &CommunityId) {
        self.generations.raise(Subject::Pages(community));
    }

    /// Invalidates everything of a community.
    pub(crate) fn forget_community(&self, community: &CommunityId) {
        self.generations.raise(Subject::Community(community));
    }

    /// Invalidates everything.
    pub(crate) fn forget_everything(&self) {
        self.generations.raise_all();
    }

    /// Returns the hits and misses of each kind of key.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        KINDS
            .iter()
            .enumerate()
            .map(move |(kind, name)| (*name, load(&self.hits[kind]), load(&self.misses[kind])))
    }

    /// Returns the bytes in use, and their upper bound.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.items.weight(), self.bytes_max)
    }

    fn failed(&self, failure: &Failure) -> Box<Failed> {
        Box::new(Failed { nth: self.failed.fetch_add(1, AcqRel) + 1, failure: failure.clone() })
    }

    /// Returns the valid value of a key, if cached, and counts this as a use.
    fn counted(&self, key: &Key) -> Option<Found> {
        let entry = self.items.get(&key.digest(self.secret));
        let found = entry.and_then(|entry| self.counting(key, entry));
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count[key.kind()].fetch_add(1, Relaxed);
        found
    }

    /// Returns the valid value of a key, if cached, without counting this as a use.
    fn peek(&self, key: &Key) -> Option<Found> {
        let entry = self.items.peek(&key.digest(self.secret))?;
        self.counting(key, entry)
    }

    /// Returns an entry's value if it is valid; an invalid one is removed, unless a newer one has replaced it by now.
    fn counting(&self, key: &Key, entry: Entry) -> Option<Found> {
        let counts = |entry: &Entry| entry.found.is_ok() && entry.read_at == self.generations.sum(key);
        if counts(&entry) {
            return entry.found.ok();
        }
        self.items.remove_if(&key.digest(self.secret), |entry| !counts(entry));
        None
    }
}
