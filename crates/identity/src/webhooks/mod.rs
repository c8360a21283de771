//! Webhooks to host sites: at least once, in order per endpoint, signed.
//!
//! Messages wait in a [`Queue`], which the storage layer provides; [`MemoryQueue`] is one without durability. [`lanes`]
//! schedules endpoints and [`retries`] decides when to try again, both pure; [`delivery`] sends. An endpoint's next
//! message is sent once the previous one was delivered or given up, so a slow endpoint delays only itself; and slow or
//! failing endpoints have request slots of their own, so that however many they are, the others' slots stay free.

mod delivery;
mod lanes;
mod memory;
mod queue;
mod retries;

pub use delivery::{Deliveries, DeliveryCounts, DeliverySettings};
pub use lanes::Places;
pub use memory::{MemoryLimits, MemoryQueue, QueueFull};
pub use queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, MessageSubject, Queue, QueueError,
    UnixMillis, Waiting, WhyDead,
};
pub use retries::Retries;
