//! Rooms, direct conversations and groups: creating, changing, joining and leaving; invitations.

use super::{Answering, Asker, payload};
use crate::fault::{ErrorCode, Fault};
use chat::verbs::{
    ChangeRoom, CreateRoom, Invitations, Invite, Invited, Join, Joined, Leave, OpenDirect, OpenGroup,
    ReadConversation, Withdraw,
};
use chat::{By, Conversation, ConversationId, Invitation, InvitationId, Kind, Moment, PersonId, RoomName};
use gateway::Payload;
use serde::Deserialize;
use serde_json::{Value, json};

fn conversation_json(conversation: Conversation) -> Value {
    json!({ "conversation": conversation })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectRequest {
    with: PersonId,
}

pub(super) fn direct(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let DirectRequest { with } = payload(body)?;
    asker.require_all_rooms()?;
    Ok(asker.ask(OpenDirect { with }, conversation_json))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupRequest {
    with: Vec<PersonId>,
    #[serde(default)]
    title: String,
}

pub(super) fn group(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let GroupRequest { with, title } = payload(body)?;
    asker.require_all_rooms()?;
    Ok(asker.ask(OpenGroup { with, title }, conversation_json))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateRequest {
    name: RoomName,
    kind: Kind,
    title: String,
    #[serde(default)]
    topic: String,
    #[serde(default)]
    slow_mode_s: u32,
}

pub(super) fn create(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let CreateRequest { name, kind, title, topic, slow_mode_s } = payload(body)?;
    asker.require_all_rooms()?;
    Ok(asker.ask(CreateRoom { name, kind, title, topic, slow_mode_s }, conversation_json))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeRequest {
    conversation: Option<ConversationId>,
    kind: Option<Kind>,
    title: Option<String>,
    topic: Option<String>,
    slow_mode_s: Option<u32>,
}

pub(super) fn change(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ChangeRequest { conversation, kind, title, topic, slow_mode_s } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let change = ChangeRoom { conversation, kind, title, topic, slow_mode_s };
    Ok(asker.ask_about(conversation, change, conversation_json))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinRequest {
    conversation: Option<ConversationId>,
    room: Option<RoomName>,
    invitation: Option<InvitationId>,
}

/// Joins a group, or a room without opening it.
pub(super) fn join(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let JoinRequest { conversation, room, invitation } = payload(body)?;
    let (messenger, me) = (asker.messenger.clone(), asker.me.clone());
    if conversation.is_some() == room.is_some() {
        return Err(Fault::new(ErrorCode::BadPayload, "give either `conversation` or `room`"));
    }
    Ok(Answering::of(async move {
        let conversation = match (conversation, room) {
            (Some(conversation), _) => conversation,
            (None, Some(room)) => messenger.room(&me.community, &room).await?,
            (None, None) => return Err(Fault::not_found()),
        };
        if !me.rooms().are_all() {
            // They may not be able to see it before they are a member.
            let read = ReadConversation { conversation };
            let (found, _) = messenger.ask(&me.community, By::Service, read).await?;
            if !me.may_use(&found) {
                return Err(Fault::not_found());
            }
        }
        messenger.permit_join(&me.community, me.id(), conversation).await?;
        let join = Join { conversation, invitation };
        let Joined { member, conversation, came } = messenger.ask(&me.community, me.by(), join).await?;
        Ok(json!({ "conversation": conversation, "member": member, "came": came }))
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    conversation: Option<ConversationId>,
}

pub(super) fn leave(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Which { conversation } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    Ok(asker.ask_about(conversation, Leave { conversation }, |_| json!({})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InviteRequest {
    conversation: Option<ConversationId>,
    person: Option<PersonId>,
    until: Option<Moment>,
    #[serde(default = "once")]
    uses: u32,
}

const fn once() -> u32 {
    1
}

pub(super) fn invite(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let InviteRequest { conversation, person, until, uses } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let invite = Invite { conversation, person, until, uses };
    Ok(asker.ask_about(conversation, invite, |invited: Invited| json!({ "invitation": invited.invitation })))
}

/// Invitations into the room, or one's own.
pub(super) fn invitations(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Which { conversation } = payload(body)?;
    let into = asker.place(conversation)?;
    asker.ask_where(
        into,
        Invitations { conversation: into },
        |invitations: Vec<Invitation>| json!({ "invitations": invitations }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithdrawRequest {
    invitation: InvitationId,
}

pub(super) fn withdraw(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let WithdrawRequest { invitation } = payload(body)?;
    asker.require_all_rooms()?;
    Ok(asker.ask(Withdraw { invitation }, |_| json!({})))
}
