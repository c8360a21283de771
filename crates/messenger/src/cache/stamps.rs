//! Which readings are too old, without looking at any of them.
//!
//! A subject is what many entries can become stale with: a community, a conversation, a person. Each has a stamp that only
//! rises, and an entry keeps the sum of those that it depends on, taken before its reading began: while none of them has
//! risen the sum is the same, and when one has it never is again. So it costs the same to forget one entry or a hundred
//! thousand, and what is being read at that moment is forgotten with the rest.
//!
//! Subjects share a bounded number of stamps by their hashes: one that rises makes some others be read once more. Which
//! ones, the installation's secret decides, so that a simulation is the same each time.

use super::key::Key;
use chat::{CommunityId, ConversationId, PersonId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};

/// Stamps of communities and conversations, which rise seldom.
const PLACES: usize = 1 << 12;
/// Stamps of what is said in conversations, one of which rises with each message.
const MESSAGES: usize = 1 << 12;
/// Stamps of what was said before in conversations, one of which rises with each change of a message.
const PAST: usize = 1 << 12;
/// Stamps of people, one of which rises with each who comes: of 100,000 entries two are read anew then.
const PEOPLE: usize = 1 << 16;

/// What entries become stale with.
#[derive(Clone, Copy, Hash, Debug)]
pub(super) enum Subject<'a> {
    /// Everything of a community.
    Community(&'a CommunityId),
    /// Its pages of messages.
    Pages(&'a CommunityId),
    /// How anybody stands to a conversation.
    Conversation(&'a CommunityId, ConversationId),
    /// The messages of a conversation.
    Messages(&'a CommunityId, ConversationId),
    /// The messages of a conversation that were said before, which change one by one and not by what is said.
    Past(&'a CommunityId, ConversationId),
    /// A person, and how they stand to anything.
    Person(&'a CommunityId, &'a PersonId),
}

/// See the module.
pub(super) struct Stamps {
    /// Apart from people's: those who come must not make a whole community be read anew.
    places: Box<[AtomicU64]>,
    people: Box<[AtomicU64]>,
    messages: Box<[AtomicU64]>,
    past: Box<[AtomicU64]>,
    /// Of everything.
    all: AtomicU64,
    /// Keeps subjects from being chosen so that they share stamps.
    secret: u64,
}

/// The stamps of a key, together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum(u64);

impl Stamps {
    pub(super) fn new(secret: u64) -> Self {
        let stamps = |count| std::iter::repeat_with(AtomicU64::default).take(count).collect();
        Self {
            places: stamps(PLACES),
            people: stamps(PEOPLE),
            messages: stamps(MESSAGES),
            past: stamps(PAST),
            all: AtomicU64::default(),
            secret,
        }
    }

    /// Whatever was read of a subject before, or is being read, is stale.
    pub(super) fn raise(&self, subject: Subject<'_>) {
        self.of(subject).fetch_add(1, AcqRel);
    }

    /// Whatever was read before, or is being read, is stale.
    pub(super) fn raise_all(&self) {
        self.all.fetch_add(1, AcqRel);
    }

    /// Where a key's stamps stand now.
    pub(super) fn sum(&self, key: &Key) -> Sum {
        let stamp = |subject| self.of(subject).load(Acquire);
        let of_key = match key {
            Key::Community(community) | Key::Room(community, _) => stamp(Subject::Community(community)),
            Key::Person(community, person) => {
                stamp(Subject::Community(community)).wrapping_add(stamp(Subject::Person(community, person)))
            }
            Key::Standing(community, conversation, person) => stamp(Subject::Community(community))
                .wrapping_add(stamp(Subject::Conversation(community, *conversation)))
                .wrapping_add(stamp(Subject::Person(community, person))),
            Key::Newest(community, _) => {
                stamp(Subject::Community(community)).wrapping_add(stamp(Subject::Pages(community)))
            }
            Key::Past(community, conversation, _) => stamp(Subject::Community(community))
                .wrapping_add(stamp(Subject::Pages(community)))
                .wrapping_add(stamp(Subject::Past(community, *conversation))),
            Key::Changed(community, conversation, ..) => stamp(Subject::Community(community))
                .wrapping_add(stamp(Subject::Pages(community)))
                .wrapping_add(stamp(Subject::Messages(community, *conversation))),
        };
        Sum(of_key.wrapping_add(self.all.load(Acquire)))
    }

    fn of(&self, subject: Subject<'_>) -> &AtomicU64 {
        let stamps = match subject {
            Subject::Community(_) | Subject::Pages(_) | Subject::Conversation(..) => &self.places,
            Subject::Person(..) => &self.people,
            Subject::Messages(..) => &self.messages,
            Subject::Past(..) => &self.past,
        };
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.secret);
        subject.hash(&mut hasher);
        &stamps[hasher.finish() as usize % stamps.len()]
    }
}
