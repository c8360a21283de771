//! A community, its keys or what it keeps changed: what was read of it is stale.

use super::{News, Told, news};
use crate::bulletin::Bulletin;
use chat::verbs::{ChangeCommunity, CreateCommunity, CreateKey, Expire, Expired, Resettled, RevokeKey};
use chat::{Asked, Community, CommunityId, Key};

news! { CreateCommunity ChangeCommunity CreateKey RevokeKey }

impl Told for CreateCommunity {
    fn told(asked: Asked<Self>, _: &Community, bulletin: &mut Bulletin<'_>) {
        bulletin.forget_community(&asked.call.community);
    }
}

impl Told for ChangeCommunity {
    /// Guests alone are in or out by a community's settings.
    fn told(asked: Asked<Self>, answer: &Resettled, bulletin: &mut Bulletin<'_>) {
        bulletin.forget_community(&asked.call.community);
        if answer.guests_changed {
            bulletin.judge_everybody(&asked.call.community);
        }
    }
}

impl Told for CreateKey {
    fn told(asked: Asked<Self>, _: &Key, bulletin: &mut Bulletin<'_>) {
        bulletin.keys_changed(&asked.call.community, None);
    }
}

impl Told for RevokeKey {
    fn told(asked: Asked<Self>, answer: &Key, bulletin: &mut Bulletin<'_>) {
        bulletin.keys_changed(&asked.call.community, Some(answer.id));
    }
}

impl News for Asked<Expire> {
    type Kept = CommunityId;

    fn keep(&self) -> CommunityId {
        self.call.community.clone()
    }

    fn tell(community: CommunityId, answer: &Expired, bulletin: &mut Bulletin<'_>) {
        if answer.messages > 0 {
            bulletin.forget_pages(&community);
        }
    }
}
