//! Maps PostgreSQL's errors to [`StoreErrorKind`].

use chat::{StoreError, StoreErrorKind};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

pub(super) fn trouble(error: &Error) -> StoreError {
    let detail = match error.as_db_error() {
        Some(error) => format!("{}: {}", error.code().code(), error.message()),
        None => with_causes(error),
    };
    StoreError::new(kind(error), detail)
}

fn kind(error: &Error) -> StoreErrorKind {
    let Some(code) = error.code() else {
        // An error that is not from the database is from the network, or from a value of an unexpected type.
        return if error.is_closed() || is_io(error) {
            StoreErrorKind::Away
        } else {
            StoreErrorKind::Corrupt
        };
    };
    if [
        &SqlState::T_R_SERIALIZATION_FAILURE,
        &SqlState::T_R_DEADLOCK_DETECTED,
        &SqlState::UNIQUE_VIOLATION,
        &SqlState::LOCK_NOT_AVAILABLE,
    ]
    .contains(&code)
    {
        return StoreErrorKind::Contended;
    }
    if [&SqlState::READ_ONLY_SQL_TRANSACTION, &SqlState::INSUFFICIENT_PRIVILEGE].contains(&code) {
        return StoreErrorKind::ReadOnly;
    }
    // Cancelled by `statement_timeout`, or by an operator.
    if *code == SqlState::QUERY_CANCELED {
        return StoreErrorKind::Overdue;
    }
    // Classes of Appendix A of PostgreSQL's manual: connection, resources, operator intervention, system error.
    match &code.code()[..2] {
        "08" | "57" | "28" | "3D" => StoreErrorKind::Away,
        "53" if *code == SqlState::DISK_FULL => StoreErrorKind::Full,
        "53" => StoreErrorKind::Away,
        "58" => StoreErrorKind::Io,
        _ => StoreErrorKind::Corrupt,
    }
}

/// The error's text, with its causes where it does not include them itself.
fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

fn is_io(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    ["connecting", "TLS"].iter().any(|step| error.to_string().contains(step))
}
