//! What a node does that may have missed what others did: it reads again what it keeps.
//!
//! News among nodes are not sent again. Whether one was missed is seen ([`nodes`](crate::nodes)); what was missed is in the
//! store. So everything that depends on it is looked at once more: which tokens are revoked, how far open rooms have come,
//! who may be in them, and what people are in. Clients learn what they have not been told: of messages by a room's `head`,
//! of edits and deletes themselves, of their conversations by `conversations:changed`; tallies of reactions they ask for
//! where the conversation's revision is beyond theirs.

use crate::audience::OpenRoom;
use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, ReadPage};
use chat::{By, CommunityId, Failure};
use serde_json::json;

impl Messenger {
    /// Does it, if something may have been missed; what the store could not say is asked again in the next round. Whom people
    /// follow and who may stay is only marked: that is for the rest of the round.
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
                tracing::warn!(%failure, "what was missed could not be read; the next round tries again");
                self.inner.nodes.miss();
            }
            // It is there no more.
            Err(failure) => tracing::debug!(%failure, "what was missed is not to be read"),
        }
    }

    /// Tells those who have a room open how it stands.
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
