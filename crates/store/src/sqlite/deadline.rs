//! A time limit for a query.

use super::errors::trouble;
use chat::rows::Found;
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// Interrupts the connection's statements once the time has passed, until it is dropped.
pub(super) struct Deadline<'a>(&'a Connection);

/// SQLite instructions between two checks of the clock: reading a page of the index takes two or three.
const DEADLINE_INSTRUCTIONS: i32 = 100;

impl<'a> Deadline<'a> {
    pub(super) fn after(time: Duration, connection: &'a Connection) -> Found<Self> {
        let end = Instant::now() + time;
        let is_over = move || Instant::now() >= end;
        connection.progress_handler(DEADLINE_INSTRUCTIONS, Some(is_over)).map_err(trouble)?;
        Ok(Self(connection))
    }
}

impl Drop for Deadline<'_> {
    fn drop(&mut self) {
        // It only fails for a connection borrowed from elsewhere, on which it could not have been set.
        let _ = self.0.progress_handler(0, None::<fn() -> bool>);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::StoreErrorKind;

    /// The words `w1`, `w2`, …, each in an entry of its own.
    fn index() -> Connection {
        let connection = Connection::open_in_memory().expect("there is memory");
        let fill = "CREATE VIRTUAL TABLE words USING fts5 (word, content = '', detail = 'none'); \
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
                    INSERT INTO words (rowid, word) SELECT i, 'w' || i FROM n";
        connection.execute_batch(fill).expect("it is SQL");
        connection
    }

    fn count(connection: &Connection, question: &str) -> Result<i64, StoreErrorKind> {
        let sql = "SELECT count(*) FROM words WHERE words MATCH ?1";
        connection.query_row(sql, [question], |row| row.get(0)).map_err(|error| trouble(error).kind)
    }

    #[test]
    fn a_beginning_that_many_words_have_is_given_up_while_its_list_is_put_together() {
        let connection = index();
        // No entry has both: all the work is to build the list.
        assert_eq!(count(&connection, "nobody AND w*"), Ok(0));
        let deadline = Deadline::after(Duration::ZERO, &connection).expect("it is ours");
        assert_eq!(count(&connection, "nobody AND w*"), Err(StoreErrorKind::Overdue));
        drop(deadline);
        assert_eq!(count(&connection, "w*"), Ok(50_000), "the connection is as before");
    }

    #[test]
    fn what_ends_in_time_is_not_interrupted() {
        let connection = index();
        let _deadline = Deadline::after(Duration::from_secs(600), &connection).expect("it is ours");
        assert_eq!(count(&connection, "w*"), Ok(50_000));
    }
}
