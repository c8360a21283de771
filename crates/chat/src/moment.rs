//! Points in time, which are always arguments.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970 (UTC), at most [`Moment::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The last: in the year 10889, what 48 bits of an id hold.
    pub const MAX: Self = Self((1 << 48) - 1);

    /// That many milliseconds after 1970; what is later than [`MAX`](Self::MAX) becomes it.
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::MAX.0 { Self::MAX } else { Self(millis) }
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// So much later.
    #[must_use]
    pub const fn after_ms(self, wait_ms: u64) -> Self {
        Self::from_millis(self.0.saturating_add(wait_ms))
    }

    /// So much earlier, not before 1970.
    #[must_use]
    pub const fn before_ms(self, wait_ms: u64) -> Self {
        Self(self.0.saturating_sub(wait_ms))
    }

    /// The whole minute in which it is.
    #[must_use]
    pub const fn to_minute(self) -> Self {
        Self(self.0 - self.0 % 60_000)
    }

    /// How long after `earlier` it is; 0 if it isn't.
    pub const fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
