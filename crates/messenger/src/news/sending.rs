//! A message was sent.

use super::News;
use crate::bulletin::Bulletin;
use crate::witness::Happening;
use chat::verbs::{Append, Appended};
use chat::{Asked, CommunityId, ConversationId};
use serde_json::json;

impl News for Asked<Append> {
    type Kept = (CommunityId, ConversationId);

    fn keep(&self) -> Self::Kept {
        (self.call.community.clone(), self.command.conversation)
    }

    fn tell((community, _): Self::Kept, answer: &Appended, bulletin: &mut Bulletin<'_>) {
        if !answer.repeated {
            bulletin.out.happened(&community, &answer.message.sender, &Happening::Sent(&answer.message));
            bulletin.said(&community, &answer.message, &json!(answer.message).to_string());
        }
    }

    fn doubt((community, conversation): Self::Kept, bulletin: &mut Bulletin<'_>) {
        bulletin.doubted(&community, conversation);
    }
}
