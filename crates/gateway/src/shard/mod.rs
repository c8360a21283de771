//! What runs inside a shard: the driver that joins one hub with one shard of the engine.

mod drain;
mod driver;
mod effects;
mod mail;
mod opening;
mod peer;
mod reading;
mod sessions;

pub(crate) use driver::{ShardDriver, Shared};
pub(crate) use mail::{Mail, PollAnswer, PostAnswer, Seed, SessionSeed};
pub(crate) use sessions::SessionToken;
