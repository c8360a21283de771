//! Detects stale cache entries without visiting them.
//!
//! A subject is what makes many entries stale at once: a community, a conversation, a person. Each has a stamp that
//! only grows. An entry stores the sum of the stamps it depends on, taken before it was read: as long as none has grown
//! the sum is the same, and after one has grown it never is again. So invalidating a hundred thousand entries costs as
//! much as invalidating one, and includes what is being read at that moment.
//!
//! Subjects share a bounded number of stamps by hash, so one that grows also invalidates a few unrelated entries. The
//! hash depends on the installation's secret only, so that a simulation is reproducible.

use super::key::Key;
use chat::{CommunityId, ConversationId, PersonId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};

/// Stamps of communities and conversations, which rarely grow.
const PLACES: usize = 1 << 12;
/// Stamps of new messages in conversations; one grows with each message.
const MESSAGES: usize = 1 << 12;
/// Stamps of past messages in conversations; one grows with each change of a message.
const PAST: usize = 1 << 12;
/// Stamps of people; one grows with each person who comes in, which invalidates about two of 100,000 entries.
const PEOPLE: usize = 1 << 16;

/// What makes entries stale.
#[derive(Clone, Copy, Hash, Debug)]
pub(super) enum Subject<'a> {
    /// Everything of a community.
    Community(&'a CommunityId),
    /// A community's pages of messages.
    Pages(&'a CommunityId),
    /// Everybody's standing in a conversation.
    Conversation(&'a CommunityId, ConversationId),
    /// The messages of a conversation, including new ones.
    Messages(&'a CommunityId, ConversationId),
    /// The past messages of a conversation, which become stale by changes but not by new messages.
    Past(&'a CommunityId, ConversationId),
    /// A person, and all their standings.
    Person(&'a CommunityId, &'a PersonId),
}

/// See the module. The stamps of people are separate, so that people coming in do not invalidate a whole community.
pub(super) struct Generations {
    /// Of communities and conversations.
    places: Box<[AtomicU64]>,
    people: Box<[AtomicU64]>,
    messages: Box<[AtomicU64]>,
    past: Box<[AtomicU64]>,
    /// Of everything.
    all: AtomicU64,
    /// Keeps anybody from choosing ids that share a stamp.
    secret: u64,
}

/// The sum of a key's stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum(u64);

impl Generations {
    pub(super) fn new(secret: u64) -> Self {
        // Memory that nobody has used yet is not touched.
        let stamps = bytemuck::zeroed_slice_box;
        Self {
            places: stamps(PLACES),
            people: stamps(PEOPLE),
            messages: stamps(MESSAGES),
            past: stamps(PAST),
            all: AtomicU64::default(),
            secret,
        }
    }

    /// Invalidates everything that was read, or is being read, of a subject.
    pub(super) fn raise(&self, subject: Subject<'_>) {
        self.of(subject).fetch_add(1, AcqRel);
    }

    /// Invalidates everything that was read, or is being read.
    pub(super) fn raise_all(&self) {
        self.all.fetch_add(1, AcqRel);
    }

    /// Returns the current sum of a key's stamps.
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
