//! Recoverable topics on several nodes: hubs with a simulated bus between them, clients that reconnect elsewhere, and
//! everything that can go wrong on the way.
//!
//! A run draws nodes, shards, bounds and faults from its seed: mailboxes and pub/sub lose what they may lose, links are
//! cut, the bus restarts with or without its newest entries, nodes are killed, or frozen for longer than their leases
//! and resumed, and what is kept grows too old. In between, and at the end, everything is repaired and comes to rest,
//! and each client must have been given everything since the position that the server gave it, once and in order, or
//! been told what it missed; on topics that are not kept, it must have been told that the bus had been away, here or
//! where something was published. With one node there may be no bus. Nodes may pace joins, and when a node goes or
//! comes back many clients come at once: each join is answered once, or turned away for a time.

mod act;
mod client;
mod engine;
mod ledger;
mod losses;
mod node;
mod plan;
mod room;
mod run;
mod world;

pub use run::run;
