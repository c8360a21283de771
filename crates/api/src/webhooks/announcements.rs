//! What happened, as a host site is notified of it.
//!
//! It is copied when it happens, on the store's thread, and converted to JSON when webhooks are sent.

use crate::shapes::{self, WebhookEvent};
use chat::{
    CommunityId, Conversation, ConversationId, Member, Message, Moment, PersonId, Report, RoomName,
    SanctionKind, Tally,
};
use messenger::Happening;
use serde::Serialize;

/// What happened, and where, when and by whom.
pub(super) struct Happened {
    pub(super) community: CommunityId,
    pub(super) by: PersonId,
    pub(super) at: Moment,
    pub(super) what: What,
}

/// The person and the conversation that a webhook is about. Pending webhooks are dropped when either is erased.
#[derive(Clone)]
pub(super) struct About {
    pub(super) person: PersonId,
    pub(super) conversation: Option<ConversationId>,
}

/// Whose pending webhooks are dropped.
pub(super) enum Erased<'a> {
    Person(&'a PersonId),
    Conversation(ConversationId),
}

/// A copy of a [`Happening`].
pub(super) enum What {
    Sent(Message),
    Changed(Message, Vec<Tally>),
    Deleted(Message),
    Reported(Report),
    Described(Conversation),
    ConversationErased { conversation: ConversationId, name: Option<RoomName> },
    Joined(Member),
    RoleGiven(Member),
    Left { conversation: ConversationId, person: PersonId },
    Sanctioned(Sanctioned),
    Erased(PersonId),
}

/// A person was banned or muted, or the sanction was lifted.
#[derive(Clone, Serialize)]
pub(super) struct Sanctioned {
    person: PersonId,
    conversation: Option<ConversationId>,
    kind: SanctionKind,
    until: Option<Moment>,
    on: bool,
}

impl What {
    pub(super) fn copied(happening: &Happening<'_>) -> Self {
        match *happening {
            Happening::Sent(message) => Self::Sent(message.clone()),
            Happening::Changed(message, reactions) => Self::Changed(message.clone(), reactions.to_vec()),
            Happening::Deleted(message) => Self::Deleted(message.clone()),
            Happening::Reported(report) => Self::Reported(report.clone()),
            Happening::Described(conversation) => Self::Described(conversation.clone()),
            Happening::ConversationErased(erased) => {
                Self::ConversationErased { conversation: erased.id, name: erased.name.clone() }
            }
            Happening::Joined(member) => Self::Joined(member.clone()),
            Happening::RoleGiven(member) => Self::RoleGiven(member.clone()),
            Happening::Left { conversation, person } => Self::Left { conversation, person: person.clone() },
            Happening::Sanctioned { person, conversation, kind, until, on } => {
                Self::Sanctioned(Sanctioned { person: person.clone(), conversation, kind, until, on })
            }
            Happening::Erased(person) => Self::Erased(person.clone()),
        }
    }
}

impl Happened {
    /// Returns the event of it.
    pub(super) const fn event(&self) -> WebhookEvent {
        match self.what {
            What::Sent(_) => WebhookEvent::MessageSent,
            What::Changed(..) => WebhookEvent::MessageChanged,
            What::Deleted(_) => WebhookEvent::MessageDeleted,
            What::Reported(_) => WebhookEvent::MessageReported,
            What::Described(_) => WebhookEvent::RoomChanged,
            What::ConversationErased { .. } => WebhookEvent::RoomErased,
            What::Joined(_) => WebhookEvent::MemberJoined,
            What::RoleGiven(_) => WebhookEvent::MemberRole,
            What::Left { .. } => WebhookEvent::MemberLeft,
            What::Sanctioned(_) => WebhookEvent::SanctionChanged,
            What::Erased(_) => WebhookEvent::PersonErased,
        }
    }

    /// Returns whom and what it concerns. That somebody or something was erased is still to be sent, so it concerns
    /// neither.
    pub(super) fn about(&self) -> About {
        let (person, conversation) = match &self.what {
            What::Sent(message) | What::Changed(message, _) | What::Deleted(message) => {
                (&message.sender, Some(message.conversation))
            }
            What::Reported(report) => (&report.author, Some(report.conversation)),
            What::Described(conversation) => (&self.by, Some(conversation.id)),
            What::ConversationErased { .. } => (&self.by, None),
            What::Joined(member) | What::RoleGiven(member) => (&member.person, Some(member.conversation)),
            What::Left { conversation, person } => (person, Some(*conversation)),
            What::Sanctioned(sanctioned) => (&sanctioned.person, sanctioned.conversation),
            What::Erased(_) => return About { person: PersonId::erased(), conversation: None },
        };
        About { person: person.clone(), conversation }
    }

