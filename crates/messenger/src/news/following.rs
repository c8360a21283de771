//! A person's cursors moved, or they muted or archived a conversation: their other devices are updated, and if receipts
//! are on, the others see how far they have read.

use super::{Told, news};
use crate::notice_batch::NoticeBatch;
use chat::Asked;
use chat::verbs::{Advance, Advanced, Keep};
use serde_json::json;

news! { Advance Keep }

impl Told for Advance {
    fn told(asked: Asked<Self>, answer: &Advanced, notices: &mut NoticeBatch<'_>) {
        if !answer.moved {
            return;
        }
        let (community, member) = (&asked.call.community, &answer.member);
        let own = json!({
            "conversation": member.conversation,
            "read": member.read,
            "delivered": member.delivered,
            "unread": answer.unread,
        });
        notices.person(community, &member.person, "cursors", &own.to_string());
        notices.forget_standing(community, member.conversation, &member.person);
        if answer.receipts {
            let receipt = json!({
                "conversation": member.conversation,
                "person": member.person,
                "read": member.read,
                "delivered": member.delivered,
            });
            notices.receipt(community, member.conversation, &member.person, &receipt.to_string());
        }
    }
}

impl Told for Keep {
    fn told(asked: Asked<Self>, member: &chat::Member, notices: &mut NoticeBatch<'_>) {
        let community = &asked.call.community;
        let payload = json!({
            "conversation": member.conversation,
            "muted": member.muted,
            "archived": member.archived,
        });
        notices.forget_standing(community, member.conversation, &member.person);
        notices.person(community, &member.person, "conversation:kept", &payload.to_string());
    }
}
