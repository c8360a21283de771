//! The one place where the messenger reads a clock of the world, for calls.

use chat::Moment;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time, for calls. A clock before 1970 is one at 1970.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