    /// Returns who or what was erased, if it is that.
    pub(super) fn erased(&self) -> Option<Erased<'_>> {
        match &self.what {
            What::Erased(person) => Some(Erased::Person(person)),
            What::ConversationErased { conversation, .. } => Some(Erased::Conversation(*conversation)),
            What::Sent(_)
            | What::Changed(..)
            | What::Deleted(_)
            | What::Reported(_)
            | What::Described(_)
            | What::Joined(_)
            | What::RoleGiven(_)
            | What::Left { .. }
            | What::Sanctioned(_) => None,
        }
    }

    /// Returns the request's body, with what happened in the API's JSON.
    pub(super) fn body(self) -> String {
        let event = self.event();
        let Self { community, by, at, what } = self;
        let body = Body { event, community, by, at: at.millis(), data: what.into() };
        // These structs of texts, numbers and lists always serialize.
        serde_json::to_string(&body).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Body {
    #[serde(rename = "type")]
    event: WebhookEvent,
    community: CommunityId,
    by: PersonId,
    at: u64,
    data: Data,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Data {
    Message(Box<shapes::Message>),
    Report(Box<shapes::Report>),
    Conversation(Box<shapes::Conversation>),
    ConversationErased {
        conversation: ConversationId,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<RoomName>,
    },
    Member(shapes::Member),
    Left {
        conversation: ConversationId,
        person: PersonId,
    },
    Sanctioned(Sanctioned),
    Erased {
        person: PersonId,
    },
}

impl From<What> for Data {
    fn from(what: What) -> Self {
        match what {
            What::Sent(message) | What::Deleted(message) => Self::Message(Box::new(message.into())),
            What::Changed(message, reactions) => {
                Self::Message(Box::new(shapes::Message::with_reactions(message, reactions)))
            }
            What::Reported(report) => Self::Report(Box::new(report.into())),
            What::Described(conversation) => Self::Conversation(Box::new(conversation.into())),
            What::ConversationErased { conversation, name } => {
                Self::ConversationErased { conversation, name }
            }
            What::Joined(member) | What::RoleGiven(member) => Self::Member(member.into()),
            What::Left { conversation, person } => Self::Left { conversation, person },
            What::Sanctioned(sanctioned) => Self::Sanctioned(sanctioned),
            What::Erased(person) => Self::Erased { person },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(happening: &Happening<'_>) -> String {
        let (community, by) = (CommunityId::parse("acme").expect("an id"), somebody("ann"));
        let happened = Happened { community, by, at: Moment::from_millis(7), what: What::copied(happening) };
        happened.body()
    }

    fn somebody(name: &str) -> PersonId {
        PersonId::parse(name).expect("an id")
    }

    #[test]
    fn a_body_has_its_members_in_the_order_that_is_documented() {
        let guide = include_str!("../../../../docs/api.md");
        let written = guide
            .lines()
            .find(|line| line.starts_with("{\"type\": \"message.sent\""))
            .expect("the guide has one");
        let places: Vec<_> =
            ["type", "community", "by", "at", "data"].iter().map(|name| written.find(name)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{written}");
        assert_eq!(
            body(&Happening::Erased(&somebody("bob"))),
            r#"{"type":"person.erased","community":"acme","by":"ann","at":7,"data":{"person":"bob"}}"#
        );
    }

    #[test]
    fn what_is_told_of_a_sanction_is_what_the_channels_tell() {
        let bob = somebody("bob");
        let sanctioned = Happening::Sanctioned {
            person: &bob,
            conversation: None,
            kind: SanctionKind::Ban,
            until: Some(Moment::from_millis(9)),
            on: true,
        };
        let told = body(&sanctioned);
        let data = r#""data":{"person":"bob","conversation":null,"kind":"ban","until":9,"on":true}}"#;
        assert!(told.starts_with(r#"{"type":"sanction.changed""#) && told.ends_with(data), "{told}");
    }
}
