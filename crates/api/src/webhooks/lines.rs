//! What happened in communities whose keys are being read: it waits, each community for itself, so that one whose keys cannot be
//! read holds up nobody but itself. In one community it stays in its order.

use super::announcements::Happened;
use chat::{CommunityId, Delivery, PersonId};
use std::collections::{HashMap, VecDeque};

/// What waits of all communities at most; past it, it is not told, and counted.
const WAITING_MAX: usize = 10_000;
/// The same of one community, so that there is room for the others.
const WAITING_OF_ONE_MAX: usize = 1_000;

/// A community whose keys are being read.
#[derive(Default)]
pub(super) struct Line {
    /// What the store kept when the server ended, and comes first.
    pub(super) kept: Vec<Delivery>,
    /// What happened since.
    pub(super) happened: VecDeque<Happened>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Lines {
    by_community: HashMap<CommunityId, Line>,
    /// Of what happened.
    waiting: usize,
}

/// There is no room for what happened.
#[derive(Debug)]
pub(super) struct Full;

impl Lines {
    /// Whether a community's keys are being read.
    pub(super) fn has(&self, community: &CommunityId) -> bool {
        self.by_community.contains_key(community)
    }

    /// Those whose keys are being read.
    pub(super) fn communities(&self) -> Vec<CommunityId> {
        self.by_community.keys().cloned().collect()
    }

    /// Puts something at the end of its community's line, of which there is one from now on.
    ///
    /// # Errors
    /// Too much waits.
    pub(super) fn push(&mut self, happened: Happened) -> Result<(), Full> {
        let line = self.by_community.entry(happened.community.clone()).or_default();
        if self.waiting >= WAITING_MAX || line.happened.len() >= WAITING_OF_ONE_MAX {
            return Err(Full);
        }
        self.waiting += 1;
        line.happened.push_back(happened);
        Ok(())
    }

    /// Puts something that the store kept behind what it kept before.
    pub(super) fn put_back(&mut self, community: &CommunityId, delivery: Delivery) {
        self.by_community.entry(community.clone()).or_default().kept.push(delivery);
    }

    /// What the store kept and tells of somebody who was erased is forgotten: so has the store.
    pub(super) fn forget_kept(&mut self, community: &CommunityId, person: &PersonId) {
        if let Some(line) = self.by_community.get_mut(community) {
            line.kept.retain(|delivery| delivery.person != *person);
        }
    }

    /// Takes a community's line out.
    pub(super) fn take(&mut self, community: &CommunityId) -> Line {
        let line = self.by_community.remove(community).unwrap_or_default();
        self.waiting -= line.happened.len();
        line
    }
}
