//! A message was sent.

use super::News;
use crate::bulletin::Bulletin;
use chat::verbs::{Append, Appended};
use chat::{Asked, CommunityId};

impl News for Asked<Append> {
    type Kept = CommunityId;

    fn keep(&self) -> CommunityId {
        self.call.community.clone()
    }

    fn tell(community: CommunityId, answer: &Appended, bulletin: &mut Bulletin<'_>) {
        if !answer.repeated {
            bulletin.said(&community, &answer.message);
        }
    }
}
