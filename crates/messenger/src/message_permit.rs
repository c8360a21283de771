//! A message taken from a community's per-minute limit before it is known whether it may be sent.
//!
//! It is taken at once, so that many concurrent senders cannot exceed the limit, and given back when nothing was sent,
//! so that those who may not speak do not silence those who may.

use crate::messenger::Messenger;
use chat::{CommunityId, Failure};
use std::fmt;
use std::time::Instant;

/// See the module. When dropped, it is given back; when passed to [`Messenger::perform_spending`], only if the verb is
/// refused.
#[must_use]
pub struct MessagePermit(Option<Share>);

/// One message of a community whose messages are limited.
struct Share {
    messenger: Messenger,
    community: CommunityId,
    max: u32,
    at: Instant,
    is_used: bool,
}

impl MessagePermit {
    /// For requests that take no message from a limit.
    pub const fn nothing() -> Self {
        Self(None)
    }

    /// One message taken at that time from a limit of `max` per minute, if there is a limit.
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

    /// Settles it by the verb's outcome. If it may have been stored, it counts as used.
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

impl fmt::Debug for MessagePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spent").field(&self.0.as_ref().map(|share| share.max)).finish()
    }
}
