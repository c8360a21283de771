//! The name and look of a community, as those online last got it.

use super::Audience;
use super::community::CommunityAudience;
use chat::CommunityId;
use std::sync::Arc;

/// What is known of it.
#[derive(Default)]
pub(super) struct KnownLook {
    /// What was last sent; `None` before anybody came.
    told: Option<Arc<str>>,
    /// Whether it may have changed since.
    pub(super) is_doubtful: bool,
}

impl Audience {
    /// Records that a person is answered this. The first answer sets what everybody is taken to know.
    pub(crate) fn know_look(&self, community: &CommunityId, payload: &str) -> Arc<str> {
        let mut part = self.part(community);
        let Some(state) = part.get_mut(community) else { return payload.into() };
        let told = state.look.told.get_or_insert_with(|| payload.into());
        if **told == *payload { told.clone() } else { payload.into() }
    }

    /// Returns what was sent since a person was answered `known`, if it differs.
    pub(crate) fn newer_look(&self, community: &CommunityId, known: &str) -> Option<Arc<str>> {
        self.with(community, |state| state.look.told.clone().filter(|told| **told != *known))
    }

    /// Marks it as possibly changed.
    pub(crate) fn doubt_look(&self, community: &CommunityId) {
        self.with(community, |state| state.look.is_doubtful = true);
    }

    /// Records the current look. Returns the topics to send it to: those of all people online and of all open rooms, or
    /// none if it is what they know.
    pub(crate) fn change_look(&self, community: &CommunityId, payload: &str) -> Vec<Arc<str>> {
        self.with(community, |state| state.change_look(payload))
    }
}

impl CommunityAudience {
    fn change_look(&mut self, payload: &str) -> Vec<Arc<str>> {
        match &mut self.look.told {
            Some(told) if **told != *payload => *told = payload.into(),
            // Nobody has been answered yet; they will be answered with the current look.
            Some(_) | None => return Vec::new(),
        }
        let rooms = self.conversations.values().filter_map(|live| live.topic.clone());
        rooms.chain(self.people.values().map(|present| present.topic.clone())).collect()
    }
}
