//! Events of communities whose keys are being read: each community has its own line, so that one whose keys cannot be
//! read delays no other. Within a community the order is kept.

use super::announcements::{Erased, Happened};
use chat::{CommunityId, Delivery};
use std::collections::{HashMap, VecDeque};

/// Waiting events in total; beyond it, events are dropped and counted.
const WAITING_MAX: usize = 10_000;
/// Waiting events per community, so that there is room for the others.
const WAITING_OF_ONE_MAX: usize = 1_000;

/// A community whose keys are being read.
#[derive(Default)]
pub(super) struct Line {
    /// Deliveries that the store kept when the server ended; they come first.
    pub(super) kept: Vec<Delivery>,
    /// Events since.
    pub(super) happened: VecDeque<Happened>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Lines {
    by_community: HashMap<CommunityId, Line>,
    /// The number of events in all lines.
    waiting: usize,
}

/// There is no room for an event.
#[derive(Debug)]
pub(super) struct Full;

impl Lines {
    /// Returns whether a community's keys are being read.
    pub(super) fn has(&self, community: &CommunityId) -> bool {
        self.by_community.contains_key(community)
    }

    /// Returns the communities whose keys are being read.
    pub(super) fn communities(&self) -> Vec<CommunityId> {
        self.by_community.keys().cloned().collect()
    }

    /// Appends an event to its community's line, which is created if necessary.
    ///
    /// # Errors
    /// Too many events are waiting.
    pub(super) fn push(&mut self, happened: Happened) -> Result<(), Full> {
        let line = self.by_community.entry(happened.community.clone()).or_default();
        if self.waiting >= WAITING_MAX || line.happened.len() >= WAITING_OF_ONE_MAX {
            return Err(Full);
        }
        self.waiting += 1;
        line.happened.push_back(happened);
        Ok(())
    }

    /// Appends a delivery that the store kept.
    pub(super) fn put_back(&mut self, community: &CommunityId, delivery: Delivery) {
        self.by_community.entry(community.clone()).or_default().kept.push(delivery);
    }

    /// Drops deliveries about an erased person or conversation; the store drops them, too.
    pub(super) fn forget_kept(&mut self, community: &CommunityId, erased: &Erased<'_>) {
        if let Some(line) = self.by_community.get_mut(community) {
            line.kept.retain(|delivery| match erased {
                Erased::Person(person) => delivery.person != **person,
                Erased::Conversation(id) => delivery.conversation != Some(*id),
            });
        }
    }

    /// Removes and returns a community's line.
    pub(super) fn take(&mut self, community: &CommunityId) -> Line {
        let line = self.by_community.remove(community).unwrap_or_default();
        self.waiting -= line.happened.len();
        line
    }
}
