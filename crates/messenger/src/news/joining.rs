//! A person joined, left or was invited.

use super::{Told, news};
use crate::notice::Departure;
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{Invite, Invited, Join, Joined, Leave, Withdraw};
use chat::{Asked, Conversation, Invitation};
use serde_json::json;

news! { Join Leave Invite Withdraw }

impl Told for Join {
    fn told(asked: Asked<Self>, answer: &Joined, notices: &mut NoticeBatch<'_>) {
        if answer.came {
            notices.happened(&asked, &Happening::Joined(&answer.member));
            let community = &asked.call.community;
            notices.entered(community, &answer.conversation, &answer.member);
        }
    }
}

impl Told for Leave {
    fn told(asked: Asked<Self>, answer: &Conversation, notices: &mut NoticeBatch<'_>) {
        let person = asked.call.by.name();
        notices.happened(&asked, &Happening::Left { conversation: answer.id, person: &person });
        notices.left(&asked.call.community, answer.id, &person, Departure::Left);
    }
}

impl Told for Invite {
    /// A repeated invitation was announced the first time.
    fn told(asked: Asked<Self>, answer: &Invited, notices: &mut NoticeBatch<'_>) {
        let Invited { invitation, repeated } = answer;
        if let Some(person) = invitation.person.as_ref().filter(|_| !repeated) {
            notices.person(&asked.call.community, person, "invitation", &json!(invitation).to_string());
        }
    }
}

impl Told for Withdraw {
    /// An invitation for anybody who has its id was sent to nobody.
    fn told(asked: Asked<Self>, answer: &Invitation, notices: &mut NoticeBatch<'_>) {
        if let Some(person) = &answer.person {
            let payload = json!({ "id": answer.id });
            notices.person(&asked.call.community, person, "invitation:withdrawn", &payload.to_string());
        }
    }
}
