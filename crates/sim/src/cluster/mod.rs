//! Recoverable topics over several nodes: hubs with a simulated bus between them, clients that come back elsewhere, and
//! everything that can go wrong on the way.
//!
//! A run draws nodes, shards, bounds and dangers from its seed: mailboxes and pub/sub lose what they may lose, links are
//! cut, the bus restarts with or without its newest, nodes are killed, or stand still for longer than their leases and go on,
//! and what is kept grows too old. In between, and at the end, everything is mended and comes to rest, and each client must
//! have been given everything since it stood where the server said, once and in order, or been told what not; of topics that
//! nobody keeps, that the bus had been away, here or where something was published. With one node there may be no bus. Nodes
//! may begin joins at a pace, and when one goes or comes back a crowd comes with it: each join is answered once, or turned away
//! for a time.

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
