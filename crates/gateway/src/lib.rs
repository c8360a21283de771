//! The library that an application imports to serve channels: mounts, channels and shards.
//!
//! The gateway joins the [`engine`] (sockets), the protocol and the hub (topics): it drives one hub per shard, carries
//! out the hub's effects, checks handshakes, and runs the control plane (plain HTTP, TLS handshakes, long-polling,
//! tasks) on a runtime of its own. It must not contain rules of the protocol or of a domain.
//!
//! ```no_run
//! use gateway::{Channel, Context, Gateway, Joining, Mount, Payload};
//!
//! struct Echo;
//!
//! impl Channel for Echo {
//!     fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
//!         Joining::accept()
//!     }
//!
//!     fn handle_in(&mut self, cx: &mut Context<'_>, _event: &str, payload: Payload<'_>) {
//!         cx.reply_ok(payload);
//!     }
//! }
//!
//! let socket = Mount::channels("/socket").channel("echo:*", || Echo);
//! let running = Gateway::builder().listen(([127, 0, 0, 1], 4000)).mount(socket).start().expect("it starts");
//! running.wait();
//! ```

/// The examples of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod address;
mod admission;
mod builder;
mod bus_port;
mod connect;
mod control;
mod handle;
mod handshake;
mod life;
mod limits;
mod listening;
mod longpoll;
mod memory;
mod metrics;
mod mount;
mod nodes;
mod pace;
mod proxies;
mod relay;
mod shard;
mod start_error;
mod words;

pub use address::network;
pub use builder::{Gateway, GatewayBuilder};
pub use bus_port::{BusEvents, BusPort};
pub use connect::{ConnectRequest, Refusal, Socket};
pub use control::RemotePeer;
pub use engine::{Tables, TimeSlices, Together, machine};
pub use handle::{BroadcastError, Census, Handle, Running};
pub use hub::{
    Answer, Call, Channel, Context, Ended, Finish, Histories, Info, Joining, Micros, NodeId, Outgoing,
    OwnerOf, Pattern, PatternError, ReplyTo, Retention, Task, TrackError,
};
pub use limits::{BadLimit, Limits};
pub use memory::{
    BudgetTooSmall, Component, MemoryBudget, MemorySnapshot, Space, budget_for, idle_connections,
};
pub use metrics::{CloseReason, Histogram, ShardSnapshot, Snapshot};
pub use mount::{BadMountPath, Mount};
pub use nodes::NodeAddress;
pub use proto::handshake::{OriginPattern, OriginRule, RequestAddress};
pub use proto::phoenix::Payload;
pub use proto::ws::deflate::DeflateConfig;
pub use proxies::{BadNetwork, Network};
pub use shard::SlowReader;
pub use start_error::StartError;
pub use words::FromNodes;
