//! Looks up blocks between two people.

use super::{Found, Rows};
use crate::conversation::Conversation;
use crate::ids::{CommunityId, PersonId};

/// Whether one of the two people of a direct conversation has blocked the other; `person` is one of them.
pub fn blocked<R: Rows + ?Sized>(
    rows: &mut R,
    community: &CommunityId,
    person: &PersonId,
    conversation: &Conversation,
) -> Found<bool> {
    match &conversation.pair {
        Some(pair) => block_between(rows, community, person, pair.other(person)),
        None => Ok(false),
    }
}

/// Whether one of two people has blocked the other.
pub(crate) fn block_between<R: Rows + ?Sized>(
    rows: &mut R,
    community: &CommunityId,
    one: &PersonId,
    other: &PersonId,
) -> Found<bool> {
    Ok(rows.block(community, one, other)?.is_some() || rows.block(community, other, one)?.is_some())
}
