//! Writes records: a message also has words in the search index and mentions.

use super::mentions::{forget_mentions, insert_mentions};
use super::select::insert;
use super::session::Session;
use chat::rows::{Found, Record};
use chat::{CommunityId, Message};

/// See [`Rows::put`](chat::Rows::put).
pub(super) fn put(session: &mut impl Session, community: &CommunityId, record: &Record) -> Found<()> {
    match record {
        Record::Community(row) => insert(session, community, row),
        Record::Key(row) => insert(session, community, row),
        Record::Person(row) => insert(session, community, row),
        Record::Block(row) => insert(session, community, row),
        Record::Revocation(row) => insert(session, community, row),
        Record::Conversation(row) => insert(session, community, row),
        Record::Member(row) => insert(session, community, row),
        Record::Invitation(row) => insert(session, community, row),
        Record::Sanction(row) => insert(session, community, row),
        Record::Message(row) => {
            insert(session, community, row)?;
            insert_mentions(session, community, row)?;
            session.index(community, row)
        }
        Record::Edit(row) => insert(session, community, row),
        Record::Reaction(row) => insert(session, community, row),
        Record::Mention(row) => insert(session, community, row),
        Record::Report(row) => insert(session, community, row),
        Record::Audit(row) => insert(session, community, row),
    }
}

/// See [`Rows::replace`](chat::Rows::replace).
pub(super) fn replace(
    session: &mut impl Session,
    community: &CommunityId,
    old: &Message,
    new: &Message,
) -> Found<()> {
    let (words, mentions) = (old.text != new.text, old.mentions != new.mentions);
    if words {
        session.forget_words(community, old)?;
    }
    if mentions {
        forget_mentions(session, community, old)?;
    }
    insert(session, community, new)?;
    if mentions {
        insert_mentions(session, community, new)?;
    }
    if words { session.index(community, new) } else { Ok(()) }
}
