//! Changes of messages that those who follow a conversation were not told one by one.

use super::Audience;
use super::community::Gathered;
use super::limits::DOUBTED_CHANGES_MAX;
use chat::{CommunityId, ConversationId, PersonId, Seq};
use serde::{Deserialize, Serialize};

/// A change of a message of which nobody knows whether it is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DoubtedChange {
    pub(crate) seq: Seq,
    /// Whose reaction, and which; none: an edit, or that it was deleted.
    pub(crate) reaction: Option<(PersonId, String)>,
}

impl Audience {
    /// A message may have been changed without anybody having been told.
    pub(crate) fn doubt_change(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.with(community, |gathered| gathered.doubt_change(conversation, change));
    }

    /// Changes are told to nobody one by one: whoever follows the conversation is told how far they have come, by and by.
    pub(crate) fn leave_changes_untold(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |gathered| gathered.leave_changes_untold(conversation));
    }
}

impl Gathered {
    fn doubt_change(&mut self, conversation: ConversationId, change: &DoubtedChange) {
        let Some(gathering) = self.conversations.get_mut(&conversation) else { return };
        if gathering.doubted.contains(change) {
            return;
        }
        if gathering.doubted.len() < DOUBTED_CHANGES_MAX {
            gathering.doubted.push(change.clone());
        } else {
            gathering.doubted = Vec::new();
            gathering.has_untold_changes = true;
        }
    }

    fn leave_changes_untold(&mut self, conversation: ConversationId) {
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.has_untold_changes = true;
        }
    }
}
