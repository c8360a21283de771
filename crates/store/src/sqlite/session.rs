//! A transaction on SQLite.

use super::errors::trouble;
use crate::sql::{
    Columns, Entity, Param, Session, SqlRows, corrupt, facts_columns, facts_count, insert_mentions,
    read_facts,
};
use chat::rows::{AppendBatch, Found, Rows as _, Search, Sending, SendingFacts, blocked};
use chat::{CommunityId, Message};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, Statement, ToSql};
use std::sync::LazyLock;

/// A connection within a transaction.
pub(super) struct SqliteSession<'a> {
    pub(super) connection: &'a Connection,
    /// See [`SqliteOptions::unindexed_max`](super::SqliteOptions::unindexed_max).
    unindexed_max: u32,
    /// The last row in the search index, once it was read; cached, since nobody else writes during the transaction.
    indexed: Option<i64>,
}

impl<'a> SqliteSession<'a> {
    pub(super) fn new(connection: &'a Connection, unindexed_max: u32) -> Self {
        Self { connection, unindexed_max, indexed: None }
    }

    pub(super) fn unindexed_max(&self) -> i64 {
        self.unindexed_max.into()
    }

    /// Returns the last row in the search index; all earlier rows are in it, too.
    pub(super) fn indexed(&mut self) -> Found<i64> {
        if let Some(last) = self.indexed {
            return Ok(last);
        }
        let mut last = 0;
        self.query("SELECT last_row FROM indexed", &[], &mut |row| {
            last = row.integer(0)?.unwrap_or(0);
            Ok(())
        })?;
        self.indexed = Some(last);
        Ok(last)
    }

    /// Records that all rows up to `last` are in the search index.
    pub(super) fn note_indexed(&mut self, last: i64) -> Found<()> {
        self.execute("UPDATE indexed SET last_row = ?1", &[Param::Integer(last)])?;
        self.indexed = Some(last);
        Ok(())
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl Columns for Row<'_> {
    fn integer(&self, at: usize) -> Found<Option<i64>> {
        self.get_ref(at).map_err(trouble)?.as_i64_or_null().map_err(|error| corrupt(error.to_string()))
    }

    fn text(&self, at: usize) -> Found<Option<&str>> {
        self.get_ref(at).map_err(trouble)?.as_str_or_null().map_err(|error| corrupt(error.to_string()))
    }

    fn bytes(&self, at: usize) -> Found<Option<&[u8]>> {
        self.get_ref(at).map_err(trouble)?.as_blob_or_null().map_err(|error| corrupt(error.to_string()))
    }
}

fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<()> {
    for (place, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(place + 1, param)?;
    }
    Ok(())
}

impl Session for SqliteSession<'_> {
    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(trouble)?;
        bind(&mut statement, params).map_err(trouble)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(trouble)? {
            each(row)?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Found<u64> {
        let mut statement = self.connection.prepare_cached(sql).map_err(trouble)?;
        bind(&mut statement, params).map_err(trouble)?;
        statement.raw_execute().map(|rows| rows as u64).map_err(trouble)
    }

    fn index(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        self.index_or_wait(community, message)
    }

    fn forget_words(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        self.forget_words_of(community, message)
    }

    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        self.find(community, search)
    }

    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        sendings.iter().map(|sending| self.facts_of(sending)).collect()
    }

    fn append(&mut self, appendix: &AppendBatch) -> Found<()> {
        for (community, message) in &appendix.messages {
            let mut params = vec![Param::from(community.as_str())];
            params.extend(message.params());
            self.execute(&INSERT_MESSAGE, &params)?;
            let row = self.connection.last_insert_rowid();
            self.index_row(community, message, row)?;
            insert_mentions(self, community, message)?;
        }
        for (community, row) in &appendix.conversations {
            let sql =
                "UPDATE conversations SET last_seq = ?1, active_ms = ?2 WHERE community = ?3 AND id = ?4";
            let (last, active) = (Param::number(row.last.0), Param::number(row.active.millis()));
            self.execute(sql, &[last, active, community.as_str().into(), Param::id(row.id.0)])?;
        }
        for (community, row) in &appendix.members {
            let params = [
                Param::number(row.sent.millis()),
                Param::number(row.delivered.0),
                Param::number(row.read.0),
                community.as_str().into(),
                Param::id(row.conversation.0),
                row.person.as_str().into(),
            ];
            self.execute(
                "UPDATE members SET sent_ms = ?1, delivered_seq = ?2, read_seq = ?3 \
                 WHERE community = ?4 AND conversation = ?5 AND person = ?6",
                &params,
            )?;
        }
        Ok(())
    }
}

static INSERT_MESSAGE: LazyLock<String> = LazyLock::new(|| {
    let columns = Message::COLUMNS.join(", ");
    let places: Vec<String> = (1..=Message::COLUMNS.len() + 1).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO messages (community, {columns}) VALUES ({})", places.join(", "))
});

/// What the rules need, and the last row in the search index, in one statement. Sanctions and an earlier message are
/// rare, so the statement only checks whether they exist, using indexes alone.
pub(super) static FACTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, \
         EXISTS (SELECT 1 FROM sanctions s WHERE s.community = ?1 AND s.person = ?3), \
         EXISTS (SELECT 1 FROM messages e WHERE e.community = ?1 AND e.sender = ?3 AND e.client_id = ?4), \
         (SELECT last_row FROM indexed) \
         FROM conversations c \
         LEFT JOIN members m ON m.community = c.community AND m.conversation = c.id AND m.person = ?3 \
         LEFT JOIN people p ON p.community = c.community AND p.id = ?3 \
         WHERE c.community = ?1 AND c.id = ?2",
        facts_columns(),
    )
});

impl SqliteSession<'_> {
    fn facts_of(&mut self, sending: &Sending<'_>) -> Found<SendingFacts> {
        let mut facts = SendingFacts::default();
        let community = sending.community;
        let params = [
            community.as_str().into(),
            Param::id(sending.conversation.0),
            sending.sender.as_str().into(),
            sending.client_id.map_or(Param::Null, |id| id.as_str().into()),
        ];
        // Without such a conversation, the query says nothing about what the sender has sent elsewhere.
        let (mut sanctioned, mut repeats, mut indexed) = (false, true, None);
        self.query(&FACTS, &params, &mut |row| {
            read_facts(row, 0, &mut facts)?;
            let beyond = facts_count();
            sanctioned = row.integer(beyond)? == Some(1);
            repeats = row.integer(beyond + 1)? == Some(1);
            indexed = row.integer(beyond + 2)?;
            Ok(())
        })?;
        self.indexed = indexed.or(self.indexed);
        let mut rows = SqlRows(self);
        if let Some(conversation) = &facts.conversation {
            facts.blocked = blocked(&mut rows, community, sending.sender, conversation)?;
        }
        if sanctioned {
            facts.sanctions = rows.sanctions(community, sending.sender)?;
        }
        if let Some(id) = sending.client_id.filter(|_| repeats) {
            facts.earlier = rows.message_sent(community, sending.sender, id)?;
        }
        Ok(facts)
    }
}
