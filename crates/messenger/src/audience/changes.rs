//! Changes of messages that were not announced one by one to those who follow a conversation.

use super::Audience;
use super::community::CommunityAudience;
use super::limits::{DOUBTED_CHANGES_MAX, ERASED_REACTIONS_TOLD_MAX};
use chat::{CommunityId, ConversationId, PersonId, Revision, Seq};
use serde::{Deserialize, Serialize};

/// A change of a message that may or may not be stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DoubtedChange {
    pub(crate) seq: Seq,
    /// Who reacted, and with which emoji; `None` for an edit or a delete.
    pub(crate) reaction: Option<(PersonId, String)>,
}

impl Audience {
    /// Records that a message may have been changed without an announcement.
    pub(crate) fn doubt_change(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.with(community, |state| state.doubt_change(conversation, change));
    }

    /// Records that a reaction was removed with the person who is being erased. Returns whether it is announced on its
    /// own, or is beyond this round's limit.
    pub(crate) fn tells_erased(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        revision: Revision,
    ) -> bool {
        self.with(community, |state| state.tells_erased(conversation, revision))
    }

    /// Like [`Audience::leave_changes_untold`], for every conversation of a community.
    pub(crate) fn leave_all_changes_untold(&self, community: &CommunityId) {
        self.with(community, |state| {
            state.conversations.values_mut().for_each(|live| live.has_untold_changes = true);
        });
    }

    /// Changes are not announced one by one: the conversation's followers are sent its revision in a later round.
    pub(crate) fn leave_changes_untold(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |state| state.leave_changes_untold(conversation));
    }
}

impl CommunityAudience {
    fn doubt_change(&mut self, conversation: ConversationId, change: &DoubtedChange) {
        let Some(live) = self.conversations.get_mut(&conversation) else { return };
        if live.doubted.contains(change) {
            return;
        }
        if live.doubted.len() < DOUBTED_CHANGES_MAX {
            live.doubted.push(change.clone());
        } else {
            live.doubted = Vec::new();
            live.has_untold_changes = true;
        }
    }

    fn tells_erased(&mut self, conversation: ConversationId, revision: Revision) -> bool {
        let Some(live) = self.conversations.get_mut(&conversation) else { return false };
        live.revision = live.revision.max(revision);
        if live.erased_told < ERASED_REACTIONS_TOLD_MAX {
            live.erased_told += 1;
            return true;
        }
        live.has_untold_changes = true;
        false
    }

    fn leave_changes_untold(&mut self, conversation: ConversationId) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.has_untold_changes = true;
        }
    }
}
