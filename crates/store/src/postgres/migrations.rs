//! The tables in PostgreSQL, by numbered steps forward.

use super::client::Client;
use crate::epoch::fresh_epoch;
use crate::open_error::OpenError;
use chat::rows::Found;

/// Step n makes version n of version n − 1. A step that was released is never changed.
const STEPS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
];

/// Whoever brings the tables forward holds this advisory lock, as several servers may start at once: "throng".
const LOCK: i64 = 0x7468_726f_6e67;

/// Brings the database to this program's version, and says its epoch. After a failure the client is of no use any more.
///
/// # Errors
/// It is newer than the program, or cannot be written.
pub(super) fn migrate(client: &mut Client) -> Result<String, OpenError> {
    let fresh = fresh_epoch()?;
    client.batch("BEGIN")?;
    let found = version(client)?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    Ok(go_on(client, done, &fresh)?)
}

/// The version of the tables, which nobody else changes until the transaction ends.
fn version(client: &mut Client) -> Found<i64> {
    client.query("SELECT pg_advisory_xact_lock(?1)", &[&LOCK])?;
    client.batch(
        "CREATE TABLE IF NOT EXISTS store (version BIGINT NOT NULL, epoch TEXT NOT NULL); \
         INSERT INTO store (version, epoch) SELECT 0, '' WHERE NOT EXISTS (SELECT 1 FROM store)",
    )?;
    client.value("SELECT version FROM store")
}

/// Takes the steps that are not done, and says the epoch.
fn go_on(client: &mut Client, done: usize, fresh: &str) -> Found<String> {
    for (nth, step) in (1_i64..).zip(STEPS).skip(done) {
        client.batch(step)?;
        client.execute("UPDATE store SET version = ?1", &[&nth])?;
    }
    client.execute("UPDATE store SET epoch = ?1 WHERE epoch = ''", &[&fresh])?;
    let epoch = client.value("SELECT epoch FROM store")?;
    client.batch("COMMIT")?;
    Ok(epoch)
}
