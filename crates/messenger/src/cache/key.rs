//! Cache keys and values, and their sizes.

use crate::entrance::Directory;
use crate::known::Known;
use chat::verbs::Page;
use chat::{
    CommunityId, Conversation, ConversationId, Member, Message, Moment, PersonId, Revision, Role, RoomName,
    Seq, Shown,
};
use identity::{CompactSeconds, UnixSeconds};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A cache key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    /// A community's settings and keys.
    Community(CommunityId),
    /// The conversation of a room.
    Room(CommunityId, RoomName),
    /// A person, with the profile they last came in with.
    Person(CommunityId, PersonId),
    /// The standing of a person in a conversation that they may read.
    Standing(CommunityId, ConversationId, PersonId),
    /// The newest messages of a conversation.
    Newest(CommunityId, ConversationId),
    /// The `nth` aligned page of messages, counted from 0; see [`past`](crate::past).
    Past(CommunityId, ConversationId, u64),
    /// The messages that changed after a revision, up to a limit.
    Changed(CommunityId, ConversationId, Revision, u32),
}

impl Key {
    /// Returns what its entry is found by.
    pub(super) fn digest(&self, secret: u64) -> Digest {
        Digest([0_u8, 1].map(|half| {
            let mut hasher = DefaultHasher::new();
            (secret, half, self).hash(&mut hasher);
            hasher.finish()
        }))
    }

    /// Returns its index in [`KINDS`].
    pub(super) fn kind(&self) -> usize {
        match self {
            Self::Community(_) => 0,
            Self::Room(..) => 1,
            Self::Person(..) => 2,
            Self::Standing(..) => 3,
            Self::Newest(..) => 4,
            Self::Changed(..) => 5,
            Self::Past(..) => 6,
        }
    }
}

/// A key in sixteen bytes: two hashes of it with the installation's secret. Nobody can construct two keys with the same
/// digest, and it does not happen by chance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Digest(pub(super) [u64; 2]);

/// The kinds of keys, as metrics name them.
pub(crate) const KINDS: [&str; 7] =
    ["community", "room", "person", "standing", "newest_page", "changed_page", "past_page"];

/// The standing of a person in a conversation that they may read, with as little of the conversation as is needed.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// The room's name; `None` for other conversations.
    pub(crate) name: Option<RoomName>,
    /// Their membership; `None` if they are not a member.
    pub(crate) member: Option<Part>,
}

/// A membership without the person and the conversation, which are in the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    role: Role,
    joined: Moment,
    delivered: Seq,
    pub(crate) read: Seq,
    muted: bool,
    archived: bool,
    sent: Moment,
}

impl Part {
    pub(crate) fn of(member: Member) -> Self {
        let Member { conversation: _, person: _, role, joined, delivered, read, muted, archived, sent } =
            member;
        Self { role, joined, delivered, read, muted, archived, sent }
    }

    /// Returns it as a whole [`Member`].
    pub(crate) fn member(&self, conversation: ConversationId, person: PersonId) -> Member {
        let Self { role, joined, delivered, read, muted, archived, sent } = *self;
        Member { conversation, person, role, joined, delivered, read, muted, archived, sent }
    }

    /// Records that they have sent that message.
    pub(crate) fn note_own(&mut self, message: &Message) {
        let mut member = self.member(message.conversation, message.sender.clone());
        member.note_own(message);
        *self = Self::of(member);
    }
}

/// A person who is in the community, and not banned from it.
#[derive(Clone, Debug)]
pub(crate) struct ConfirmedPerson {
    pub(crate) person: Arc<Known>,
    /// When the store last confirmed that, in seconds.
    pub(crate) at: Moment,
}

/// A cached value.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Community(Arc<Directory>),
    // Boxed, because it is larger than the others, of which there are many more.
    Room(Box<ConversationId>),
    /// A person, with the time of [`ConfirmedPerson`].
    Person(Arc<Known>, CompactSeconds),
    Standing(Arc<Standing>),
    /// A page, with its size in bytes. The size is kept because each message appends to the newest page of its
    /// conversation, and the cache asks for the weight before and after each change.
    Page(Arc<Page>, u32),
}

