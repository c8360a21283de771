//! A message of a community's minute that was taken before it is known whether it may be said at all.
//!
//! It is taken at once, so that many who come together do not go past the limit, and given back when nothing came of it, so
//! that those who may not speak do not silence those who may.

use crate::messenger::Messenger;
use chat::{CommunityId, Failure};
use std::fmt;
use std::time::Instant;

/// See the module. Dropped, it is given back; asked with ([`Messenger::perform_spending`]), only where that was refused.
#[must_use]
pub struct Spent(Option<Share>);

/// Of a community whose messages are limited.
struct Share {
    messenger: Messenger,
    community: CommunityId,
    max: u32,
    at: Instant,
    is_used: bool,
}

impl Spent {
    /// For what takes none.
    pub const fn nothing() -> Self {
        Self(None)
    }

    /// It was taken at that time, of so many in a minute, if that is limited.
    pub(crate) fn new(messenger: &Messenger, community: &CommunityId, max: Option<u32>, at: Instant) -> Self {
        let share = |max| Share {
            messenger: messenger.clone(),
            community: community.clone(),
            max,
            at,
            is_used: false,
        };
        Self(max.map(share))
    }

    /// What came of it. Where it may have been stored, it counts.
    pub(crate) fn settle<T>(mut self, outcome: &Result<T, Failure>) {
        if let Some(share) = &mut self.0 {
            share.is_used = match outcome {
                Ok(_) => true,
                Err(Failure::Unavailable(trouble)) => trouble.kind.leaves_doubt(),
                Err(_) => false,
            };
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if !self.is_used {
            self.messenger.inner.limited.give_message_back(&self.community, self.max, self.at);
        }
    }
}

impl fmt::Debug for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spent").field(&self.0.as_ref().map(|share| share.max)).finish()
    }
}
