//! Points in time. This crate always receives them as arguments.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970 (UTC), at most [`Moment::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The latest moment that the 48 time bits of an id can hold, in the year 10889.
    pub const MAX: Self = Self((1 << 48) - 1);

    /// The moment that many milliseconds after 1970; saturates at [`MAX`](Self::MAX).
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::MAX.0 { Self::MAX } else { Self(millis) }
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Returns the moment `wait_ms` later; saturates at [`MAX`](Self::MAX).
    #[must_use]
    pub const fn after_ms(self, wait_ms: u64) -> Self {
        Self::from_millis(self.0.saturating_add(wait_ms))
    }

    /// Returns the moment `wait_ms` earlier; saturates at 1970.
    #[must_use]
    pub const fn before_ms(self, wait_ms: u64) -> Self {
        Self(self.0.saturating_sub(wait_ms))
    }

    /// Rounds down to the minute.
    #[must_use]
    pub const fn to_minute(self) -> Self {
        Self(self.0 - self.0 % 60_000)
    }

    /// Milliseconds since `earlier`; 0 if `earlier` is later.
    pub const fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
