//! Stored rooms: the messenger's own channels over hubs and over a simulated disk.
//!
//! The messenger, its cache, the rules of `chat` and the group commit of `store` are the real ones; simulated are the disk
//! (commits take their time, fail, or are done and nobody hears of it), the mailboxes, the process, which is killed and
//! started again over the same disk, and the clients, who retry what was not acknowledged and come back to where they
//! stood. Whatever a client is told must be on the disk by then, at its place; what was acknowledged stays there, once;
//! and when everything is mended and at rest, everybody who is there has everything.
//!
//! Guests' and messages' ids are random and the messenger reads a clock: neither decides anything here, and neither is
//! traced.

mod act;
mod client;
mod disk;
mod ledger;
mod outlet;
mod plan;
mod process;
mod queued;
mod run;
mod world;

pub use run::run;