/// A small entry with its key, its stamp and the cache's own overhead: a slot in its table, which is half empty at
/// times.
pub(super) const ENTRY_BYTES: u64 = 88;
/// A message on a page, without its texts.
const MESSAGE_BYTES: u64 = 512;
/// Allocator overhead of a block, and the reference counts of a shared one.
const BLOCK_BYTES: u64 = 24;
/// A mention, an attachment or a reaction, without its texts, which are allocations of their own.
const LIST_ITEM_BYTES: u64 = 128;

impl From<ConfirmedPerson> for Found {
    fn from(ConfirmedPerson { person, at }: ConfirmedPerson) -> Self {
        Self::Person(person, UnixSeconds(at.millis() / 1_000).into())
    }
}

impl Found {
    /// A page, with its weight.
    pub(crate) fn page(page: Page) -> Self {
        let messages = page.messages.iter().map(message).sum::<u64>();
        let bytes = shared::<Page>() + conversation_texts(&page.conversation) + messages;
        Self::Page(Arc::new(page), narrow(bytes))
    }

    /// Returns the approximate size of an entry, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        ENTRY_BYTES
            + match self {
                Self::Community(directory) => directory.bytes(),
                Self::Room(_) => size_of::<ConversationId>() as u64,
                Self::Person(person, _) => shared::<Known>() + known_texts(person),
                Self::Standing(standing) => {
                    let name = standing.name.as_ref().map_or(0, |name| text(name.as_str()));
                    shared::<Standing>() + name
                }
                Self::Page(_, bytes) => u64::from(*bytes),
            }
    }
}

/// Appends the next message to a page, and removes the oldest ones beyond `page_max`. Updates the page's size.
pub(super) fn go_on_with(page: &mut Arc<Page>, bytes: &mut u32, said: &Message, page_max: usize) {
    let Page { messages, conversation, more } = Arc::make_mut(page);
    // This changes no text of the conversation, so its size stays the same.
    conversation.go_on_with(said);
    let shown = Shown { message: said.clone(), reactions: Vec::new() };
    let mut size = u64::from(*bytes) + message(&shown);
    messages.push(shown);
    if messages.len() > page_max {
        let left = messages.drain(..messages.len() - page_max);
        size -= left.map(|shown| message(&shown)).sum::<u64>();
        *more = true;
    }
    *bytes = narrow(size);
}

/// A page never gets near the largest of these: the number of its messages and their length are limited.
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The size of a shared allocation.
const fn shared<T>() -> u64 {
    size_of::<T>() as u64 + BLOCK_BYTES
}

/// The size of a text allocation.
fn text(text: &str) -> u64 {
    length(text) + BLOCK_BYTES
}

fn length(text: &str) -> u64 {
    text.len() as u64
}

fn known_texts(person: &Known) -> u64 {
    text(person.id().as_str()) + person.text_bytes() as u64 + BLOCK_BYTES
}

fn conversation_texts(conversation: &Conversation) -> u64 {
    let name = conversation.name.as_ref().map_or(0, |name| length(name.as_str()));
    let pair = conversation.pair.as_ref().map_or(0, |pair| length(&pair.key()));
    length(&conversation.title) + length(&conversation.topic) + name + pair
}

/// The size of a message with everything whose number or length its writers and readers choose.
fn message(shown: &Shown) -> u64 {
    let Shown { message, reactions } = shown;
    let mentions = message.mentions.iter().map(|person| LIST_ITEM_BYTES + length(person.as_str()));
    let attachments = message.attachments.iter().map(|attachment| {
        let texts = length(&attachment.id) + length(&attachment.name) + length(&attachment.media_type);
        LIST_ITEM_BYTES + texts
    });
    let reactions = reactions.iter().map(|tally| LIST_ITEM_BYTES + length(&tally.emoji));
    let names = length(message.sender.as_str()) + length(message.client_id.as_str());
    let lists = mentions.chain(attachments).chain(reactions).sum::<u64>();
    MESSAGE_BYTES + length(&message.text) + names + lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_each_person_stays_within_its_bytes() {
        let sizes = [size_of::<Digest>(), size_of::<Found>(), size_of::<Standing>()];
        assert!(sizes[0] <= 16 && sizes[1] <= 16 && sizes[2] <= 48, "{sizes:?}");
    }
}
