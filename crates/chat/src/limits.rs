//! The messenger's fixed limits, which no community can change.

/// Length of a message's text, in bytes of UTF-8.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Attachments per message.
pub const ATTACHMENTS_MAX: usize = 10;
/// People mentioned by one message.
pub const MENTIONS_MAX: usize = 50;
/// Former texts kept per message; a message with this many edits cannot be edited again.
pub const EDITS_MAX: usize = 100;
/// Different reactions per message.
pub const REACTIONS_MAX: usize = 50;
/// Other people's reactions that one step of an erasure counts, unless they all belong to one message.
pub const REACTIONS_COUNTED_MAX: u64 = 10_000;
/// Length of a reaction, in bytes: an emoji with its joiners, or a short name.
pub const REACTION_BYTES_MAX: usize = 64;
/// People in a group conversation.
pub const GROUP_MAX: usize = 50;
/// Conversations that one person can be in.
pub const CONVERSATIONS_MAX: usize = 2_000;
/// People per query or update of last-seen times.
pub const SEEN_MAX: usize = 100;
/// Guests forgotten per request.
pub const GUESTS_FORGOTTEN_MAX: usize = 16;
/// People per query of memberships.
pub const MEMBERSHIPS_PEOPLE_MAX: usize = 100;
/// Rows per page of the memberships of several people.
pub const MEMBERSHIPS_MAX: usize = 1_000;
/// People that one person can block.
pub const BLOCKS_MAX: usize = 1_000;
/// Rooms with at most this many members report read receipts per member; larger ones report counts.
pub const RECEIPTS_EACH_MAX: usize = GROUP_MAX;
/// Uses of one invitation.
pub const INVITATION_USES_MAX: u32 = 100_000;
/// Rows per page of any list.
pub const PAGE_MAX: usize = 200;
/// Messages per batch of appends.
pub const BATCH_MAX: usize = 1_000;
/// Length of a search query, in bytes.
pub const SEARCH_BYTES_MAX: usize = 256;
/// Minimum length, in characters, for a search's last word to match as a prefix: so that few prefixes match many words.
pub const SEARCH_BEGINNING_CHARACTERS_MIN: usize = 3;
/// How long a store spends on one search, in milliseconds.
pub const SEARCH_MS_MAX: u64 = 1_000;
/// Length of a display name, a room's title or a community's name, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Length of a room's topic, a reason or a note, in bytes.
pub const NOTE_BYTES_MAX: usize = 1_000;
/// Length of a URL, in bytes.
pub const URL_BYTES_MAX: usize = 2_000;
/// Allowed origins per community.
pub const ORIGINS_MAX: usize = 100;
/// Keys per community, including revoked ones; a new key replaces the one revoked first.
pub const KEYS_MAX: usize = 100;
/// Dead letters per endpoint; a new one replaces the oldest.
pub const DEAD_LETTERS_MAX: usize = 100;
/// Concurrent token revocations per community.
pub const REVOCATIONS_MAX: usize = 10_000;
/// Length of a token's id (`jti`), in bytes.
pub const TOKEN_NAME_BYTES_MAX: usize = 128;
/// The longest slow-mode interval, in seconds.
pub const SLOW_MODE_S_MAX: u32 = 6 * 60 * 60;

const _: () = assert!(RECEIPTS_EACH_MAX <= PAGE_MAX, "receipts of each member come as one page");
const _: () = assert!(GROUP_MAX <= PAGE_MAX, "a group's members come as one page");
