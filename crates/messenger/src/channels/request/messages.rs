//! Messages and cursors.

use super::{Answering, Asker, page, payload, yes};
use crate::fault::{ErrorCode, Fault};
use chat::verbs::{
    Advance, Advanced, Append, Appended, Around, Changed, Cursors, Delete, EditText, EditsOf, Keep, Listed,
    Page, React, ReadPage, ReadReceipts, Receipts, SearchMessages,
};
use chat::{
    Attachment, ClientId, ConversationId, Draft, Edit, Member, Message, MessageId, Moment, PersonId,
    Revision, Seq,
};
use gateway::{Outgoing, Payload};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Send {
    conversation: Option<ConversationId>,
    client_id: Option<ClientId>,
    #[serde(default)]
    text: String,
    reply_to: Option<Seq>,
    #[serde(default)]
    mentions: Vec<PersonId>,
    #[serde(default)]
    attachments: Vec<Attachment>,
}

pub(super) fn send(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Send { conversation, client_id, text, reply_to, mentions, attachments } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let spent = asker.spend_message()?;
    let draft = Draft { client_id, text, reply_to, mentions, attachments };
    Ok(asker.ask_to_send(conversation, spent, Append { conversation, draft }, sent))
}

/// What a sender is answered.
#[derive(Serialize)]
struct Sent<'a> {
    conversation: ConversationId,
    seq: Seq,
    id: MessageId,
    client_id: &'a ClientId,
    at: Moment,
    repeated: bool,
}

/// Written as it is, without a tree of it first: there is one for each message.
fn sent(Appended { message, repeated }: Appended) -> Outgoing<'static> {
    let Message { conversation, seq, id, at, ref client_id, .. } = message;
    let sent = Sent { conversation, seq, id, client_id, at, repeated };
    let text = serde_json::to_string(&sent).expect("names and numbers can be written");
    Outgoing::Json(Cow::Owned(text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditRequest {
    conversation: Option<ConversationId>,
    seq: Seq,
    text: String,
    #[serde(default)]
    mentions: Vec<PersonId>,
}

pub(super) fn edit(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let EditRequest { conversation, seq, text, mentions } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let spent = asker.spend_message()?;
    Ok(asker.ask_to_send(conversation, spent, EditText { conversation, seq, text, mentions }, changed))
}

/// One message of a conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    conversation: Option<ConversationId>,
    seq: Seq,
}

pub(super) fn delete(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let One { conversation, seq } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    Ok(asker.ask_about(conversation, Delete { conversation, seq }, changed))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReactRequest {
    conversation: Option<ConversationId>,
    seq: Seq,
    emoji: String,
    #[serde(default = "yes")]
    on: bool,
}

pub(super) fn react(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ReactRequest { conversation, seq, emoji, on } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let spent = asker.spend_message()?;
    Ok(asker.ask_to_send(conversation, spent, React { conversation, seq, emoji, on }, changed))
}

fn changed(Changed { message, reactions, changed }: Changed) -> Value {
    json!({ "message": message, "reactions": reactions, "changed": changed })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    conversation: Option<ConversationId>,
    before: Option<Seq>,
    after: Option<Seq>,
    around: Option<Seq>,
    changed: Option<Revision>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn history(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let History { conversation, before, after, around, changed, limit } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let around = match (before, after, around, changed) {
        (None, None, None, None) => Around::Newest,
        (Some(seq), None, None, None) => Around::Before(seq),
        (None, Some(seq), None, None) => Around::After(seq),
        (None, None, Some(seq), None) => Around::Place(seq),
        (None, None, None, Some(revision)) => Around::Changed(revision),
        (..) => {
            let message = "give at most one of `before`, `after`, `around` and `changed`";
            return Err(Fault::new(ErrorCode::BadPayload, message));
        }
    };
    if asker.room.is_some()
        && let Some(shared) = shared(asker, conversation, around, limit)
    {
        return Ok(shared);
    }
    let read = ReadPage { conversation, around, limit };
    Ok(asker.ask_about(conversation, read, |page| written(&page)))
}

/// All who have a room open ask this when they learn that something is missing: one read serves them.
fn shared(
    asker: &Asker<'_>,
    conversation: ConversationId,
    around: Around,
    limit: usize,
) -> Option<Answering> {
    let (messenger, me) = (asker.messenger.clone(), asker.me.clone());
    match around {
        Around::Changed(since) => Some(Answering::of(async move {
            let read = messenger.changed(&me.community, conversation, me.id(), since, limit);
            Ok(written(&*read.await?))
        })),
        Around::After(seq) => Some(Answering::of(async move {
            messenger.standing(&me.community, conversation, me.id()).await?;
            let read = messenger.after(&me.community, conversation, me.id(), seq, limit);
            Ok(written(&*read.await?))
        })),
        Around::Newest | Around::Before(_) | Around::Place(_) => None,
    }
}

fn written(Page { messages, conversation, more }: &Page) -> Value {
    json!({ "messages": messages, "conversation": conversation, "more": more })
}

pub(super) fn edits(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let One { conversation, seq } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    Ok(asker.ask_about(
        conversation,
        EditsOf { conversation, seq },
        |edits: Vec<Edit>| json!({ "edits": edits }),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    conversation: Option<ConversationId>,
    query: String,
    before: Option<MessageId>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn search(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Search { conversation, query, before, limit } = payload(body)?;
    let place = asker.place(conversation)?;
    asker.ask_where(
        place,
        SearchMessages { query, conversation: place, before, limit },
        |Listed { rows, next }: Listed<Message, MessageId>| json!({ "messages": rows, "next": next }),
    )
}

pub(super) fn read(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let One { conversation, seq } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let advance = Advance { conversation, delivered: seq, read: seq };
    Ok(asker.ask_about(conversation, advance, advanced))
}

pub(super) fn delivered(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let One { conversation, seq } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let advance = Advance { conversation, delivered: seq, read: Seq(0) };
    Ok(asker.ask_about(conversation, advance, advanced))
}

fn advanced(Advanced { member, unread, .. }: Advanced) -> Value {
    json!({
        "conversation": member.conversation,
        "read": member.read,
        "delivered": member.delivered,
        "unread": unread,
    })
}

pub(super) fn receipts(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let One { conversation, seq } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    Ok(asker.ask_about(conversation, ReadReceipts { conversation, seq }, |receipts: Receipts| match receipts {
        Receipts::Each(each) => {
            let line = |Cursors { person, delivered, read }: &Cursors| {
                json!({ "person": person, "delivered": delivered, "read": read })
            };
            json!({ "people": each.iter().map(line).collect::<Vec<_>>() })
        }
        Receipts::Counts(counts) => json!({ "delivered": counts.delivered, "read": counts.read }),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepRequest {
    conversation: Option<ConversationId>,
    muted: Option<bool>,
    archived: Option<bool>,
}

pub(super) fn keep(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let KeepRequest { conversation, muted, archived } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let keep = Keep { conversation, muted, archived };
    Ok(asker.ask_about(conversation, keep, |member: Member| json!({ "member": member })))
}
