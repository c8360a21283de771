//! Somebody came, went or was invited.

use super::{Told, news};
use crate::bulletin::Bulletin;
use crate::notice::Departure;
use crate::witness::Happening;
use chat::verbs::{Invite, Join, Joined, Leave, Withdraw};
use chat::{Asked, By, Conversation, Invitation};
use serde_json::json;

news! { Join Leave Invite Withdraw }

impl Told for Join {
    fn told(asked: Asked<Self>, answer: &Joined, bulletin: &mut Bulletin<'_>) {
        if answer.came {
            bulletin.happened(&asked, &Happening::Joined(&answer.member));
            let community = &asked.call.community;
            bulletin.entered(community, &answer.conversation, &answer.member);
        }
    }
}

impl Told for Leave {
    fn told(asked: Asked<Self>, answer: &Conversation, bulletin: &mut Bulletin<'_>) {
        let person = asked.call.by.name();
        bulletin.happened(&asked, &Happening::Left { conversation: answer.id, person: &person });
        bulletin.left(&asked.call.community, answer.id, &person, Departure::Left);
    }
}

impl Told for Invite {
    fn told(asked: Asked<Self>, answer: &Invitation, bulletin: &mut Bulletin<'_>) {
        if let Some(person) = &answer.person {
            bulletin.person(&asked.call.community, person, "invitation", &json!(answer).to_string());
        }
    }
}

impl Told for Withdraw {
    /// Whose it was is not in the answer: the asker's own devices are told, the invited one's list shows it when it is
    /// read again.
    fn told(asked: Asked<Self>, (): &(), bulletin: &mut Bulletin<'_>) {
        if let By::Person(person) = &asked.call.by {
            let payload = json!({ "id": asked.command.invitation });
            bulletin.person(&asked.call.community, person, "invitation:withdrawn", &payload.to_string());
        }
    }
}
