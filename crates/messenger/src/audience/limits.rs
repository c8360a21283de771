//! Limits, and the sizes from which on less is sent.

use std::time::Duration;

/// How long a person without a device still counts as online: connections break and come back.
pub(crate) const LEASE: Duration = Duration::from_secs(10);
/// Devices of one person, on all nodes as far as they have reported them.
pub(crate) const DEVICES_MAX: usize = 32;
/// In rooms with more people online than this, a message is sent to those who have the room open and to those it
/// mentions; the others' conversations tabs are sent the newest one once a second.
pub(crate) const TABS_EACH_MAX: usize = 200;
/// In rooms with more people online than this, presence is sent as a number.
pub(crate) const PRESENCE_EACH_MAX: usize = 500;
/// Changes of one conversation's messages that are looked up one by one if it is unknown whether they were stored.
pub(crate) const DOUBTED_CHANGES_MAX: usize = 100;
/// Reactions of erased people that are announced one by one, per conversation and round.
pub(crate) const ERASED_REACTIONS_TOLD_MAX: u32 = 100;
/// Conversations whose revision is read in one round; the others wait for the next.
pub(crate) const UNTOLD_CHANGES_READ_MAX: usize = 1_000;
/// People who are reported to the other nodes in one round, beside those who disconnect.
pub(crate) const TOLD_AT_ONCE_MAX: usize = 10_000;
/// People of other nodes who are removed in one turn, which takes a millisecond or two; then the locks are free for
/// others.
pub(super) const LOST_AT_ONCE_MAX: usize = 128;

/// The person has as many devices as are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;
