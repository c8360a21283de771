//! A transaction on SQLite.

use super::deadline::Deadline;
use super::errors::trouble;
use crate::sql::{
    Columns, Entity, Param, Select, Session, SqlRows, corrupt, entry, facts_columns, insert_mentions,
    read_facts, scope,
};
use chat::limits::SEARCH_MS_MAX;
use chat::rows::{Appendix, Found, Rows as _, Search, Sending, SendingFacts, blocked};
use chat::{CommunityId, Message};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, Statement, ToSql};
use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

/// A connection within a transaction.
pub(super) struct SqliteSession<'a>(pub(super) &'a Connection);

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
        let mut statement = self.0.prepare_cached(sql).map_err(trouble)?;
        bind(&mut statement, params).map_err(trouble)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(trouble)? {
            each(row)?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Found<u64> {
        let mut statement = self.0.prepare_cached(sql).map_err(trouble)?;
        bind(&mut statement, params).map_err(trouble)?;
        statement.raw_execute().map(|rows| rows as u64).map_err(trouble)
    }

    fn index(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        match self.row_of(community, message)? {
            Some(row) => self.index_row(community, message, row),
            None => Ok(()),
        }
    }

    fn forget_words(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        let (Some(entry), Some(row)) = (entry(community, &message.text), self.row_of(community, message)?)
        else {
            return Ok(());
        };
        let sql = "INSERT INTO message_words (message_words, rowid, words) VALUES ('delete', ?1, ?2)";
        self.execute(sql, &[Param::Integer(row), entry.join(" ").into()]).map(drop)
    }

    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        let question = question(community, search);
        let mut select =
            Select::of(community).and("w.message_words MATCH ?", [question.into()]).within(&search.within);
        if let Some(before) = search.before {
            // A message that is gone still has a place in time.
            select = select.and("t.id < ?", [Param::id(before.0)]).and(
                "w.rowid < coalesce((SELECT row FROM messages WHERE community = ? AND id = ?), 9223372036854775807)",
                [community.as_str().into(), Param::id(before.0)],
            );
        }
        let select = select.order("w.rowid DESC", search.limit);
        let _deadline = Deadline::after(Duration::from_millis(SEARCH_MS_MAX), self.0)?;
        select.rows_from(self, "message_words w JOIN messages t ON t.row = w.rowid")
    }

    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        sendings.iter().map(|sending| self.facts_of(sending)).collect()
    }

    fn append(&mut self, appendix: &Appendix) -> Found<()> {
        for (community, message) in &appendix.messages {
            let mut params = vec![Param::from(community.as_str())];
            params.extend(message.params());
            self.execute(&INSERT_MESSAGE, &params)?;
            let row = self.0.last_insert_rowid();
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

    fn row_of(&mut self, community: &CommunityId, message: &Message) -> Found<Option<i64>> {
        let sql = "SELECT row FROM messages WHERE community = ?1 AND conversation = ?2 AND seq = ?3";
        let params =
            [community.as_str().into(), Param::id(message.conversation.0), Param::number(message.seq.0)];
        let mut found = None;
        self.query(sql, &params, &mut |row| {
            found = row.integer(0)?;
            Ok(())
        })?;
        Ok(found)
    }

    fn index_row(&mut self, community: &CommunityId, message: &Message, row: i64) -> Found<()> {
        let Some(entry) = entry(community, &message.text) else {
            return Ok(());
        };
        let sql = "INSERT INTO message_words (rowid, words) VALUES (?1, ?2)";
        self.execute(sql, &[Param::Integer(row), entry.join(" ").into()]).map(drop)
    }
}

/// Every word of the query and the community. Words have no quotes in them.
fn question(community: &CommunityId, search: &Search) -> String {
    let mut question = format!("\"{}\"", scope(community));
    for word in &search.words {
        let _ = write!(question, " AND \"{word}\"");
    }
    if search.beginning {
        question.push('*');
    }
    question
}
