//! Lists: conversations, rooms, members.

use super::{Answering, Asker, page, payload};
use crate::fault::Fault;
use chat::verbs::{Conversations, Listed, Members, Rooms, Tab, TabPosition};
use chat::{Conversation, ConversationId, Member, Moment, PersonId, RoomName};
use gateway::Payload;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    active: Moment,
    conversation: ConversationId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConversationsRequest {
    before: Option<Position>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn conversations(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ConversationsRequest { before, limit } = payload(body)?;
    let before = before.map(|Position { active, conversation }| TabPosition { active, conversation });
    let me = asker.me.clone();
    let answer = asker.messenger.ask(&me.community, me.by(), Conversations { before, limit });
    Ok(Answering::of(async move {
        let Listed { rows, next } = answer.await?;
        let rows: Vec<Value> = rows.iter().filter(|row| me.may_use(&row.conversation)).map(tab).collect();
        Ok(json!({ "conversations": rows, "next": next.map(tab_position) }))
    }))
}

/// Formats a line of the conversations tab.
pub(crate) fn tab(tab: &Tab) -> Value {
    json!({
        "conversation": tab.conversation,
        "member": tab.member,
        "last": tab.last,
        "unread": tab.unread,
        "mentions": tab.mentions,
    })
}

/// Formats a position in the conversations tab.
pub(crate) fn tab_position(position: TabPosition) -> Value {
    json!({ "active": position.active, "conversation": position.conversation })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoomsRequest {
    after: Option<RoomName>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn rooms(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let RoomsRequest { after, limit } = payload(body)?;
    let me = asker.me.clone();
    let answer = asker.messenger.ask(&me.community, me.by(), Rooms { after, limit });
    Ok(Answering::of(async move {
        let Listed { rows, next } = answer.await?;
        let rows: Vec<&Conversation> = rows.iter().filter(|room| me.may_use(room)).collect();
        Ok(json!({ "rooms": rows, "next": next }))
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MembersRequest {
    conversation: Option<ConversationId>,
    after: Option<PersonId>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn members(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let MembersRequest { conversation, after, limit } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let list = Members { conversation, after, limit };
    Ok(asker.ask_about(
        conversation,
        list,
        |Listed { rows, next }: Listed<Member, PersonId>| json!({ "members": rows, "next": next }),
    ))
}
