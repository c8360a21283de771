//! Keeps a panic in application code outside of handlers from ending more than one channel.
//!
//! None of this code can access the hub, so a panic in it leaves the hub intact. Handlers can; for them,
//! [`Hub::call`](crate::Hub) explains why the hub stays intact.

use crate::channel::{Channel, ChannelFactory};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs application code; returns `None` if it panicked. The caller is responsible for any state that the panic leaves
/// inconsistent.
pub(crate) fn run<R>(code: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(code)).map_err(discard).ok()
}

/// Creates a channel for one join; `None` if the factory panicked.
pub(crate) fn make(factory: &dyn ChannelFactory, topic: &str) -> Option<Box<dyn Channel>> {
    run(|| factory.make(topic))
}

/// Returns the events that a channel intercepts; none if its method panicked.
pub(crate) fn intercepts(channel: &dyn Channel) -> &'static [&'static str] {
    run(|| channel.intercepts()).unwrap_or(&[])
}

/// Drops an application's value: a channel, a task's answer, a socket's assigns, a panic's payload. What a panic in its
/// destructor leaves undone is the application's concern.
pub(crate) fn discard<T>(value: T) {
    let dropped = |value| catch_unwind(AssertUnwindSafe(|| drop(value)));
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(panic) = dropped(panic)
    {
        // The destructor of the payload panicked, too, and the next payload might do the same.
        std::mem::forget(panic);
    }
}
