//! A rate.

use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// How often something may be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// How often at once, after a pause.
    pub burst: u32,
    /// How often in a minute, in the long run. With 0, it takes a minute until the next one, as with 1.
    pub per_minute: u32,
}

impl Rate {
    /// A whole minute's share may be used at once.
    pub const fn per_minute(per_minute: u32) -> Self {
        Self { burst: per_minute, per_minute }
    }

    /// Returns how long it takes until `cost` is refilled.
    pub(crate) fn refilling(self, cost: u32) -> Duration {
        MINUTE.checked_div(self.per_minute).unwrap_or(MINUTE).saturating_mul(cost)
    }

    /// Returns how long it takes until an empty bucket is full. There is always room for one.
    pub(crate) fn filling(self) -> Duration {
        self.refilling(self.burst.max(1))
    }
}
