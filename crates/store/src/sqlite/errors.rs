//! Maps SQLite's errors to [`StoreErrorKind`].

use chat::{StoreError, StoreErrorKind};
use rusqlite::{Error, ErrorCode};

pub(super) fn trouble(error: Error) -> StoreError {
    StoreError::new(kind(&error), error.to_string())
}

fn kind(error: &Error) -> StoreErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            StoreErrorKind::ReadOnly
        }
        Some(
            ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport,
        ) => StoreErrorKind::Io,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ConstraintViolation) => {
            StoreErrorKind::Contended
        }
        Some(ErrorCode::OperationInterrupted) => StoreErrorKind::Overdue,
        _ => StoreErrorKind::Corrupt,
    }
}
