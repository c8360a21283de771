//! One room: its publications, its members, and which missing publications are old enough to be called lost.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::ledger::recent::{RECENT_SENDERS, Recent};
use crate::ledger::{Account, Stamp, Timeline, Tracker};
use crate::observe::{Nanos, UserId};

/// Maximum number of publications that one room can number; further ones have no index and are not judged.
pub(super) const PUBLICATIONS_MAX: u32 = u32::MAX - 1;

/// One member in [`Room::state`].
const ONE_MEMBER: u64 = 1 << 32;

#[derive(Debug)]
pub(super) struct Room {
    pub(super) name: Arc<str>,
    /// Members in the upper half, next publication in the lower half, so that both are read and changed atomically.
    state: AtomicU64,
    recent: OnceLock<Box<Recent>>,
    settling: Settling,
    /// Publication times; only recorded if the run has other machines.
    timeline: OnceLock<Box<Mutex<Timeline>>>,
}

/// Tracks which publications are old enough to be called lost if they are missing.
#[derive(Debug, Default)]
struct Settling {
    /// Time of the last publication.
    published_at: AtomicU64,
    /// When `marked` was set.
    marked_at: AtomicU64,
    /// Publications below this index were made before `marked_at`.
    marked: AtomicU32,
    /// Publications below this index are old enough.
    settled: AtomicU32,
}

/// A room's new publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Publication {
    /// Its number in the room, from 0.
    pub index: u32,
    /// Number of members of the room on this machine at that moment, including the sender if it is one.
    pub members: u32,
}

impl Room {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            state: AtomicU64::new(0),
            recent: OnceLock::new(),
            settling: Settling::default(),
            timeline: OnceLock::new(),
        }
    }

    /// Returns the number of members and the index of the next publication.
    pub(super) fn state(&self) -> (u32, u32) {
        let state = self.state.load(Ordering::Acquire);
        ((state >> 32) as u32, state as u32)
    }

    pub(super) fn recent(&self) -> &Recent {
        self.recent.get_or_init(Box::default)
    }

    pub(super) fn publish(&self, sender: UserId, now: Nanos, settle_after: Nanos) -> Option<Publication> {
        // Before the index is assigned, so that no other thread takes this publication for a settled one.
        self.settling.published_at.fetch_max(now, Ordering::AcqRel);
        // Not a plain addition: beyond the last index it would overflow into the member count.
        let before = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                ((state as u32) < PUBLICATIONS_MAX).then_some(state + 1)
            })
            .ok()?;
        let publication = Publication { index: before as u32, members: (before >> 32) as u32 };
        self.recent().set_sender(publication.index, sender);
        self.settling.roll(publication.index, now, settle_after);
        Some(publication)
    }

    /// Records when a publication was made.
    pub(super) fn note_time(&self, index: u32, at: Nanos) {
        let timeline = self.timeline.get_or_init(Box::default);
        // A timeline is consistent between any two operations, so a poisoned lock is safe to use.
        timeline.lock().unwrap_or_else(PoisonError::into_inner).note(index, at);
    }

    pub(super) fn timeline(&self) -> Timeline {
        let timeline = self.timeline.get();
        timeline
            .map(|timeline| timeline.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }

    /// Records a publication of another machine that a member here received; this room represents that machine's.
    pub(super) fn heard(&self, index: u32, sender: UserId) {
        let before = self.state.fetch_max(u64::from(index) + 1, Ordering::AcqRel) as u32;
        // Anything further behind has lost its slot to a later publication.
        if before.saturating_sub(index) <= RECENT_SENDERS {
            self.recent().set_sender(index, sender);
        }
    }

    /// Returns the index of the first publication that the member is to receive.
    pub(super) fn add_member(&self) -> u32 {
        let before = self.state.fetch_add(ONE_MEMBER, Ordering::AcqRel);
        before as u32
    }

    /// Returns the index of the first publication that the member is not to receive.
    pub(super) fn remove_member(&self) -> u32 {
        let one_less = |state: u64| Some(if state >> 32 == 0 { state } else { state - ONE_MEMBER });
        match self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less) {
            Ok(before) | Err(before) => before as u32,
        }
    }

    pub(super) fn settled(&self, now: Nanos, settle_after: Nanos) -> u32 {
        let next = self.state().1;
        if now.saturating_sub(self.settling.published_at.load(Ordering::Acquire)) >= settle_after {
            return next;
        }
        self.settling.roll(next, now, settle_after);
        self.settling.settled.load(Ordering::Acquire)
    }

    /// Returns whether a later publication of the same sender was received before this one; `None` if senders were
    /// forgotten.
    pub(super) fn overtaken_by_same_sender(&self, tracker: &Tracker, stamp: &Stamp) -> Option<bool> {
        let recent = self.recent.get()?;
        // Publications further behind have lost their slots, so there is no point in examining more.
        let mut forgotten = tracker.next() - stamp.index > RECENT_SENDERS;
        let first = (stamp.index + 1).max(tracker.next().saturating_sub(RECENT_SENDERS));
        for index in (first..tracker.next()).rev() {
            if tracker.has_seen(index) != Some(true) {
                continue;
            }
            let sender = recent.sender(index);
            if self.state().1 - index > RECENT_SENDERS {
                forgotten = true;
                break;
            }
            if sender == Some(stamp.sender) {
                return Some(true);
            }
        }
        (!forgotten).then_some(false)
    }

    /// Adjusts an account: withdrawn publications that were not received are not expected; missing doubtful ones are
    /// not lost, because they may never have reached the server.
    pub(super) fn excuse(&self, tracker: &Tracker, settled: u32, mut account: Account) -> Account {
        let Some(recent) = self.recent.get() else { return account };
        let end = tracker.departed().unwrap_or(tracker.next());
        recent.for_each_withdrawn(tracker.joined(), end, |index| {
            let missing = if index < settled { &mut account.lost } else { &mut account.in_flight };
            if tracker.has_seen(index) == Some(false) && *missing > 0 {
                *missing -= 1;
                account.expected -= 1;
            }
        });
        recent.for_each_doubtful(tracker.joined(), end.min(settled), |index| {
            if tracker.has_seen(index) == Some(false) && account.lost > 0 {
                account.lost -= 1;
                account.in_flight += 1;
            }
        });
        account
    }
}

impl Settling {
    /// Once the mark is old enough, everything below it is settled, and the mark moves to publication `next`, since
    /// everything before `next` has been published by now.
    fn roll(&self, next: u32, now: Nanos, settle_after: Nanos) {
        let marked_at = self.marked_at.load(Ordering::Acquire);
        if now.saturating_sub(marked_at) < settle_after {
            return;
        }
        let won = self.marked_at.compare_exchange(marked_at, now, Ordering::AcqRel, Ordering::Acquire);
        if won.is_ok() {
            self.settled.fetch_max(self.marked.load(Ordering::Acquire), Ordering::AcqRel);
            self.marked.fetch_max(next, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_before_they_would_become_members() {
        let room = Room::new("lobby".into());
        room.state.store(ONE_MEMBER | u64::from(PUBLICATIONS_MAX - 1), Ordering::Release);
        assert_eq!(room.publish(1, 0, 1).map(|last| last.index), Some(PUBLICATIONS_MAX - 1));
        assert_eq!(room.publish(1, 0, 1), None);
        assert_eq!(room.state(), (1, PUBLICATIONS_MAX));
    }
}
