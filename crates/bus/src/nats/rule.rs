//! Topics with the same retention share a stream.

use hub::Retention;
use std::fmt;
use std::time::Duration;

/// The retention of the topics of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Rule {
    pub(crate) messages_max: usize,
    pub(crate) age_ms_max: u64,
}

impl Rule {
    pub(crate) fn of(retention: Retention) -> Rule {
        Rule { messages_max: retention.messages_max, age_ms_max: retention.age_us_max / 1000 }
    }

    pub(crate) fn age_max(self) -> Duration {
        Duration::from_millis(self.age_ms_max)
    }
}

/// The form used in names.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.messages_max, self.age_ms_max)
    }
}
