//! What was read lately: communities, rooms' names, people, how people stand to conversations, newest pages.
//!
//! It is bounded in bytes. Everything in it is forgotten by [`News`](crate::News) when it becomes stale, also while it is
//! being read: what a removed placeholder was read for is handed to who waits and not kept. Those who want the same at
//! the same time wait for one reading.

use crate::entrance::Directory;
use chat::verbs::Page;
use chat::{CommunityId, Conversation, ConversationId, Failure, Member, Person, PersonId, RoomName};
use quick_cache::Weighter;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is looked up.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    /// Settings and keys.
    Community(CommunityId),
    /// Which conversation a room is.
    Room(CommunityId, RoomName),
    /// A person, as they said last who they are.
    Person(CommunityId, PersonId),
    /// How somebody who may read a conversation stands to it.
    Standing(CommunityId, ConversationId, PersonId),
    /// The newest messages.
    Newest(CommunityId, ConversationId),
}

impl Key {
    pub(crate) fn community(&self) -> &CommunityId {
        match self {
            Self::Community(community)
            | Self::Room(community, _)
            | Self::Person(community, _)
            | Self::Standing(community, ..)
            | Self::Newest(community, _) => community,
        }
    }

    fn kind(&self) -> usize {
        match self {
            Self::Community(_) => 0,
            Self::Room(..) => 1,
            Self::Person(..) => 2,
            Self::Standing(..) => 3,
            Self::Newest(..) => 4,
        }
    }
}

/// The kinds of keys, for metrics.
pub(crate) const KINDS: [&str; 5] = ["community", "room", "person", "standing", "newest_page"];

/// How somebody stands to a conversation that they may read.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The conversation, as it was when this was read: `last` has moved on since.
    pub(crate) conversation: Conversation,
    /// Their part in it.
    pub(crate) member: Option<Member>,
}

/// What is found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Community(Arc<Directory>),
    Room(ConversationId),
    Person(Arc<Person>),
    Standing(Arc<Standing>),
    Newest(Arc<Page>),
}

#[derive(Clone)]
struct Bytes;

/// Of a small entry with its key and the cache's own part.
const ENTRY_BYTES: u64 = 256;

impl Weighter<Key, Found> for Bytes {
    fn weight(&self, _: &Key, found: &Found) -> u64 {
        ENTRY_BYTES
            + match found {
                Found::Community(directory) => directory.bytes(),
                Found::Room(_) => 0,
                Found::Person(_) | Found::Standing(_) => ENTRY_BYTES,
                Found::Newest(page) => {
                    let text = |shown: &chat::Shown| {
                        shown.message.text.len() as u64 + shown.message.attachments.len() as u64 * ENTRY_BYTES
                    };
                    page.messages.iter().map(|shown| text(shown) + 2 * ENTRY_BYTES).sum()
                }
            }
    }
}

/// See the module.
pub(crate) struct Cache {
    items: quick_cache::sync::Cache<Key, Found, Bytes>,
    bytes_max: u64,
    hits: [AtomicU64; KINDS.len()],
    misses: [AtomicU64; KINDS.len()],
}

