//! The mentions in messages, from which each person's unread mentions are counted.

use super::place::{AT_PLACE, place};
use super::select::{Entity as _, Select, insert};
use super::session::Session;
use chat::rows::Found;
use chat::{CommunityId, Mention, Message};

/// Inserts the mentions of a message that is written.
pub(crate) fn insert_mentions(
    session: &mut impl Session,
    community: &CommunityId,
    message: &Message,
) -> Found<()> {
    for person in &message.mentions {
        let mention =
            Mention { conversation: message.conversation, person: person.clone(), seq: message.seq };
        insert(session, community, &mention)?;
    }
    Ok(())
}

/// Deletes the mentions of a message that is removed or changes.
pub(super) fn forget_mentions(
    session: &mut impl Session,
    community: &CommunityId,
    message: &Message,
) -> Found<()> {
    for person in &message.mentions {
        let here = place(message.conversation, message.seq);
        let mention = Select::of(community).and("t.person = ?", [person.as_str().into()]);
        mention.and(AT_PLACE, here).delete(session, Mention::TABLE)?;
    }
    Ok(())
}
