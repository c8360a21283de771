//! Times as tokens represent them.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// Seconds since 1970-01-01T00:00:00Z, without leap seconds: the `NumericDate` of RFC 7519, section 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// Adds a duration, rounded down to whole seconds.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        UnixSeconds(self.0.saturating_add(duration.as_secs()))
    }

    /// Subtracts a duration, rounded down to whole seconds; not before 1970.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        UnixSeconds(self.0.saturating_sub(duration.as_secs()))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// [`UnixSeconds`] in four bytes, also as an `Option`, for what is kept of each connection or person. Times after 2106
/// count as the last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CompactSeconds(
    // The seconds plus one: `Option<CompactSeconds>` uses zero as its niche.
    NonZeroU32,
);

impl From<UnixSeconds> for CompactSeconds {
    fn from(UnixSeconds(seconds): UnixSeconds) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(seconds).unwrap_or(u32::MAX)))
    }
}

impl From<CompactSeconds> for UnixSeconds {
    fn from(CompactSeconds(seconds): CompactSeconds) -> Self {
        Self(u64::from(seconds.get()) - 1)
    }
}
