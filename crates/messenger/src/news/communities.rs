//! A community, its keys or what it keeps changed, or it is erased: what was read of it is stale.

use super::{News, Told, news};
use crate::bulletin::Bulletin;
use chat::verbs::{
    ChangeCommunity, ChangeOwnSettings, CommunityErasure, CreateCommunity, CreateKey, EraseCommunity, Expire,
    Expired, Resettled, RevokeKey,
};
use chat::{Asked, Community, CommunityId, Key};

news! { CreateCommunity ChangeCommunity ChangeOwnSettings EraseCommunity CreateKey RevokeKey }

impl Told for CreateCommunity {
    fn told(asked: Asked<Self>, _: &Community, bulletin: &mut Bulletin<'_>) {
        bulletin.forget_community(&asked.call.community);
    }
}

impl Told for ChangeCommunity {
    fn told(asked: Asked<Self>, answer: &Resettled, bulletin: &mut Bulletin<'_>) {
        resettled(&asked.call.community, answer, bulletin);
    }
}

impl Told for ChangeOwnSettings {
    fn told(asked: Asked<Self>, answer: &Resettled, bulletin: &mut Bulletin<'_>) {
        resettled(&asked.call.community, answer, bulletin);
    }
}

/// Guests alone are in or out by a community's settings.
fn resettled(community: &CommunityId, answer: &Resettled, bulletin: &mut Bulletin<'_>) {
    bulletin.forget_community(community);
    if answer.guests_changed {
        bulletin.judge_everybody(community);
    }
}

impl Told for EraseCommunity {
    /// Once more at the end: somebody may have been on the way in.
    fn told(asked: Asked<Self>, answer: &CommunityErasure, bulletin: &mut Bulletin<'_>) {
        let community = &asked.call.community;
        for key in answer.keys.iter().flatten() {
            bulletin.keys_changed(community, Some(*key));
        }
        if answer.keys.is_some() || answer.done {
            bulletin.close_community(community);
        }
    }

    fn doubted(asked: Asked<Self>, bulletin: &mut Bulletin<'_>) {
        bulletin.close_community(&asked.call.community);
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
