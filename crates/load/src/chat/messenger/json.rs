//! News as JSON objects for programs: one per line, each with `event`.

use serde_json::{Value, json};

use crate::chat::messenger::client::Client;
use crate::chat::messenger::news::{Change, News};
use crate::chat::messenger::payload::Message;

/// Returns the JSON objects for one news item; empty if a program does not need it.
pub(super) fn objects(client: &Client, news: &News) -> Vec<Value> {
    match news {
        News::Connecting => vec![json!({"event": "connecting", "server": client.server()})],
        News::Joined => {
            let me =
                client.me().map(|me| json!({"person": me.person, "name": me.name, "guest": me.is_guest}));
            vec![
                json!({"event": "joined", "me": me, "room": client.room_name(), "community": client.community()}),
            ]
        }
        News::Opened { conversation } => {
            let known = client.conversation(conversation);
            vec![json!({
                "event": "opened",
                "conversation": conversation,
                "place": client.label(conversation),
                "last": known.map(|known| known.last),
                "unread": client.tab.get(conversation).map(|row| row.unread),
            })]
        }
        News::Said(message) => vec![said("message", client, message)],
        News::Changed { message, change } => {
            let mut object = said("changed", client, message);
            let (kind, person, emoji) = match change {
                Change::Edited => ("edited", None, None),
                Change::Deleted => ("deleted", None, None),
                Change::Reacted { person, emoji, on: true } => ("reacted", Some(person), Some(emoji)),
                Change::Reacted { person, emoji, on: false } => ("unreacted", Some(person), Some(emoji)),
                Change::Meanwhile => ("meanwhile", None, None),
            };
            object["change"] = kind.into();
            if let (Some(person), Some(emoji)) = (person, emoji) {
                object["by"] = person.as_str().into();
                object["emoji"] = emoji.as_str().into();
            }
            vec![object]
        }
        News::Skipped { conversation, from, to } => {
            vec![json!({"event": "skipped", "conversation": conversation, "from": from, "to": to})]
        }
        News::Page { title, messages, more } => {
            let mut objects: Vec<Value> =
                messages.iter().map(|message| said("found", client, message)).collect();
            objects.push(json!({"event": "page", "title": title, "messages": messages.len(), "more": more}));
            objects
        }
        News::Unread { conversation } => match client.tab.get(conversation) {
            Some(row) => {
                let mut object = client.row_value(row);
                object["event"] = "unread".into();
                vec![object]
            }
            None => vec![],
        },
        News::Presence { person, status } => {
            vec![
                json!({"event": "presence", "person": person, "name": client.people.name(person), "status": status}),
            ]
        }
        News::Member { conversation, person, is_in } => {
            let event = if *is_in { "member_in" } else { "member_out" };
            let name = client.people.name(person);
            vec![json!({"event": event, "conversation": conversation, "person": person, "name": name})]
        }
        News::Typing { conversation, person, on } => {
            vec![json!({"event": "typing", "conversation": conversation, "person": person, "on": on})]
        }
        News::Stored { client_id, conversation, seq } => {
            vec![json!({"event": "stored", "conversation": conversation, "seq": seq, "client_id": client_id})]
        }
        News::Held { text, reason, wait } => {
            vec![
                json!({"event": "held", "text": text, "reason": reason, "retry_in_ms": wait.as_millis() as u64}),
            ]
        }
        News::Told { about, value, lines: _ } => vec![json!({"event": about, "value": value})],
        News::Note(note) => vec![json!({"event": "note", "text": note})],
        News::Refused { what, code, reason } => {
            vec![json!({"event": "refused", "what": what, "code": code, "reason": reason})]
        }
        News::Lost { reason, retry_in } => {
            vec![json!({"event": "lost", "reason": reason, "retry_in_ms": retry_in.as_millis() as u64})]
        }
        News::Ended { reason } => vec![json!({"event": "ended", "reason": reason})],
    }
}

fn said(event: &str, client: &Client, message: &Message) -> Value {
    let reactions = message.reactions.iter().flatten();
    let reactions: Vec<Value> =
        reactions.map(|reaction| json!({"emoji": reaction.emoji, "count": reaction.count})).collect();
    json!({
        "event": event,
        "conversation": message.conversation,
        "place": client.label(&message.conversation),
        "seq": message.seq,
        "id": message.id,
        "at": message.at,
        "sender": message.sender,
        "name": client.people.name(&message.sender),
        "own": client.is_me(&message.sender),
        "text": message.text,
        "reply_to": message.reply_to,
        "mentions": message.mentions,
        "edited": message.is_edited,
        "deleted": message.is_deleted,
        "reactions": reactions,
    })
}
