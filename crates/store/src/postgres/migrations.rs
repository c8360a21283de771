//! The tables in PostgreSQL, by numbered steps forward.

use super::errors::trouble;
use crate::opening::{OpenError, fresh_epoch};
use postgres::Client;

/// Step n makes version n of version n − 1. A step that was released is never changed.
const STEPS: &[&str] = &[include_str!("migrations/0001.sql")];

/// Whoever brings the tables forward holds this advisory lock, as several servers may start at once: "throng".
const LOCK: i64 = 0x7468_726f_6e67;

/// Brings the database to this program's version, and says its epoch.
///
/// # Errors
/// It is newer than the program, or cannot be written.
pub(super) fn migrate(client: &mut Client) -> Result<String, OpenError> {
    let fresh = fresh_epoch()?;
    let mut transaction = client.transaction().map_err(|error| trouble(&error))?;
    let outcome = (|| {
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
        transaction.batch_execute(
            "CREATE TABLE IF NOT EXISTS store (version BIGINT NOT NULL, epoch TEXT NOT NULL); \
             INSERT INTO store (version, epoch) SELECT 0, '' WHERE NOT EXISTS (SELECT 1 FROM store)",
        )?;
        transaction.query_one("SELECT version FROM store", &[])?.try_get::<_, i64>(0)
    })();
    let found = outcome.map_err(|error| trouble(&error))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    let outcome = (|| {
        for step in &STEPS[done..] {
            transaction.batch_execute(step)?;
        }
        transaction.execute("UPDATE store SET version = $1", &[&known])?;
        transaction.execute("UPDATE store SET epoch = $1 WHERE epoch = ''", &[&fresh])?;
        let epoch = transaction.query_one("SELECT epoch FROM store", &[])?.try_get::<_, String>(0)?;
        transaction.commit()?;
        Ok(epoch)
    })();
    outcome.map_err(|error: postgres::Error| trouble(&error).into())
}
