//! The PostgreSQL schema, as numbered forward migrations.

use super::client::Client;
use crate::epoch::fresh_epoch;
use crate::open_error::OpenError;
use chat::rows::Found;

/// Step n migrates version n − 1 to version n. A released step is never changed.
const STEPS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
];

/// The advisory lock held during migrations, because several servers may start at once: "throng" in ASCII.
const LOCK: i64 = 0x7468_726f_6e67;

/// On a large store a migration may take longer than any ordinary statement may, and so may waiting for another
/// server's: cancelled, it would start over at every start. Locks are waited for just as long, whatever the database's
/// defaults are.
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
    SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'";

/// Migrates the database to this program's version, and returns its epoch. After an error the client must not be used
/// again.
///
/// # Errors
/// The database is newer than the program, or cannot be written.
pub(super) fn migrate(client: &mut Client) -> Result<String, OpenError> {
    let fresh = fresh_epoch()?;
    let patience = client.be_patient();
    client.batch(BEGIN)?;
    let found = version(client)?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    let epoch = go_on(client, done, &fresh)?;
    client.be_patient_for(patience);
    Ok(epoch)
}

/// Returns the schema version, which nobody else can change until the transaction ends.
fn version(client: &mut Client) -> Found<i64> {
    client.query("SELECT pg_advisory_xact_lock(?1)", &[&LOCK])?;
    client.batch(
        "CREATE TABLE IF NOT EXISTS store (version BIGINT NOT NULL, epoch TEXT NOT NULL); \
         INSERT INTO store (version, epoch) SELECT 0, '' WHERE NOT EXISTS (SELECT 1 FROM store)",
    )?;
    client.value("SELECT version FROM store")
}

/// Runs the remaining steps, and returns the epoch.
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

#[cfg(test)]
#[path = "../../tests/postgres_server/mod.rs"]
mod postgres_server;

#[cfg(test)]
mod tests {
    use super::postgres_server::PostgresServer;
    use super::*;
    use crate::PostgresOptions;
    use crate::postgres::connection::connect;
    use std::thread;
    use std::time::{Duration, Instant};

    const GENEROUS: Duration = Duration::from_secs(60);

    #[test]
    fn who_starts_waits_for_another_ones_steps_for_longer_than_a_statement_may_take() {
        let server = PostgresServer::start();
        let operator = || postgres::Client::connect(&server.url(), postgres::NoTls).expect("it runs");
        let (mut other, mut watching) = (operator(), operator());
        other.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})")).expect("nobody has it");
        let options = PostgresOptions::new(&server.url());
        let starting = thread::spawn(move || {
            let mut client = connect(&options)?;
            client.batch("SET statement_timeout = '1s'; SET lock_timeout = '1s'")?;
            client.be_patient_for(Some(Duration::from_secs(1)));
            migrate(&mut client)
        });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND \
                     clock_timestamp() - query_start > interval '1.5 s'";
        let begun = Instant::now();
        while !starting.is_finished()
            && watching.query_one(waits, &[]).expect("it counts").get::<_, i64>(0) == 0
        {
            assert!(begun.elapsed() < GENEROUS, "it does not wait for the other one");
            thread::sleep(Duration::from_millis(20));
        }
        other.batch_execute("COMMIT").expect("it may");
        let epoch = starting.join().expect("it does not panic").expect("its turn has come");
        assert!(!epoch.is_empty());
    }
}
