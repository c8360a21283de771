//! The SQLite schema, as numbered forward migrations.

use super::errors::trouble;
use crate::epoch::fresh_epoch;
use crate::open_error::OpenError;
use rusqlite::{Connection, TransactionBehavior};

/// Step n migrates version n − 1 to version n, in one transaction. A released step is never changed.
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
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
];

/// Marks a file as ours (`PRAGMA application_id`): "thrg".
const APPLICATION_ID: i32 = 0x7468_7267;

/// Checks the file before anything is written to it.
///
/// # Errors
/// The file is newer than the program, or belongs to another program.
pub(super) fn check(connection: &Connection) -> Result<(), OpenError> {
    let (version, application) = versions(connection)?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || !is_empty(connection)?) {
        return Err(OpenError::Foreign);
    }
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if version > known { Err(OpenError::Newer { found: version, known }) } else { Ok(()) }
}

/// Requires that the file already has this program's schema version.
///
/// # Errors
/// Its tables are older or newer, or another program's.
pub(super) fn require_current(connection: &Connection) -> Result<(), OpenError> {
    check(connection)?;
    let (version, _) = versions(connection)?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if version < known { Err(OpenError::Older { found: version, known }) } else { Ok(()) }
}

/// Migrates the file to this program's version.
///
/// # Errors
/// The file is newer than the program, belongs to another program, or cannot be written.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    loop {
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(trouble)?;
        check(&transaction)?;
        let (version, _) = versions(&transaction)?;
        let Some(step) = usize::try_from(version).ok().and_then(|version| STEPS.get(version)) else {
            return Ok(());
        };
        let numbers =
            format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};", version + 1);
        let done = transaction.execute_batch(step).and_then(|()| transaction.execute_batch(&numbers));
        done.and_then(|()| transaction.commit()).map_err(trouble)?;
    }
}

fn versions(connection: &Connection) -> Result<(i64, i32), OpenError> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let read = number("user_version").and_then(|version| Ok((version, number("application_id")?)));
    let (version, application) = read.map_err(trouble)?;
    Ok((version, i32::try_from(application).unwrap_or(-1)))
}

fn is_empty(connection: &Connection) -> Result<bool, OpenError> {
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    Ok(tables.map_err(trouble)? == 0)
}

/// Returns the store's epoch: drawn when the file is first opened, and again after it was restored.
pub(super) fn epoch(connection: &mut Connection) -> Result<String, OpenError> {
    let fresh = fresh_epoch()?;
    let drawn = connection.execute("UPDATE store SET epoch = ?1 WHERE epoch = ''", [&fresh]);
    let epoch = drawn.and_then(|_| connection.query_row("SELECT epoch FROM store", [], |row| row.get(0)));
    Ok(epoch.map_err(trouble)?)
}
