//! What is to be looked at again when this node may have missed what others did: everything that it keeps of who is here.

use super::Audience;
use super::community::Gathered;
use chat::{CommunityId, ConversationId, Revision, Seq};
use std::sync::Arc;

/// A room that somebody has open, and how far it has come as far as its members were told.
#[derive(Clone, Debug)]
pub(crate) struct OpenRoom {
    pub(crate) conversation: ConversationId,
    pub(crate) topic: Arc<str>,
    pub(crate) revision: Revision,
}

impl Audience {
    /// Whoever is here is judged again, and what they follow is read again, by and by. Says which rooms are open.
    pub(crate) fn doubt_everything(&self) -> Vec<(CommunityId, Vec<OpenRoom>)> {
        let mut rooms = Vec::new();
        for part in &self.parts {
            for (community, gathered) in super::lock(part).iter_mut() {
                rooms.push((community.clone(), gathered.doubt_everything()));
            }
        }
        rooms
    }

    /// So far conversations have come, as was read. Says whether one has come farther than was told.
    pub(crate) fn note_heads(&self, community: &CommunityId, heads: &[(ConversationId, Seq)]) -> bool {
        self.with(community, |gathered| gathered.note_heads(heads))
    }
}

impl Gathered {
    fn doubt_everything(&mut self) -> Vec<OpenRoom> {
        self.people.values_mut().for_each(|present| present.stale = true);
        let mut rooms = Vec::new();
        for (id, gathering) in &mut self.conversations {
            let Some(topic) = &gathering.topic else { continue };
            gathering.to_judge = true;
            rooms.push(OpenRoom { conversation: *id, topic: topic.clone(), revision: gathering.revision });
        }
        rooms
    }

    fn note_heads(&mut self, heads: &[(ConversationId, Seq)]) -> bool {
        let mut is_farther = false;
        for (id, seq) in heads {
            if let Some(gathering) = self.conversations.get_mut(id).filter(|known| known.head < *seq) {
                gathering.head = *seq;
                is_farther = true;
            }
        }
        is_farther
    }
}
