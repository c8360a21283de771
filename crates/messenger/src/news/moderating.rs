//! Moderation: those who may not stay are evicted, and those whom it concerns are notified.

use super::{Told, news};
use crate::notice::Departure;
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{ImposeSanction, LiftSanction, Remove, ReportMessage, Reported};
use chat::{Asked, Sanction, SanctionKind};
use serde_json::json;

news! { ImposeSanction LiftSanction Remove ReportMessage }

impl Told for ImposeSanction {
    /// The reason is for moderators only.
    fn told(asked: Asked<Self>, answer: &Sanction, bulletin: &mut NoticeBatch<'_>) {
        let (community, person) = (&asked.call.community, &answer.person);
        let (conversation, kind, until) = (answer.conversation, answer.kind, answer.until);
        bulletin.happened(&asked, &Happening::Sanctioned { person, conversation, kind, until, on: true });
        let payload = json!({
            "conversation": answer.conversation,
            "kind": answer.kind,
            "until": answer.until,
            "on": true,
        });
        bulletin.person(community, person, "sanction", &payload.to_string());
        bulletin.forget_person(community, person);
        match (answer.kind, answer.conversation) {
            (SanctionKind::Ban, Some(conversation)) => {
                bulletin.banned(community, conversation, person, until);
            }
            (SanctionKind::Ban, None) => bulletin.expelled(community, person),
            (SanctionKind::Mute, _) => {}
        }
    }
}

impl Told for LiftSanction {
    fn told(asked: Asked<Self>, (): &(), bulletin: &mut NoticeBatch<'_>) {
        let LiftSanction { person, conversation, kind } = &asked.command;
        let happening = Happening::Sanctioned {
            person,
            conversation: *conversation,
            kind: *kind,
            until: None,
            on: false,
        };
        bulletin.happened(&asked, &happening);
        let payload = json!({ "conversation": conversation, "kind": kind, "on": false });
        bulletin.person(&asked.call.community, person, "sanction", &payload.to_string());
        bulletin.follow_again(&asked.call.community, person);
    }
}

impl Told for Remove {
    fn told(asked: Asked<Self>, (): &(), bulletin: &mut NoticeBatch<'_>) {
        let Remove { conversation, person } = &asked.command;
        bulletin.happened(&asked, &Happening::Left { conversation: *conversation, person });
        bulletin.left(&asked.call.community, *conversation, person, Departure::Removed);
    }
}

impl Told for ReportMessage {
    /// Moderators list reports when they want to. A repeated report has been passed to the community's site already.
    fn told(asked: Asked<Self>, answer: &Reported, bulletin: &mut NoticeBatch<'_>) {
        if !answer.repeated {
            bulletin.happened(&asked, &Happening::Reported(&answer.report));
        }
    }
}
