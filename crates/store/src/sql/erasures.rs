//! The table of unfinished erasures, and the rows that belong to a conversation.

use super::place::id;
use super::select::{Entity, Select};
use super::session::{Columns, Param, Session};
use super::values::{optional_text, read_at};
use chat::rows::{Found, Record, Table};
use chat::{
    Audit, CommunityId, Conversation, ConversationId, Edit, Invitation, Member, Mention, Message, Moment,
    Reaction, Report, RoomName, Sanction, UnfinishedErasure,
};

impl Entity for UnfinishedErasure {
    const TABLE: &'static str = "unfinished_erasures";
    const COLUMNS: &'static [&'static str] = &["conversation", "name", "by_person", "last_ms"];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.conversation.0),
            optional_text(self.name.as_ref().map(RoomName::as_str)),
            self.by.as_str().into(),
            Param::number(self.last.millis()),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            conversation: ConversationId(reader.id()?),
            name: reader.optional(RoomName::parse)?,
            by: reader.person()?,
            last: reader.moment()?,
        })
    }
}

/// See [`Rows::abandoned_erasures`](chat::Rows::abandoned_erasures).
pub(super) fn abandoned(
    session: &mut impl Session,
    untouched_since: Moment,
    limit: usize,
) -> Found<Vec<(CommunityId, ConversationId)>> {
    let sql = format!(
        "SELECT community, conversation FROM unfinished_erasures WHERE last_ms < ?1 \
         ORDER BY community, conversation LIMIT {limit}"
    );
    let mut found = Vec::new();
    session.query(&sql, &[Param::number(untouched_since.millis())], &mut |row| {
        let mut reader = read_at(row, 0);
        found.push((reader.parsed(CommunityId::parse)?, ConversationId(reader.id()?)));
        Ok(())
    })?;
    Ok(found)
}

/// See [`Rows::records_of`](chat::Rows::records_of).
pub(super) fn records_of(
    session: &mut impl Session,
    community: &CommunityId,
    of: ConversationId,
    table: Table,
    limit: usize,
) -> Found<Vec<Record>> {
    let theirs = || Select::of(community).and("t.conversation = ?", [id(of)]);
    fn read<E: Entity + Into<Record>>(
        session: &mut impl Session,
        select: Select<'_>,
        order: &str,
        limit: usize,
    ) -> Found<Vec<Record>> {
        let found = select.order(order, limit).rows::<E>(session)?;
        Ok(found.into_iter().map(Into::into).collect())
    }
    match table {
        Table::Community | Table::Key | Table::Person | Table::Block | Table::Revocation => Ok(Vec::new()),
        Table::Conversation => {
            let itself = Select::of(community).and("t.id = ?", [id(of)]);
            read::<Conversation>(session, itself, "t.id", limit)
        }
        Table::Member => read::<Member>(session, theirs(), "t.person", limit),
        Table::Invitation => read::<Invitation>(session, theirs(), "t.id", limit),
        Table::Sanction => read::<Sanction>(session, theirs(), "t.person, t.kind", limit),
        Table::Message => read::<Message>(session, theirs(), "t.seq", limit),
        Table::Edit => read::<Edit>(session, theirs(), "t.seq, t.nth", limit),
        Table::Reaction => read::<Reaction>(session, theirs(), "t.seq, t.person, t.emoji", limit),
        Table::Mention => read::<Mention>(session, theirs(), "t.person, t.seq", limit),
        Table::Report => read::<Report>(session, theirs(), "t.id", limit),
        Table::Audit => read::<Audit>(session, theirs(), "t.id", limit),
    }
}
