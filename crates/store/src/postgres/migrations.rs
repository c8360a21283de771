//! The tables in PostgreSQL, by numbered steps forward.

use super::errors::trouble;
use crate::opening::{OpenError, fresh_epoch};
use postgres::{Client, Transaction};

/// Step n makes version n of version n − 1. A step that was released is never changed.
const STEPS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
];

/// Whoever brings the tables forward holds this advisory lock, as several servers may start at once: "throng".
const LOCK: i64 = 0x7468_726f_6e67;

/// Brings the database to this program's version, and says its epoch.
///
/// # Errors
/// It is newer than the program, or cannot be written.
pub(super) fn migrate(client: &mut Client) -> Result<String, OpenError> {
    let fresh = fresh_epoch()?;
    let mut transaction = client.transaction().map_err(|error| trouble(&error))?;
    let found = version(&mut transaction).map_err(|error| trouble(&error))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    Ok(go_on(transaction, done, &fresh).map_err(|error| trouble(&error))?)
}

/// The version of the tables, which nobody else changes until the transaction ends.
fn version(transaction: &mut Transaction<'_>) -> Result<i64, postgres::Error> {
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    transaction.batch_execute(
        "CREATE TABLE IF NOT EXISTS store (version BIGINT NOT NULL, epoch TEXT NOT NULL); \
         INSERT INTO store (version, epoch) SELECT 0, '' WHERE NOT EXISTS (SELECT 1 FROM store)",
    )?;
    transaction.query_one("SELECT version FROM store", &[])?.try_get(0)
}

/// Takes the steps that are not done, and says the epoch.
fn go_on(mut transaction: Transaction<'_>, done: usize, fresh: &str) -> Result<String, postgres::Error> {
    for (nth, step) in (1_i64..).zip(STEPS).skip(done) {
        transaction.batch_execute(step)?;
        transaction.execute("UPDATE store SET version = $1", &[&nth])?;
    }
    transaction.execute("UPDATE store SET epoch = $1 WHERE epoch = ''", &[&fresh])?;
    let epoch = transaction.query_one("SELECT epoch FROM store", &[])?.try_get(0)?;
    transaction.commit()?;
    Ok(epoch)
}
