//! Maps SQLite's errors to [`TroubleKind`].

use chat::{Trouble, TroubleKind};
use rusqlite::{Error, ErrorCode};

pub(super) fn trouble(error: Error) -> Trouble {
    Trouble::new(kind(&error), error.to_string())
}

fn kind(error: &Error) -> TroubleKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => TroubleKind::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            TroubleKind::ReadOnly
        }
        Some(
            ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport,
        ) => TroubleKind::Io,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ConstraintViolation) => {
            TroubleKind::Contended
        }
        Some(ErrorCode::OperationInterrupted) => TroubleKind::Overdue,
        _ => TroubleKind::Corrupt,
    }
}
