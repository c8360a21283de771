//! Memory as a contract: what it is made of, component by component, the kernel's part included.
//!
//! Each shard counts its own parts and publishes them once a turn, like every other number; whoever asks adds them up
//! with what the kernel tells of the process. Must never go through connections or topics to find out.
//!
//! With a budget, the control plane looks several times a second and says how many connections there may be; shards
//! compare that with how many there are. What one connection makes the server keep is bounded by each
//! shard's part, and so is what the kernel keeps for all of a shard's that do not read.

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
