//! One room: its publications, its members, and what is old enough to be called lost.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::ledger::recent::{RECENT_SENDERS, Recent};
use crate::ledger::{Account, Stamp, Timeline, Tracker};
use crate::observe::{Nanos, UserId};

/// Publications of one room that can be numbered; further ones have no index and are not judged.
pub(super) const PUBLICATIONS_MAX: u32 = u32::MAX - 1;

/// Where [`Room::state`] counts members.
const ONE_MEMBER: u64 = 1 << 32;

#[derive(Debug)]
pub(super) struct Room {
    pub(super) name: Arc<str>,
    /// Members above, next publication below, so that both are read and changed at the same moment.
    state: AtomicU64,
    recent: OnceLock<Box<Recent>>,
    settling: Settling,
    /// When what was published, where other machines want to know it.
    timeline: OnceLock<Box<Mutex<Timeline>>>,
}

/// Which publications are old enough to be called lost when they are missing.
#[derive(Debug, Default)]
struct Settling {
    /// When the last publication was.
    published_at: AtomicU64,
    /// When `marked` was set.
    marked_at: AtomicU64,
    /// Publications below were made before `marked_at`.
    marked: AtomicU32,
    /// Publications below are old enough.
    settled: AtomicU32,
}

/// A room's new publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Publication {
    /// Its number in the room, from 0.
    pub index: u32,
    /// Members of the room on this machine at that moment, the sender included if it is one.
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

    /// Members and next publication.
    pub(super) fn state(&self) -> (u32, u32) {
        let state = self.state.load(Ordering::Acquire);
        ((state >> 32) as u32, state as u32)
    }

    pub(super) fn recent(&self) -> &Recent {
        self.recent.get_or_init(Box::default)
    }

    pub(super) fn publish(&self, sender: UserId, now: Nanos, settle_after: Nanos) -> Option<Publication> {
        // Before the number is given out, so that nobody takes a publication of now for a settled one.
        self.settling.published_at.fetch_max(now, Ordering::AcqRel);
        // Not a plain addition: beyond the last number it would make a member.
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

    /// Remembers when a publication was made.
    pub(super) fn note_time(&self, index: u32, at: Nanos) {
        let timeline = self.timeline.get_or_init(Box::default);
        // A timeline is whole between any two operations.
        timeline.lock().unwrap_or_else(PoisonError::into_inner).note(index, at);
    }

    pub(super) fn timeline(&self) -> Timeline {
        let timeline = self.timeline.get();
        timeline
            .map(|timeline| timeline.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }

    /// A publication of another machine's has come to a member here, for a room that stands for that machine's.
    pub(super) fn heard(&self, index: u32, sender: UserId) {
        let before = self.state.fetch_max(u64::from(index) + 1, Ordering::AcqRel) as u32;
        // What is that far behind has lost its place to a later one.
        if before.saturating_sub(index) <= RECENT_SENDERS {
            self.recent().set_sender(index, sender);
        }
    }

    /// Returns the first publication that the member is to get.
    pub(super) fn add_member(&self) -> u32 {
        let before = self.state.fetch_add(ONE_MEMBER, Ordering::AcqRel);
        before as u32
    }

    /// Returns the first publication that the member is not to get.
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

    /// Whether a later publication of the same sender came before this one; `None` where senders were forgotten.
    pub(super) fn overtaken_by_same_sender(&self, tracker: &Tracker, stamp: &Stamp) -> Option<bool> {
        let recent = self.recent.get()?;
        // Publications that far behind have lost their place, so there is no point in looking at more.
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

    /// Publications that were taken back and did not come are not expected; those in doubt are not lost: they may never
    /// have reached the server.
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
    /// Once the mark is old enough, what lies below it is settled, and the mark moves to publication `next`, before
    /// which everything was published by now.
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
