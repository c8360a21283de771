//! A person's conversations, and how far a conversation's members have read.

use super::place::{id, place};
use super::select::{Entity as _, Select, columns_of};
use super::session::{Param, Session};
use chat::rows::{Found, Membership, ReceiptCounts};
use chat::{CommunityId, Conversation, ConversationId, Member, Moment, PersonId, Seq};

/// See [`Rows::memberships`](chat::Rows::memberships).
pub(super) fn memberships(
    session: &mut impl Session,
    community: &CommunityId,
    person: &PersonId,
    before: Option<(Moment, ConversationId)>,
    limit: usize,
) -> Found<Vec<Membership>> {
    let mut select = Select::of(community).and("t.person = ?", [person.as_str().into()]);
    if let Some((active, conversation)) = before {
        let active = Param::number(active.millis());
        let params = [active.clone(), active, id(conversation)];
        select = select.and("(c.active_ms < ? OR (c.active_ms = ? AND c.id > ?))", params);
    }
    read(session, &select.order("c.active_ms DESC, c.id", limit))
}

/// See [`Rows::memberships_among`](chat::Rows::memberships_among).
pub(super) fn memberships_among(
    session: &mut impl Session,
    community: &CommunityId,
    people: &[PersonId],
    after: Option<&(PersonId, ConversationId)>,
    limit: usize,
) -> Found<Vec<Membership>> {
    let mut select = Select::of(community).among("t.person", people);
    if let Some((person, conversation)) = after {
        let params = [person.as_str().into(), id(*conversation)];
        select = select.and("(t.person, t.conversation) > (?, ?)", params);
    }
    read(session, &select.order("t.person, t.conversation", limit))
}

/// Reads members with their conversations, aliased `t` and `c`.
fn read(session: &mut impl Session, select: &Select<'_>) -> Found<Vec<Membership>> {
    let (conditions, params, tail) = select.parts();
    let sql = format!(
        "SELECT {}, {} FROM members t JOIN conversations c ON c.community = t.community \
         AND c.id = t.conversation WHERE {conditions}{tail}",
        columns_of::<Member>("t"),
        columns_of::<Conversation>("c"),
    );
    let mut found = Vec::new();
    session.query(&sql, params, &mut |row| {
        let member = Member::read(row, 0)?;
        found.push(Membership { member, conversation: Conversation::read(row, Member::COLUMNS.len())? });
        Ok(())
    })?;
    Ok(found)
}

/// See [`Rows::receipts`](chat::Rows::receipts).
pub(super) fn receipts(
    session: &mut impl Session,
    community: &CommunityId,
    of: ConversationId,
    seq: Seq,
) -> Found<ReceiptCounts> {
    let mut count = |column: &str| {
        let condition = format!(
            "t.conversation = ? AND t.{column} >= ? AND EXISTS (SELECT 1 FROM people p \
             WHERE p.community = t.community AND p.id = t.person AND p.receipts = 1)"
        );
        Select::of(community).and(&condition, place(of, seq)).count(session, Member::TABLE)
    };
    Ok(ReceiptCounts { delivered: count("delivered_seq")?, read: count("read_seq")? })
}
