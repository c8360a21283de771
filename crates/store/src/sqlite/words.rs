//! The search index, and the messages that are not in it yet.
//!
//! Indexing a single message writes as many pages as everything else about it. So messages are indexed in batches: rows
//! up to [`SqliteSession::indexed`] are in the index, and the few later rows are searched by reading them. A search
//! sees both in one transaction, so it finds a message as soon as it is stored.

use super::deadline::Deadline;
use super::session::SqliteSession;
use crate::sql::{Entity as _, Param, Select, Session as _, columns_of, corrupt, entry, scope};
use chat::limits::SEARCH_MS_MAX;
use chat::rows::{Found, Search};
use chat::{CommunityId, Message};
use std::fmt::Write as _;
use std::time::Duration;

impl SqliteSession<'_> {
    /// Makes a stored message searchable.
    pub(super) fn index_or_wait(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        match self.row_of(community, message)? {
            Some(row) => self.index_row(community, message, row),
            None => Ok(()),
        }
    }

    /// Like [`index_or_wait`](Self::index_or_wait), with a known row: indexes all waiting messages together, once there
    /// are enough of them.
    pub(super) fn index_row(&mut self, community: &CommunityId, message: &Message, row: i64) -> Found<()> {
        let indexed = self.indexed()?;
        if row <= indexed {
            // A row that existed before, or the reused number of a removed one: SQLite reuses the highest number.
            return self.insert_words(row, community, &message.text);
        }
        if row - indexed <= self.unindexed_max() { Ok(()) } else { self.index_all_after(indexed) }
    }

    /// Removes a message's words from the index, if they are in it.
    pub(super) fn forget_words_of(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        let (Some(entry), Some(row)) = (entry(community, &message.text), self.row_of(community, message)?)
        else {
            return Ok(());
        };
        if row > self.indexed()? {
            return Ok(());
        }
        let sql = "INSERT INTO message_words (message_words, rowid, words) VALUES ('delete', ?1, ?2)";
        self.execute(sql, &[Param::Integer(row), entry.join(" ").into()]).map(drop)
    }

    /// Returns matches, newest first: those not yet in the index, then those in it.
    pub(super) fn find(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        let _deadline = Deadline::after(Duration::from_millis(SEARCH_MS_MAX), self.connection)?;
        let mut found = self.find_unindexed(community, search)?;
        if found.len() < search.limit {
            let question = question(community, search);
            let indexed = Select::of(community).and("w.message_words MATCH ?", [question.into()]);
            let indexed = visible(indexed, community, search, "w.rowid")
                .order("w.rowid DESC", search.limit - found.len());
            found.append(&mut indexed.rows_from(self, "message_words w JOIN messages t ON t.row = w.rowid")?);
        }
        Ok(found)
    }

    fn find_unindexed(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        let later = Select::of(community).and("t.row > (SELECT last_row FROM indexed)", []);
        let later = visible(later, community, search, "t.row");
        let (conditions, params, _) = later.parts();
        // Without this hint SQLite would use an index that leads to all of the community's messages.
        let sql = format!(
            "SELECT {} FROM messages t NOT INDEXED WHERE {conditions} ORDER BY t.row DESC",
            columns_of::<Message>("t"),
        );
        let mut found = Vec::new();
        self.query(&sql, params, &mut |row| {
            if found.len() < search.limit {
                let message = Message::read(row, 0)?;
                if search.is_for(&message.text) {
                    found.push(message);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn index_all_after(&mut self, indexed: i64) -> Found<()> {
        let mut last = indexed;
        let mut texts = Vec::new();
        self.query(
            "SELECT row, community, text FROM messages WHERE row > ?1 ORDER BY row",
            &[Param::Integer(indexed)],
            &mut |row| {
                last = row.integer(0)?.unwrap_or(last);
                let community = CommunityId::parse(row.text(1)?.unwrap_or_default());
                let community = community.map_err(|error| corrupt(error.to_string()))?;
                texts.push((last, community, row.text(2)?.unwrap_or_default().to_owned()));
                Ok(())
            },
        )?;
        for (row, community, text) in texts {
            self.insert_words(row, &community, &text)?;
        }
        self.note_indexed(last)
    }

    fn insert_words(&mut self, row: i64, community: &CommunityId, text: &str) -> Found<()> {
        let Some(entry) = entry(community, text) else {
            return Ok(());
        };
        let sql = "INSERT INTO message_words (rowid, words) VALUES (?1, ?2)";
        self.execute(sql, &[Param::Integer(row), entry.join(" ").into()]).map(drop)
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
}

/// Restricts to messages that the search may return; `row` is the column with their row number.
fn visible<'a>(select: Select<'a>, community: &'a CommunityId, search: &'a Search, row: &str) -> Select<'a> {
    let select = select.within(&search.within);
    let Some(before) = search.before else {
        return select;
    };
    // The position of a message that was removed is still defined by its id.
    select.and("t.id < ?", [Param::id(before.0)]).and(
        &format!(
            "{row} < coalesce((SELECT row FROM messages WHERE community = ? AND id = ?), 9223372036854775807)"
        ),
        [community.as_str().into(), Param::id(before.0)],
    )
}

/// An FTS5 query: all words and the community. Words contain no quotes.
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
