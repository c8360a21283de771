//! What each verb's answer means for a host site. A command that does not stand here cannot be asked by any operation, so
//! none can be forgotten.

use crate::shapes::{Conversation, Member, Message, Report, Sanction, WebhookEvent};
use chat::verbs::{
    Advance, Append, AuditLog, BlockPerson, Blocks, ChangeCommunity, ChangeRoom, Conversations,
    CreateCommunity, CreateKey, CreateRoom, Delete, EditText, EditsOf, Erase, Expire, Export, FindRoom,
    Invitations, Invite, Join, Keep, Keys, Leave, Lift, Meet, Members, OpenDirect, OpenGroup, People, Punish,
    React, ReadCommunity, ReadConversation, ReadMessage, ReadPage, ReadPerson, ReadReceipts, Remove,
    ReportMessage, Reports, RevokeKey, Rooms, Sanctions, SearchMessages, SetReceipts, SetRole, Settle,
    UnblockPerson, Withdraw,
};
use chat::{Asked, Call, Verb};
use serde::Serialize;
use serde_json::{Value, json};

/// What a command is answered.
pub(crate) type AnswerTo<C> = <Asked<C> as Verb>::Answer;

/// Something that a host site may want to know.
#[derive(Debug)]
pub(crate) struct Announcement {
    pub(crate) event: WebhookEvent,
    pub(crate) data: Value,
}

/// A command, and what its answer means for a host site.
pub(crate) trait Announce: Clone + Send + Sync + 'static
where
    Asked<Self>: Verb,
{
    /// What a host site may be told of it.
    fn announcement(&self, call: &Call, answer: &AnswerTo<Self>) -> Option<Announcement>;
}

fn told(event: WebhookEvent, data: impl Serialize) -> Option<Announcement> {
    // Shapes are structs of texts, numbers and lists, and so always JSON.
    Some(Announcement { event, data: serde_json::to_value(data).unwrap_or_default() })
}

/// Commands that change nothing which a site may want to know.
macro_rules! silent {
    ($($command:ty)*) => {$(
        impl Announce for $command {
            fn announcement(&self, _: &Call, _: &AnswerTo<Self>) -> Option<Announcement> {
                None
            }
        }
    )*};
}

silent! {
    Advance AuditLog BlockPerson Blocks ChangeCommunity Conversations CreateCommunity CreateKey EditsOf Expire Export
    FindRoom Invitations Invite Keep Keys Meet Members People ReadCommunity ReadConversation ReadMessage ReadPage
    ReadPerson ReadReceipts Reports RevokeKey Rooms Sanctions SearchMessages SetReceipts Settle UnblockPerson Withdraw
}

impl Announce for Append {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        if answer.repeated {
            return None;
        }
        told(WebhookEvent::MessageSent, Message::from(answer.message.clone()))
    }
}

impl Announce for EditText {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        changed(WebhookEvent::MessageChanged, answer)
    }
}

impl Announce for React {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        changed(WebhookEvent::MessageChanged, answer)
    }
}

impl Announce for Delete {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        changed(WebhookEvent::MessageDeleted, answer)
    }
}

fn changed(event: WebhookEvent, answer: &chat::verbs::Changed) -> Option<Announcement> {
    if !answer.changed {
        return None;
    }
    told(event, Message::with_reactions(answer.message.clone(), answer.reactions.clone()))
}

impl Announce for ReportMessage {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        told(WebhookEvent::MessageReported, Report::from(answer.clone()))
    }
}

macro_rules! rooms {
    ($($command:ty)*) => {$(
        impl Announce for $command {
            fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
                told(WebhookEvent::RoomChanged, Conversation::from(answer.clone()))
            }
        }
    )*};
}

rooms! { CreateRoom ChangeRoom OpenGroup }

/// It answers alike whether the conversation was there before.
impl Announce for OpenDirect {
    fn announcement(&self, _: &Call, _: &AnswerTo<Self>) -> Option<Announcement> {
        None
    }
}

impl Announce for Join {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        if !answer.came {
            return None;
        }
        told(WebhookEvent::MemberJoined, Member::from(answer.member.clone()))
    }
}

impl Announce for SetRole {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        told(WebhookEvent::MemberJoined, Member::from(answer.clone()))
    }
}

impl Announce for Leave {
    fn announcement(&self, call: &Call, _: &AnswerTo<Self>) -> Option<Announcement> {
        let data = json!({ "conversation": self.conversation, "person": call.by.name() });
        told(WebhookEvent::MemberLeft, data)
    }
}

impl Announce for Remove {
    fn announcement(&self, _: &Call, _: &AnswerTo<Self>) -> Option<Announcement> {
        let data = json!({ "conversation": self.conversation, "person": self.person });
        told(WebhookEvent::MemberLeft, data)
    }
}

impl Announce for Punish {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        told(WebhookEvent::SanctionChanged, json!({ "on": true, "sanction": Sanction::from(answer.clone()) }))
    }
}

impl Announce for Lift {
    fn announcement(&self, _: &Call, _: &AnswerTo<Self>) -> Option<Announcement> {
        let sanction =
            json!({ "person": self.person, "conversation": self.conversation, "kind": self.kind.name() });
        told(WebhookEvent::SanctionChanged, json!({ "on": false, "sanction": sanction }))
    }
}

impl Announce for Erase {
    fn announcement(&self, _: &Call, answer: &AnswerTo<Self>) -> Option<Announcement> {
        if !answer.done {
            return None;
        }
        told(WebhookEvent::PersonErased, json!({ "person": self.person }))
    }
}
