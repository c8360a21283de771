//! Keeps a panic in a programmer's code beside the handlers from ending more than one channel.
//!
//! Handlers themselves run in [`Hub::call`](crate::Hub). None of these pieces of code can touch the hub, so a panic in
//! one of them leaves it whole.

use crate::channel::{Channel, ChannelFactory};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A channel for one join; `None` if the factory panicked.
pub(crate) fn make(factory: &dyn ChannelFactory, topic: &str) -> Option<Box<dyn Channel>> {
    catch_unwind(AssertUnwindSafe(|| factory.make(topic))).ok()
}

/// The events that a channel looks at itself; none if it cannot say.
pub(crate) fn intercepts(channel: &dyn Channel) -> &'static [&'static str] {
    catch_unwind(AssertUnwindSafe(|| channel.intercepts())).unwrap_or(&[])
}

/// Drops a channel. What a panic in its destructor leaves undone is the channel's own.
pub(crate) fn discard(channel: Box<dyn Channel>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(channel))) {
        // The payload's destructor is the programmer's too.
        std::mem::forget(panic);
    }
}
