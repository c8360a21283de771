//! Keeps a panic in a programmer's code beside the handlers from ending more than one channel.
//!
//! None of these pieces of code can touch the hub, so a panic in one of them leaves it whole; for handlers, which can,
//! [`Hub::call`](crate::Hub) says why it stays whole.

use crate::channel::{Channel, ChannelFactory};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a programmer's code; `None` if it panicked. The caller answers for what a panic leaves torn.
pub(crate) fn run<R>(code: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(code)).map_err(discard).ok()
}

/// A channel for one join; `None` if the factory panicked.
pub(crate) fn make(factory: &dyn ChannelFactory, topic: &str) -> Option<Box<dyn Channel>> {
    run(|| factory.make(topic))
}

/// The events that a channel looks at itself; none if it cannot say.
pub(crate) fn intercepts(channel: &dyn Channel) -> &'static [&'static str] {
    run(|| channel.intercepts()).unwrap_or(&[])
}

/// Drops what a programmer made: a channel, a task's answer, a socket's assigns, a panic's payload. What a panic in
/// its destructor leaves undone is its own.
pub(crate) fn discard<T>(value: T) {
    let dropped = |value| catch_unwind(AssertUnwindSafe(|| drop(value)));
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(panic) = dropped(panic)
    {
        // The destructor of a payload panicked, and nothing says that it is the last to do so.
        std::mem::forget(panic);
    }
}
