//! The messenger's domain rules.
//!
//! What may happen to communities, people, rooms, direct conversations, messages, cursors and moderation, and what
//! follows from it. Every operation is a value in [`verbs`]; a [`Store`] runs it in a transaction over [`Rows`], which
//! contain no rules. So each rule exists once, whatever the database.
//!
//! This crate must not know SQL, sockets, HTTP or async, read a clock or draw random numbers: time and entropy come
//! with each [`Call`].
//!
//! ```
//! use chat::verbs::{Append, CreateCommunity, CreateRoom, Meet, Join};
//! use chat::*;
//!
//! let store = MemoryStore::default();
//! let mut drawn = 0_u8;
//! let mut call = |by: By| {
//!     drawn += 1;
//!     let community = CommunityId::parse("default").unwrap();
//!     Call { community, by, now: Moment::from_millis(1_000), entropy: Entropy([drawn; 16]) }
//! };
//! let ann = PersonId::parse("ann").unwrap();
//! let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
//! store.ask(call(By::Service).ask(CreateCommunity { settings: Settings::named("Everybody") }))?;
//! let room = RoomName::parse("lobby").unwrap();
//! let room = store.ask(call(By::Service).ask(CreateRoom::public(room, "Lobby")))?;
//! store.ask(call(By::Person(ann.clone())).ask(Meet { profile }))?;
//! store.ask(call(By::Person(ann.clone())).ask(Join { conversation: room.id, invitation: None }))?;
//! let draft = Draft::text(None, "Hello");
//! let said = store.ask(call(By::Person(ann)).ask(Append { conversation: room.id, draft }))?;
//! assert_eq!(said.message.seq, Seq(1));
//! # Ok::<(), Failure>(())
//! ```

mod access;
mod call;
mod community;
mod conversation;
mod delivery;
mod failure;
mod ids;
mod kind;
pub mod limits;
mod memory;
mod message;
mod moderation;
mod moment;
mod permissions;
mod person;
mod problem;
mod revocation;
pub mod rows;
mod store;
mod text;
pub mod verbs;
mod words;

pub use call::{Asked, By, Call, Command};
pub use community::{Community, CommunityLimits, GuestPolicy, Key, Look, Settings};
pub use conversation::{Conversation, Invitation, Member, Pair, UnfinishedErasure};
pub use delivery::{Delivery, GivenUp};
pub use failure::{Conflict, Failure, Refusal, StoreError, StoreErrorKind, Thing};
pub use ids::{
    AuditId, ClientId, CommunityId, ConversationId, DeliveryId, Entropy, InvitationId, KeyId, MessageId,
    PersonId, ReportId, Revision, RoomName, Seq, Ulid,
};
pub use kind::Kind;
pub use memory::{MemoryRows, MemoryStore};
pub use message::{Attachment, Deletion, Draft, Edit, Mention, Message, Reaction, Shown, Tally};
pub use moderation::{Audit, AuditAction, Report, Sanction, SanctionKind, Settlement};
pub use moment::Moment;
pub use permissions::{Action, Role, Standing, permits};
pub use person::{Block, Person, Profile};
pub use problem::{FieldProblem, Problem, Problems};
pub use revocation::Revocation;
pub use rows::Rows;
pub use store::{Ask, Done, PendingAppend, Request, Store, Verb, WEIGHT_MAX, Work};
