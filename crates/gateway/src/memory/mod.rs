//! Memory accounting: what the memory consists of, component by component, including the kernel's part.
//!
//! Each shard counts its own components and publishes them once per turn, like all other metrics; the reader adds them
//! up together with what the kernel reports about the process. This must never require a walk over connections or
//! topics.
//!
//! With a budget, the control plane checks several times per second and sets how many connections are allowed; shards
//! compare that with the number of connections. What a single connection makes the server keep is bounded by the shares
//! of its shard, and so is what the kernel keeps for all of the shard's connections that do not read.

mod account;
mod budget;
mod component;
mod watch;

pub use account::MemorySnapshot;
pub(crate) use account::{Account, HttpConnections};
pub(crate) use budget::{Allowance, SOCKET_BUFFERS, Shares};
pub use budget::{BudgetTooSmall, budget_for, idle_connections};
pub use component::{Component, Space};
pub use watch::MemoryBudget;
pub(crate) use watch::Watch;
