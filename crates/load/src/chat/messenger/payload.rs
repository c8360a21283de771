//! The parts of the server's payloads that this client shows. Missing or malformed members are treated as empty; an
//! object without an identity is ignored.

use serde_json::Value;

/// Maximum length of a text that is kept, in bytes; Throng's limit.
const TEXT_BYTES_MAX: usize = 8192;
/// Maximum number of different reactions shown per message.
const REACTIONS_MAX: usize = 20;

/// A message with its sequence number in a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Message {
    pub(super) conversation: String,
    pub(super) seq: u64,
    pub(super) id: String,
    pub(super) sender: String,
    pub(super) client_id: Option<String>,
    /// In milliseconds since the Unix epoch.
    pub(super) at: i64,
    pub(super) text: String,
    pub(super) reply_to: Option<u64>,
    pub(super) mentions: Vec<String>,
    pub(super) attachments: usize,
    pub(super) is_edited: bool,
    pub(super) is_deleted: bool,
    pub(super) revision: u64,
    /// `None` if the server did not say.
    pub(super) reactions: Option<Vec<Reaction>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reaction {
    pub(super) emoji: String,
    pub(super) count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Kind {
    #[default]
    Room,
    Direct,
    Group,
}

/// The properties of a conversation that are the same for all its members.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Conversation {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// A room's name in its URL.
    pub(super) name: Option<String>,
    /// The two people of a direct conversation.
    pub(super) pair: Vec<String>,
    pub(super) title: String,
    pub(super) topic: String,
    pub(super) members: u64,
    /// Sequence number of the newest message.
    pub(super) last: u64,
    /// Sequence number of the oldest stored message.
    pub(super) first: u64,
    pub(super) revision: u64,
    pub(super) active: i64,
}

/// A row of the conversations tab.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Row {
    pub(super) conversation: Conversation,
    pub(super) read: u64,
    pub(super) unread: u64,
    pub(super) mentions: u64,
    pub(super) is_muted: bool,
    pub(super) is_archived: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Profile {
    pub(super) person: String,
    pub(super) name: String,
    pub(super) is_guest: bool,
}

/// A page of history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Page {
    pub(super) messages: Vec<Message>,
    pub(super) more: bool,
    pub(super) conversation: Conversation,
}

impl Message {
    pub(super) fn read(value: &Value) -> Option<Self> {
        Some(Self {
            conversation: text(&value["conversation"])?,
            seq: value["seq"].as_u64().filter(|seq| *seq > 0)?,
            id: text(&value["id"])?,
            sender: text(&value["sender"])?,
            client_id: text(&value["client_id"]),
            at: value["at"].as_i64().unwrap_or_default(),
            text: clipped(value["text"].as_str().unwrap_or_default()),
            reply_to: value["reply_to"].as_u64(),
            mentions: texts(&value["mentions"]),
            attachments: value["attachments"].as_array().map_or(0, Vec::len),
            is_edited: !value["edited"].is_null(),
            is_deleted: !value["deleted"].is_null(),
            revision: value["revision"].as_u64().unwrap_or_default(),
            reactions: value["reactions"].as_array().map(|all| reactions(all)),
        })
    }
}

/// Parses reactions: `[{"emoji": "👍", "count": 2}]`.
pub(super) fn reactions(all: &[Value]) -> Vec<Reaction> {
    let each = all.iter().filter_map(|value| {
        Some(Reaction { emoji: text(&value["emoji"])?, count: value["count"].as_u64()? })
    });
    each.take(REACTIONS_MAX).collect()
}

impl Conversation {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let last = value["last"].as_u64()?;
        Some(Self {
            id: text(&value["id"])?,
            kind: match value["kind"].as_str()? {
                "direct" => Kind::Direct,
                "group" => Kind::Group,
                // Public, members-only and private rooms.
                _ => Kind::Room,
            },
            name: text(&value["name"]),
            pair: texts(&value["pair"]),
            title: text(&value["title"]).unwrap_or_default(),
            topic: text(&value["topic"]).unwrap_or_default(),
            members: value["members"].as_u64().unwrap_or_default(),
            last,
            first: value["first"].as_u64().unwrap_or(1),
            revision: value["revision"].as_u64().unwrap_or_default(),
            active: value["active"].as_i64().unwrap_or_default(),
        })
    }
}

impl Row {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let member = &value["member"];
        Some(Self {
            conversation: Conversation::read(&value["conversation"])?,
            read: member["read"].as_u64().unwrap_or_default(),
            unread: value["unread"].as_u64().unwrap_or_default(),
            mentions: value["mentions"].as_u64().unwrap_or_default(),
            is_muted: member["muted"] == true,
            is_archived: member["archived"] == true,
        })
    }
}

impl Profile {
    /// Parses `{"person" or "id": "bob", "profile": {"name": "Bob", "guest": false}}`.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let person = text(&value["person"]).or_else(|| text(&value["id"]))?;
        let profile = &value["profile"];
        // A person may not have a name.
        let name = text(&profile["name"]).filter(|name| !name.is_empty()).unwrap_or_else(|| person.clone());
        Some(Self { person, name, is_guest: profile["guest"] == true })
    }
}

impl Page {
    pub(super) fn read(value: &Value) -> Option<Self> {
        Some(Self {
            messages: messages(&value["messages"]),
            more: value["more"] == true,
            conversation: Conversation::read(&value["conversation"])?,
        })
    }
}

pub(super) fn messages(value: &Value) -> Vec<Message> {
    value.as_array().into_iter().flatten().filter_map(Message::read).collect()
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

fn clipped(text: &str) -> String {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or_default()].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_without_a_place_is_none() {
        let message = json!({"conversation": "c", "seq": 1, "id": "m", "sender": "ann", "text": "hi"});
        assert_eq!(Message::read(&message).map(|message| message.text), Some("hi".into()));
        for (member, value) in
            [("seq", json!(0)), ("seq", json!("1")), ("sender", json!(null)), ("id", json!(7))]
        {
            let mut broken = message.clone();
            broken[member] = value;
            assert_eq!(Message::read(&broken), None, "{broken}");
        }
        assert_eq!(Message::read(&json!("hi")), None);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(clipped(&long), "é".repeat(TEXT_BYTES_MAX / 2));
        assert_eq!(clipped(&format!("a{long}")).len(), TEXT_BYTES_MAX - 1);
    }
}
