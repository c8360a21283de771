//! What is looked up, what is found, and what that weighs.

use crate::entrance::Directory;
use chat::verbs::Page;
use chat::{CommunityId, Conversation, ConversationId, Member, Moment, Person, PersonId, RoomName};
use std::sync::Arc;

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
    /// Its place in [`KINDS`].
    pub(super) fn kind(&self) -> usize {
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

/// Somebody who is in the community, and not banned from it.
#[derive(Clone, Debug)]
pub(crate) struct Met {
    pub(crate) person: Arc<Person>,
    /// When the store said so last.
    pub(crate) at: Moment,
}

/// What is found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Community(Arc<Directory>),
    Room(ConversationId),
    Person(Met),
    Standing(Arc<Standing>),
    Newest(Arc<Page>),
}

/// Of a small entry with its key, its stamp and the cache's own part.
pub(super) const ENTRY_BYTES: u64 = 256;

impl Found {
    /// What an entry takes, roughly.
    pub(super) fn bytes(&self) -> u64 {
        ENTRY_BYTES
            + match self {
                Self::Community(directory) => directory.bytes(),
                Self::Room(_) => 0,
                Self::Person(_) | Self::Standing(_) => ENTRY_BYTES,
                Self::Newest(page) => {
                    let text = |shown: &chat::Shown| {
                        shown.message.text.len() as u64 + shown.message.attachments.len() as u64 * ENTRY_BYTES
                    };
                    page.messages.iter().map(|shown| text(shown) + 2 * ENTRY_BYTES).sum()
                }
            }
    }
}
