//! What a node does after it may have missed what others did: it reads again what it keeps.
//!
//! News between nodes is not sent again. A loss is detected ([`nodes`](crate::nodes)); the content is in the store. So
//! everything that depends on it is checked once more: which tokens are revoked, the heads of open rooms, who may be in
//! them, and which conversations people are in. Clients learn what they missed: messages by a room's `head`, edits and
//! deletes as such, their conversations by `conversations:changed`; they ask for reaction counts when the
//! conversation's revision is beyond theirs.

use crate::audience::OpenRoom;
use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, ReadPage};
use chat::{By, CommunityId, Failure};
use serde_json::json;

impl Messenger {
    /// Reconciles if something may have been missed; what the store could not answer is asked again in the next round.
    /// Who may stay and what people follow is only marked here, for the rest of the round.
    pub(crate) async fn reconcile(&self) {
        let inner = &self.inner;
        if !inner.nodes.take_missed() {
            return;
        }
        for community in inner.entrance.communities() {
            self.or_again(self.recall_revocations(&community).await);
        }
        for (community, rooms) in inner.audience.doubt_everything() {
            for room in rooms {
                self.or_again(self.look_again(&community, &room).await);
            }
        }
    }

    fn or_again(&self, outcome: Result<(), Failure>) {
        match outcome {
            Ok(()) => {}
            Err(failure @ Failure::Unavailable(_)) => {
                tracing::warn!(%failure, "missed changes could not be read; the next round retries");
                self.inner.nodes.miss();
            }
            // The community or room no longer exists.
            Err(failure) => {
                tracing::debug!(%failure, "missed changes are not read: the conversation is gone")
            }
        }
    }

    /// Announces the current state of a room to those who have it open.
    async fn look_again(&self, community: &CommunityId, room: &OpenRoom) -> Result<(), Failure> {
        let (inner, conversation) = (&self.inner, room.conversation);
        let read = |around, limit| ReadPage { conversation, around, limit };
        let page = self.ask(community, By::Service, read(Around::Newest, 1)).await?;
        let now = &page.conversation;
        inner.out.tell(&room.topic, "conversation:changed", &json!(now).to_string());
        inner.audience.found(community, conversation, now.last);
        let mut since = room.revision;
        while since < now.revision {
            let page = self.ask(community, By::Service, read(Around::Changed(since), PAGE_MAX)).await?;
            for message in page.messages.iter().map(|shown| &shown.message) {
                since = since.max(message.revision);
                let event = if message.deleted.is_some() { "msg:delete" } else { "msg:edit" };
                inner.out.tell(&room.topic, event, &json!(message).to_string());
            }
            inner.audience.revised(community, conversation, since);
            if !page.more || page.messages.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
