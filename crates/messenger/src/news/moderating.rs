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
    fn told(asked: Asked<Self>, answer: &Sanction, notices: &mut NoticeBatch<'_>) {
        let (community, person) = (&asked.call.community, &answer.person);
        let (conversation, kind, until) = (answer.conversation, answer.kind, answer.until);
        notices.happened(&asked, &Happening::Sanctioned { person, conversation, kind, until, on: true });
        let payload = json!({
            "conversation": answer.conversation,
            "kind": answer.kind,
            "until": answer.until,
            "on": true,
        });
        notices.person(community, person, "sanction", &payload.to_string());
        notices.forget_person(community, person);
        match (answer.kind, answer.conversation) {
            (SanctionKind::Ban, Some(conversation)) => {
                notices.banned(community, conversation, person, until);
            }
            (SanctionKind::Ban, None) => notices.expelled(community, person),
            (SanctionKind::Mute, _) => {}
        }
    }
}

impl Told for LiftSanction {
    fn told(asked: Asked<Self>, (): &(), notices: &mut NoticeBatch<'_>) {
        let LiftSanction { person, conversation, kind } = &asked.command;
        let happening = Happening::Sanctioned {
            person,
            conversation: *conversation,
            kind: *kind,
            until: None,
            on: false,
        };
        notices.happened(&asked, &happening);
        let payload = json!({ "conversation": conversation, "kind": kind, "on": false });
        notices.person(&asked.call.community, person, "sanction", &payload.to_string());
        notices.follow_again(&asked.call.community, person);
    }
}

impl Told for Remove {
    fn told(asked: Asked<Self>, (): &(), notices: &mut NoticeBatch<'_>) {
        let Remove { conversation, person } = &asked.command;
        notices.happened(&asked, &Happening::Left { conversation: *conversation, person });
        notices.left(&asked.call.community, *conversation, person, Departure::Removed);
    }
}

impl Told for ReportMessage {
    /// Moderators list reports when they want to. A repeated report has been passed to the community's site already.
    fn told(asked: Asked<Self>, answer: &Reported, notices: &mut NoticeBatch<'_>) {
        if !answer.repeated {
            notices.happened(&asked, &Happening::Reported(&answer.report));
        }
    }
}
