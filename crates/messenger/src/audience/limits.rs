//! How many there may be, and from how many on less is told.

use std::time::Duration;

/// For so long somebody without a device is not gone yet: connections break and come back.
pub(crate) const LEASE: Duration = Duration::from_secs(10);
/// Devices of one person, on all nodes as far as they have told each other.
pub(crate) const DEVICES_MAX: usize = 32;
/// In rooms with more people online than this, a message is told to those who have the room open and to whom it
/// mentions; the others' conversations tabs are told the newest one once a second.
pub(crate) const TABS_EACH_MAX: usize = 200;
/// In rooms with more people online than this, who is here is told as a number.
pub(crate) const PRESENCE_EACH_MAX: usize = 500;
/// Changes of one conversation's messages that are looked for one by one, where it is not known whether they were stored.
pub(crate) const DOUBTED_CHANGES_MAX: usize = 100;
/// Reactions of people who are erased that those of one conversation are told one by one in a round.
pub(crate) const ERASED_REACTIONS_TOLD_MAX: u32 = 100;
/// Conversations of which is read in one round how far their changes have come; the others wait for the next.
pub(crate) const UNTOLD_CHANGES_READ_MAX: usize = 1_000;
/// People of whom the other nodes are told in one round, beside those who go.
pub(crate) const TOLD_AT_ONCE_MAX: usize = 10_000;
/// People of other nodes who are lost in one turn, of a millisecond or two; then others have one.
pub(super) const LOST_AT_ONCE_MAX: usize = 128;

/// A person has as many devices as they may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;