impl Cache {
    pub(crate) fn new(bytes_max: u64) -> Self {
        let items = (bytes_max / (2 * ENTRY_BYTES)).clamp(64, 1 << 22) as usize;
        let zero = || std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            items: quick_cache::sync::Cache::with_weighter(items, bytes_max, Bytes),
            bytes_max,
            hits: zero(),
            misses: zero(),
        }
    }

    /// What is kept under a key, or what `read` brings. Whoever else wants it meanwhile waits for the same reading.
    ///
    /// # Errors
    /// As `read`; failures are not kept.
    pub(crate) async fn get(
        &self,
        key: Key,
        read: impl Future<Output = Result<Found, Failure>>,
    ) -> Result<Found, Failure> {
        match self.items.get_value_or_guard_async(&key).await {
            Ok(found) => {
                self.hits[key.kind()].fetch_add(1, Relaxed);
                Ok(found)
            }
            Err(guard) => {
                self.misses[key.kind()].fetch_add(1, Relaxed);
                let found = read.await?;
                // Refused when it became stale meanwhile: it is true for who asked before that.
                let _ = guard.insert(found.clone());
                Ok(found)
            }
        }
    }

    /// Notes a person as they are now, and says how they were known.
    pub(crate) fn replace_person(&self, community: &CommunityId, person: &Person) -> Option<Arc<Person>> {
        let key = Key::Person(community.clone(), person.id.clone());
        let known = match self.items.peek(&key) {
            Some(Found::Person(known)) => Some(known),
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Newest(_)) | None => None,
        };
        self.items.insert(key, Found::Person(Arc::new(person.clone())));
        known
    }

    /// A person, if they are known here.
    pub(crate) fn known_person(&self, community: &CommunityId, person: &PersonId) -> Option<Arc<Person>> {
        let key = Key::Person(community.clone(), person.clone());
        let found = self.items.get(&key);
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count[key.kind()].fetch_add(1, Relaxed);
        match found {
            Some(Found::Person(person)) => Some(person),
            Some(Found::Community(_) | Found::Room(_) | Found::Standing(_) | Found::Newest(_)) | None => None,
        }
    }

    /// A community, if it was read lately.
    pub(crate) fn known_community(&self, community: &CommunityId) -> Option<Arc<Directory>> {
        match self.items.peek(&Key::Community(community.clone())) {
            Some(Found::Community(directory)) => Some(directory),
            Some(Found::Room(_) | Found::Person(_) | Found::Standing(_) | Found::Newest(_)) | None => None,
        }
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.items.remove(key);
    }

    /// Looks through everything: for what happens seldom.
    pub(crate) fn forget_where(&self, stale: impl Fn(&Key) -> bool) {
        self.items.retain(|key, _| !stale(key));
    }

    pub(crate) fn forget_standings(&self, stale: impl Fn(&CommunityId, ConversationId, &PersonId) -> bool) {
        self.forget_where(|key| match key {
            Key::Standing(community, conversation, person) => stale(community, *conversation, person),
            Key::Community(_) | Key::Room(..) | Key::Person(..) | Key::Newest(..) => false,
        });
    }

    /// Hits and misses of each of [`KINDS`].
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::Room(CommunityId::parse("acme").expect("an id"), RoomName::parse("lobby").expect("a name"))
    }

    fn room(number: u8) -> Found {
        Found::Room(ConversationId(chat::Ulid::from_bytes([number; 16])))
    }

    fn is(found: &Found, number: u8) -> bool {
        matches!((found, room(number)), (Found::Room(one), Found::Room(other)) if *one == other)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn what_was_read_is_not_read_again_until_it_is_forgotten() {
        let cache = Cache::new(1 << 20);
        run(async {
            let first = cache.get(key(), async { Ok(room(1)) }).await.expect("found");
            let again = cache.get(key(), async { Ok(room(2)) }).await.expect("found");
            assert!(is(&first, 1) && is(&again, 1));
            cache.forget(&key());
            let anew = cache.get(key(), async { Ok(room(3)) }).await.expect("found");
            assert!(is(&anew, 3));
        });
        assert_eq!(cache.counts().find(|(name, ..)| *name == "room"), Some(("room", 1, 2)));
    }

    #[test]
    fn what_becomes_stale_while_it_is_read_is_not_kept() {
        let cache = Cache::new(1 << 20);
        run(async {
            let stale = cache.get(key(), async {
                cache.forget(&key());
                Ok(room(1))
            });
            assert!(is(&stale.await.expect("found"), 1));
            let anew = cache.get(key(), async { Ok(room(2)) }).await.expect("found");
            assert!(is(&anew, 2));
        });
    }

    #[test]
    fn it_stays_within_its_bytes() {
        let cache = Cache::new(64 << 10);
        let community = CommunityId::parse("acme").expect("an id");
        run(async {
            for number in 0..10_000 {
                let name = RoomName::parse(&format!("room-{number}")).expect("a name");
                let found = cache.get(Key::Room(community.clone(), name), async { Ok(room(1)) }).await;
                assert!(found.is_ok());
            }
        });
        let (taken, max) = cache.bytes();
        assert!(0 < taken && taken <= max, "{taken} of {max}");
    }
}
