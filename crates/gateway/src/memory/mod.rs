//! Memory as a contract: what it is made of, component by component, the kernel's part included.
//!
//! Each shard counts its own parts and publishes them once a turn, like every other number; whoever asks adds them up
//! with what the kernel tells of the process. Must never go through connections or topics to find out.

mod account;
mod component;

pub(crate) use account::Account;
pub use account::MemorySnapshot;
pub use component::{Component, Space};
