//! What happens, as a host site is told of it.

use crate::shapes::{Conversation, Member, Message, Report, WebhookEvent};
use messenger::Happening;
use serde::Serialize;
use serde_json::{Value, json};

/// Which event that is.
pub(super) fn event(happening: &Happening<'_>) -> WebhookEvent {
    match happening {
        Happening::Sent(_) => WebhookEvent::MessageSent,
        Happening::Changed(..) => WebhookEvent::MessageChanged,
        Happening::Deleted(_) => WebhookEvent::MessageDeleted,
        Happening::Reported(_) => WebhookEvent::MessageReported,
        Happening::Described(_) => WebhookEvent::RoomChanged,
        Happening::Joined(_) => WebhookEvent::MemberJoined,
        Happening::Left { .. } => WebhookEvent::MemberLeft,
        Happening::Sanctioned { .. } => WebhookEvent::SanctionChanged,
        Happening::Erased(_) => WebhookEvent::PersonErased,
    }
}

/// What is told of it, in the shapes of the API.
pub(super) fn data(happening: &Happening<'_>) -> Value {
    match happening {
        Happening::Sent(message) | Happening::Deleted(message) => value(Message::from((*message).clone())),
        Happening::Changed(message, reactions) => {
            value(Message::with_reactions((*message).clone(), reactions.to_vec()))
        }
        Happening::Reported(report) => value(Report::from((*report).clone())),
        Happening::Described(conversation) => value(Conversation::from((*conversation).clone())),
        Happening::Joined(member) => value(Member::from((*member).clone())),
        Happening::Left { conversation, person } => json!({ "conversation": conversation, "person": person }),
        Happening::Sanctioned { person, conversation, kind, until, on } => json!({
            "person": person, "conversation": conversation, "kind": kind, "until": until, "on": on,
        }),
        Happening::Erased(person) => json!({ "person": person }),
    }
}

fn value(shape: impl Serialize) -> Value {
    // Shapes are structs of texts, numbers and lists, and so always JSON.
    serde_json::to_value(shape).unwrap_or_default()
}
