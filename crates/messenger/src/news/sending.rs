//! A message was sent.

use super::News;
use crate::bulletin::Bulletin;
use crate::witness::Happening;
use chat::verbs::{Append, Appended};
use chat::{Asked, CommunityId};
use serde_json::json;

impl News for Asked<Append> {
    type Kept = CommunityId;

    fn keep(&self) -> CommunityId {
        self.call.community.clone()
    }

    fn tell(community: CommunityId, answer: &Appended, bulletin: &mut Bulletin<'_>) {
        if !answer.repeated {
            bulletin.out.happened(&community, &answer.message.sender, &Happening::Sent(&answer.message));
            bulletin.said(&community, &answer.message, &json!(answer.message).to_string());
        }
    }
}
