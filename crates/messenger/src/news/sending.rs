//! A message was sent.

use super::News;
use crate::notice_batch::NoticeBatch;
use chat::verbs::{Append, Appended};
use chat::{Asked, CommunityId, ConversationId};

impl News for Asked<Append> {
    type Kept = (CommunityId, ConversationId);

    fn keep(&self) -> Self::Kept {
        (self.call.community.clone(), self.command.conversation)
    }

    fn tell((community, _): Self::Kept, answer: &Appended, notices: &mut NoticeBatch<'_>) {
        if !answer.repeated {
            notices.said(&community, &answer.message);
        }
    }

    fn doubt((community, conversation): Self::Kept, notices: &mut NoticeBatch<'_>) {
        notices.doubted(&community, conversation);
    }
}
