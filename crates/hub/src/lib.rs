//! One shard of the channel server as a pure state machine.
//!
//! The hub owns what a shard knows: its connections, their joins, its part of every topic, fan-out by cursors, the
//! directory and the presence of the topics whose home it is, and the [`Channel`] trait that programmers implement.
//! It is driven by [`Hub::handle`], which takes the time and an [`Event`] and appends [`Effect`]s; [`Hub::pump`]
//! delivers a bounded number of pending publications.
//!
//! It must never do IO, read a clock, lock, or spawn. Time and randomness are arguments, so whole clusters of shards
//! run under one seed in the simulation.
//!
//! Start with [`Hub`], [`Event`], [`Effect`] and [`Channel`].

mod active;
mod archive;
mod backlog;
mod base64_id;
mod bus;
mod bus_order;
mod call;
mod catching_up;
mod channel;
mod class;
mod connection;
mod context;
mod counters;
mod directory;
mod dismissal;
mod dispatch;
mod effect;
mod event;
mod fanout;
mod follow;
mod frames;
mod guard;
mod hashing;
mod heads;
mod histories;
mod history;
mod hub;
mod ids;
mod join;
mod join_queue;
mod joining;
mod lifecycle;
mod limits;
mod link;
mod member;
mod members;
mod memory;
mod named;
mod ordering;
mod outages;
mod outgoing;
mod owners;
mod pattern;
mod people;
mod place;
mod planted;
mod presence;
mod publication;
mod publish;
mod recover_request;
mod recovery;
mod remote;
mod short_text;
mod sizes;
mod splice;
mod subscriptions;
mod tasks;
mod topic;
mod tracking;
mod unanswered;

pub use active::{Pending, Reach};
pub use bus::{
    AppendToken, BusEffect, BusEvent, BusHistory, NodeId, NodePeople, Ordered, PresenceChange, PresenceMeta,
    ReadToken, Span, SubscriptionId,
};
pub use call::{Call, Finish};
pub use channel::{Answer, Channel, ChannelFactory, Ended, Info, Joining, Task};
pub use class::Class;
pub use context::{Context, ReplyTo, TrackError};
pub use counters::Counters;
pub use dismissal::Dismissal;
pub use effect::{Effect, Effects};
pub use event::{Event, NewConnection, ShardMessage, Wanted};
pub use frames::{Dialect, Transport};
pub use histories::{Histories, Retention};
pub use history::Excerpt;
pub use hub::{Hub, HubConfig};
pub use ids::{
    ConnectionKey, InterestEpoch, JoinInstance, Micros, MountIndex, SECOND_LANE, ShardIndex, Ticket,
};
pub use limits::{Limits, PEOPLE_BELIEVED_US, SHARDS_TOLD_AT_ONCE_MAX};
pub use memory::Memory;
pub use outgoing::Outgoing;
pub use owners::OwnerOf;
pub use pattern::{Pattern, PatternError};
pub use place::{Epoch, Place, Position, PublisherId};
#[cfg(feature = "planted-bugs")]
#[doc(hidden)]
pub use planted::{PlantedBug, plant};
pub use presence::{PhxRef, PresenceOwner};
pub use publication::{AppendError, AppendOwner, Draft, Publication};
pub use tasks::TaskOwner;
