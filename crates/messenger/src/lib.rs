//! The messenger over channels: runs `chat`'s verbs on a store and notifies everybody whom a result concerns.
//!
//! It owns the one entry point through which every surface acts ([`Messenger::perform`]), the mapping from each verb's
//! result to notifications ([`News`]), presence and status, the read cache, admission, and the channels `room:` and
//! `person:`. Rules belong to `chat`, rows to a store, frames to `gateway`: this crate must never know SQL or a byte of
//! the protocol, and holds no rule of the messenger.
//!
//! ```
//! # use chat::verbs::{CreateCommunity, Append};
//! # use chat::*;
//! # use std::sync::Arc;
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use messenger::{Messenger, Settings};
//!
//! let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
//! messenger.prepare_default().await?;
//! let community = CommunityId::parse("default").unwrap();
//! let room = messenger.room(&community, &RoomName::parse("lobby").unwrap()).await?;
//! let draft = Draft::text(None, "Hello, everybody");
//! let said = messenger.ask(&community, By::Service, Append { conversation: room, draft }).await?;
//! assert_eq!(said.message.seq, Seq(1));
//! # Ok::<(), Failure>(())
//! # }).unwrap();
//! ```

mod audience;
mod cache;
mod changes;
mod channels;
mod clock;
mod counters;
mod entrance;
mod erasures;
mod fault;
mod following;
mod guests;
mod housekeeping;
mod joins_at_once;
mod known;
mod last_seen;
mod limited;
mod looks;
mod message_permit;
mod messenger;
mod news;
mod nodes;
mod notice;
mod notice_applier;
mod notice_batch;
mod outlet;
mod past;
mod promise;
mod reading;
mod reconciling;
mod refollowing;
#[cfg(test)]
mod scene;
mod small_list;
mod start;
mod store_log;
mod surfaces;
mod topics;
mod witness;

pub use audience::{Presence, Status};
pub use channels::{EVENTS, EventRow, Surface};
pub use clock::now;
pub use counters::{CommunityCounts, Counts};
pub use entrance::{
    Admitted, AllowedRooms, AskedAction, AuthorizerKey, Credentials, InstallationSecret, PublishedKeys,
    Rejection, TokenKey, Unanswered,
};
pub use fault::{ErrorCode, Fault};
pub use gateway::network;
pub use known::Known;
pub use limited::{AddressLimits, TooManyMessages};
pub use message_permit::MessagePermit;
pub use messenger::{Answer, Messenger, Settings, WeakMessenger};
pub use news::News;
pub use notice_batch::NoticeBatch;
pub use outlet::Outlet;
pub use store_log::log_trouble;
pub use topics::{RESERVED, community_of, is_of_messenger, is_reserved, person_topic, room_topic};
pub use witness::{Happening, Witness};
