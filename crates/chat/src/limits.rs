//! Every bound of the messenger that no community can change.

/// A message's text, in bytes of UTF-8.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Attachments of a message.
pub const ATTACHMENTS_MAX: usize = 10;
/// People whom one message mentions.
pub const MENTIONS_MAX: usize = 50;
/// Former texts kept of a message; at so many, it cannot be edited any more.
pub const EDITS_MAX: usize = 100;
/// Different reactions to one message.
pub const REACTIONS_MAX: usize = 50;
/// Reactions of others that one step of an erasure counts, where they are not all to one message.
pub const REACTIONS_COUNTED_MAX: u64 = 10_000;
/// A reaction, in bytes: an emoji with its joiners, or a short name.
pub const REACTION_BYTES_MAX: usize = 64;
/// People in a direct conversation of more than two.
pub const GROUP_MAX: usize = 50;
/// Conversations that one person is in.
pub const CONVERSATIONS_MAX: usize = 2_000;
/// People about whom is asked at once when they were here last, or noted.
pub const SEEN_MAX: usize = 100;
/// Guests who are forgotten at once.
pub const GUESTS_FORGOTTEN_MAX: usize = 16;
/// People about whom is asked at once what they are in.
pub const MEMBERSHIPS_PEOPLE_MAX: usize = 100;
/// Rows on a page of what many people are in.
pub const MEMBERSHIPS_MAX: usize = 1_000;
/// People whom one person blocks.
pub const BLOCKS_MAX: usize = 1_000;
/// Rooms with up to so many members tell who has read what; larger ones tell how many.
pub const RECEIPTS_EACH_MAX: usize = GROUP_MAX;
/// How often one invitation can be used.
pub const INVITATION_USES_MAX: u32 = 100_000;
/// Rows on a page, whatever is listed.
pub const PAGE_MAX: usize = 200;
/// Messages in one append.
pub const BATCH_MAX: usize = 1_000;
/// A search's words, in bytes.
pub const SEARCH_BYTES_MAX: usize = 256;
/// From so many characters on a search's last word may be the beginning of one: so few beginnings have many words.
pub const SEARCH_BEGINNING_CHARACTERS_MIN: usize = 3;
/// How long a store looks for the messages of one search, in milliseconds.
pub const SEARCH_MS_MAX: u64 = 1_000;
/// A display name, a room's title or a community's name, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// A room's topic text, a reason, a note, in bytes.
pub const NOTE_BYTES_MAX: usize = 1_000;
/// A URL, in bytes.
pub const URL_BYTES_MAX: usize = 2_000;
/// Origins of a community.
pub const ORIGINS_MAX: usize = 100;
/// Keys of a community, the revoked included, of which the first one makes room.
pub const KEYS_MAX: usize = 100;
/// Dead letters of an endpoint, of which the oldest makes room.
pub const DEAD_LETTERS_MAX: usize = 100;
/// Revocations of tokens that a community has at once.
pub const REVOCATIONS_MAX: usize = 10_000;
/// A token's name (`jti`), in bytes.
pub const TOKEN_NAME_BYTES_MAX: usize = 128;
/// The slowest slow mode.
pub const SLOW_MODE_S_MAX: u32 = 6 * 60 * 60;

const _: () = assert!(RECEIPTS_EACH_MAX <= PAGE_MAX, "receipts of each member come as one page");
const _: () = assert!(GROUP_MAX <= PAGE_MAX, "a group's members come as one page");
