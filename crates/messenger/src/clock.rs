//! The one place where the messenger reads the wall clock, for calls.

use chat::Moment;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time for calls. A clock before 1970 counts as 1970.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
