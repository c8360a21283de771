//! Stored rooms: the messenger's own channels over hubs and over a simulated disk.
//!
//! The messenger, its cache, the rules of `chat` and the group commit of `store` are the real ones. Simulated are the
//! disk (commits take time, fail, or succeed without the caller being told), the mailboxes, the process, which is
//! killed and restarted on the same disk, and the clients, who retry what was not acknowledged and come back to where
//! they were. Whatever a client is told must be on the disk by then, at its sequence number; what was acknowledged
//! stays there, once; and when everything is repaired and at rest, everybody who is connected has everything.
//!
//! The ids of guests and messages are random and the messenger reads a clock: neither affects a run, and neither is
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
