//! Telling host sites what happened: at least once, in order for each endpoint, signed.
//!
//! Messages wait in a [`Queue`], which whoever stores things provides; [`MemoryQueue`] is one that forgets. [`lanes`]
//! decides whose turn it is and [`retries`] when to try again, both pure; [`delivery`] sends. An endpoint's next message
//! is sent when the one before it was delivered or given up, so a slow endpoint holds up itself alone; and endpoints
//! that are slow or fail have places of their own, so that however many they are, the others' stay free.

mod delivery;
mod lanes;
mod memory;
mod queue;
mod retries;

pub use delivery::{Deliveries, DeliveryCounts, DeliverySettings};
pub use lanes::Places;
pub use memory::{MemoryLimits, MemoryQueue, QueueFull};
pub use queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, Queue, QueueError, UnixMillis, Waiting,
    WhyDead,
};
pub use retries::Retries;
