//! Who should have received which messages: stamps in messages, the rooms' publications, and each receiver's account.
//!
//! Everything is judged by numbers that this process assigned itself; what the server says about it does not count.
//! `docs/stampede-accounting.md` has the rules, including what is not judged. Nothing here reads a clock or sends
//! anything, and nothing in a received message can make it panic or grow without bound.

mod account;
mod echoes;
mod holes;
#[cfg(test)]
mod network;
mod receipt;
mod recent;
mod remote;
mod room;
mod rooms;
mod stamp;
mod table;
mod timeline;
mod tracker;

pub use account::Account;
pub use echoes::{ECHOES_PENDING_MAX, Echo, EchoReceipt, Echoes};
pub use holes::HOLE_RANGES_MAX;
pub use receipt::{Receipt, Unjudged};
pub use recent::{RECENT_SENDERS, WITHDRAWN_MAX};
pub use remote::{Missing, PUBLISHED_ROOMS_MAX, Publications, Published, RemoteReceipts, Settlement, Stay};
pub use room::Publication;
pub use rooms::{Rooms, RoomsFull};
pub use stamp::{STAMP_BYTES, Stamp};
pub use table::ROOMS_MAX;
pub use timeline::{TIMELINE_POINTS_MAX, Timeline};
pub use tracker::{Seen, Tracker};
