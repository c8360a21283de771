//! Messages.

use super::{Conversation, ids};
use chat::{ClientId, ConversationId, MessageId, PersonId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Message {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: MessageId,
    /// The conversation.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// Its position in the conversation: 1, 2, 3, … without gaps.
    seq: u64,
    /// Who sent it.
    #[schemars(with = "ids::Person")]
    sender: PersonId,
    /// The sender's id for it.
    #[schemars(with = "ids::Client")]
    client_id: ClientId,
    /// When it was sent.
    at: u64,
    /// Its text as Markdown; empty if it was deleted.
    text: String,
    /// The `seq` of the message that it replies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<u64>,
    /// The people whom it mentions.
    #[schemars(with = "Vec<ids::Person>")]
    mentions: Vec<PersonId>,
    /// Its files.
    attachments: Vec<Attachment>,
    /// When it was last edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<u64>,
    /// How many times it was edited.
    edits: u32,
    /// Present if it was deleted. A tombstone keeps its position.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<Deletion>,
    /// The conversation's revision after the last change to this message; 0 if it never changed.
    revision: u64,
    /// Its reactions, oldest first; absent if they were not loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    reactions: Option<Vec<Tally>>,
}

/// The deletion of a message.
#[derive(Serialize, JsonSchema)]
struct Deletion {
    /// When it was deleted.
    at: u64,
    /// Whether someone other than its author deleted it.
    moderated: bool,
}

/// The count of a reaction.
#[derive(Serialize, JsonSchema)]
struct Tally {
    /// The reaction: an emoji or a short name.
    emoji: String,
    /// How many people gave it.
    count: u64,
    /// Whether the caller gave it.
    mine: bool,
}

/// A new message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    /// The sender's id for it; can be given in the header `Idempotency-Key` instead.
    #[serde(default)]
    #[schemars(with = "Option<ids::Client>")]
    pub(crate) client_id: Option<ClientId>,
    /// Its text as Markdown; up to 8 KiB. May be empty only if there are attachments.
    #[serde(default)]
    #[schemars(length(max = 8192), example = &"Hello")]
    pub(crate) text: String,
    /// The `seq` of the message that it replies to.
    #[serde(default)]
    pub(crate) reply_to: Option<ids::Place>,
    /// The people whom it mentions; those who are not in the conversation are left out.
    #[serde(default)]
    #[schemars(with = "Vec<ids::Person>", length(max = 50))]
    pub(crate) mentions: Vec<PersonId>,
    /// Files that were uploaded before.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub(crate) attachments: Vec<Attachment>,
}

/// A reference to an uploaded file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attachment {
    /// The file's id.
    #[schemars(with = "ids::Client")]
    id: String,
    /// Its name; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Its media type.
    #[schemars(length(max = 127), example = &"image/png")]
    media_type: String,
    /// Its size in bytes.
    bytes: u64,
}

/// A new text for a message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditedText {
    /// The new text as Markdown; up to 8 KiB.
    #[schemars(length(max = 8192), example = &"Hello again")]
    pub(crate) text: String,
    /// The people whom it now mentions.
    #[serde(default)]
    #[schemars(with = "Vec<ids::Person>", length(max = 50))]
    pub(crate) mentions: Vec<PersonId>,
}

/// An earlier text of a message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Edit {
    /// The number of the edit that replaced this text, counted from 1.
    nth: u32,
    /// When it was replaced.
    at: u64,
    /// The text.
    text: String,
}

/// A page of messages, in order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct History {
    /// The messages.
    messages: Vec<Message>,
    /// The conversation at the time of the request: `first` and `last` are its oldest and newest messages; use
    /// `revision` to ask for later changes.
    conversation: Conversation,
    /// Whether there are more matching messages.
    more: bool,
}

impl From<chat::Message> for Message {
    fn from(message: chat::Message) -> Self {
        Self {
            id: message.id,
            conversation: message.conversation,
            seq: message.seq.0,
            sender: message.sender,
            client_id: message.client_id,
            at: message.at.millis(),
            text: message.text,
            reply_to: message.reply_to.map(|seq| seq.0),
            mentions: message.mentions,
            attachments: message.attachments.into_iter().map(Attachment::from).collect(),
            edited: message.edited.map(chat::Moment::millis),
            edits: message.edits,
            deleted: message
                .deleted
                .map(|deletion| Deletion { at: deletion.at.millis(), moderated: deletion.moderated }),
            revision: message.revision.0,
            reactions: None,
        }
    }
}

impl Message {
    /// Creates a message with its reactions.
    pub(crate) fn with_reactions(message: chat::Message, reactions: Vec<chat::Tally>) -> Self {
        let tally = |tally: chat::Tally| Tally { emoji: tally.emoji, count: tally.count, mine: tally.mine };
        Self { reactions: Some(reactions.into_iter().map(tally).collect()), ..Self::from(message) }
    }
}

impl From<chat::Shown> for Message {
    fn from(shown: chat::Shown) -> Self {
        Self::with_reactions(shown.message, shown.reactions)
    }
}

impl From<chat::Attachment> for Attachment {
    fn from(attachment: chat::Attachment) -> Self {
        let chat::Attachment { id, name, media_type, bytes } = attachment;
        Self { id, name, media_type, bytes }
    }
}

impl From<Attachment> for chat::Attachment {
    fn from(attachment: Attachment) -> Self {
        let Attachment { id, name, media_type, bytes } = attachment;
        Self { id, name, media_type, bytes }
    }
}

impl From<Draft> for chat::Draft {
    fn from(draft: Draft) -> Self {
        Self {
            client_id: draft.client_id,
            text: draft.text,
            reply_to: draft.reply_to.map(ids::Place::seq),
            mentions: draft.mentions,
            attachments: draft.attachments.into_iter().map(chat::Attachment::from).collect(),
        }
    }
}

impl From<chat::Edit> for Edit {
    fn from(edit: chat::Edit) -> Self {
        Self { nth: edit.nth, at: edit.at.millis(), text: edit.text }
    }
}

impl From<chat::verbs::Page> for History {
    fn from(page: chat::verbs::Page) -> Self {
        Self {
            messages: page.messages.into_iter().map(Message::from).collect(),
            conversation: page.conversation.into(),
            more: page.more,
        }
    }
}
