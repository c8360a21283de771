//! The code that runs inside a shard: the driver that connects one hub to one shard of the engine.

mod arrivals;
mod census;
mod drain;
mod driver;
mod effects;
mod entering;
mod mail;
mod opening;
mod peer;
mod proxied;
mod reading;
mod sessions;
mod transit;
mod turns;

pub use census::SlowReader;
pub(crate) use census::{Question, ShardCensus};
pub(crate) use driver::{ShardDriver, Shared};
pub(crate) use mail::{Mail, PollAnswer, PostAnswer, Seat, Seed, SessionSeed};
pub(crate) use sessions::SessionToken;
pub(crate) use transit::{Transit, Transits};
pub(crate) use turns::Turns;
