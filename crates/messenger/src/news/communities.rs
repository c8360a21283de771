//! A community, its keys or its retention changed, or it or one of its conversations is being erased: what was read of
//! it is stale.

use super::{News, Told, news};
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{
    ChangeCommunity, ChangeOwnSettings, CommunityErasure, ConversationErasure, CreateCommunity, CreateKey,
    EraseCommunity, EraseConversation, Expire, Expired, FurnishCommunity, Resettled, RevokeKey,
};
use chat::{Asked, Community, CommunityId, Conversation, Key};

news! { CreateCommunity FurnishCommunity ChangeCommunity ChangeOwnSettings }
news! { EraseCommunity EraseConversation CreateKey RevokeKey }

impl Told for CreateCommunity {
    fn told(asked: Asked<Self>, _: &Community, notices: &mut NoticeBatch<'_>) {
        notices.forget_community(&asked.call.community);
    }
}

impl Told for FurnishCommunity {
    fn told(asked: Asked<Self>, (_, room): &(Community, Conversation), notices: &mut NoticeBatch<'_>) {
        notices.forget_community(&asked.call.community);
        notices.happened(&asked, &Happening::Described(room));
    }
}

impl Told for ChangeCommunity {
    fn told(asked: Asked<Self>, answer: &Resettled, notices: &mut NoticeBatch<'_>) {
        resettled(&asked.call.community, answer, notices);
    }
}

impl Told for ChangeOwnSettings {
    fn told(asked: Asked<Self>, answer: &Resettled, notices: &mut NoticeBatch<'_>) {
        resettled(&asked.call.community, answer, notices);
    }
}

/// A community's settings only affect whether guests are admitted.
fn resettled(community: &CommunityId, answer: &Resettled, notices: &mut NoticeBatch<'_>) {
    notices.forget_community(community);
    if answer.guests_changed {
        notices.judge_everybody(community);
    }
}

impl Told for EraseCommunity {
    /// Closed once more at the last step: a person may have been coming in.
    fn told(asked: Asked<Self>, answer: &CommunityErasure, notices: &mut NoticeBatch<'_>) {
        let community = &asked.call.community;
        for key in answer.keys.iter().flatten() {
            notices.keys_changed(community, Some(*key));
        }
        if answer.keys.is_some() || answer.done {
            notices.close_community(community);
        }
    }

    fn doubted(asked: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        notices.close_community(&asked.call.community);
    }
}

impl Told for EraseConversation {
    fn told(asked: Asked<Self>, answer: &ConversationErasure, notices: &mut NoticeBatch<'_>) {
        if let Some(conversation) = &answer.begun {
            notices.happened(&asked, &Happening::ConversationErased(conversation));
            notices.conversation_erased(&asked.call.community, conversation);
        }
    }

    /// It may have been the first step, and later steps announce nothing: everybody who is here is judged again.
    fn doubted(asked: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        notices.forget_community(&asked.call.community);
        notices.judge_everybody(&asked.call.community);
    }
}

impl Told for CreateKey {
    fn told(asked: Asked<Self>, _: &Key, notices: &mut NoticeBatch<'_>) {
        notices.keys_changed(&asked.call.community, None);
    }
}

impl Told for RevokeKey {
    fn told(asked: Asked<Self>, answer: &Key, notices: &mut NoticeBatch<'_>) {
        notices.keys_changed(&asked.call.community, Some(answer.id));
    }
}

impl News for Asked<Expire> {
    type Kept = CommunityId;

    fn keep(&self) -> CommunityId {
        self.call.community.clone()
    }

    fn tell(community: CommunityId, answer: &Expired, notices: &mut NoticeBatch<'_>) {
        if answer.messages > 0 {
            notices.forget_pages(&community);
        }
    }
}
