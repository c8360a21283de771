//! How a community looks, as far as those were told who are here.

use super::Audience;
use super::community::Gathered;
use chat::CommunityId;
use std::sync::Arc;

/// What is known of that.
#[derive(Default)]
pub(super) struct KnownLook {
    /// What was told last; none before somebody came.
    told: Option<Arc<str>>,
    /// Whether it may be another by now.
    pub(super) is_doubtful: bool,
}

impl Audience {
    /// Somebody is answered that. The first decides what everybody is taken to know.
    pub(crate) fn know_look(&self, community: &CommunityId, payload: &str) -> Arc<str> {
        let mut part = self.part(community);
        let Some(gathered) = part.get_mut(community) else { return payload.into() };
        let told = gathered.look.told.get_or_insert_with(|| payload.into());
        if **told == *payload { told.clone() } else { payload.into() }
    }

    /// What was told since somebody was answered that, if it is something else.
    pub(crate) fn newer_look(&self, community: &CommunityId, known: &str) -> Option<Arc<str>> {
        self.with(community, |gathered| gathered.look.told.clone().filter(|told| **told != *known))
    }

    /// It may be another by now.
    pub(crate) fn doubt_look(&self, community: &CommunityId) {
        self.with(community, |gathered| gathered.look.is_doubtful = true);
    }

    /// It is that now. Says on which topics it is to be told: those of all people who are here, and of all open rooms, unless they
    /// know it already.
    pub(crate) fn change_look(&self, community: &CommunityId, payload: &str) -> Vec<Arc<str>> {
        self.with(community, |gathered| gathered.change_look(payload))
    }
}

impl Gathered {
    fn change_look(&mut self, payload: &str) -> Vec<Arc<str>> {
        match &mut self.look.told {
            Some(told) if **told != *payload => *told = payload.into(),
            // Who was answered nothing yet is answered what there is by then.
            Some(_) | None => return Vec::new(),
        }
        let rooms = self.conversations.values().filter_map(|gathering| gathering.topic.clone());
        rooms.chain(self.people.values().map(|present| present.topic.clone())).collect()
    }
}
