//! A transaction on SQLite.

use super::errors::trouble;
use crate::sql::{
    Columns, Entity, Param, Session, SqlRows, corrupt, facts_columns, insert_mentions, read_facts,
};
use chat::rows::{Appendix, Found, Rows as _, Search, Sending, SendingFacts, blocked};
use chat::{CommunityId, Message};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, Statement, ToSql};
use std::sync::LazyLock;

/// A connection within a transaction.
pub(super) struct SqliteSession<'a> {
    pub(super) connection: &'a Connection,
    /// See [`SqliteOptions::unindexed_max`](super::SqliteOptions::unindexed_max).
    pub(super) unindexed_max: u32,
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

    fn append(&mut self, appendix: &Appendix) -> Found<()> {
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

static FACTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM conversations c \
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
        let params =
            [community.as_str().into(), Param::id(sending.conversation.0), sending.sender.as_str().into()];
        self.query(&FACTS, &params, &mut |row| read_facts(row, 0, &mut facts))?;
        let mut rows = SqlRows(self);
        if let Some(conversation) = &facts.conversation {
            facts.blocked = blocked(&mut rows, community, sending.sender, conversation)?;
            facts.sanctions = rows.sanctions(community, sending.sender)?;
        }
        if let Some(id) = sending.client_id {
            facts.earlier = rows.message_sent(community, sending.sender, id)?;
        }
        Ok(facts)
    }
}
