//! Messages.

use super::{Conversation, ids};
use chat::{ClientId, ConversationId, MessageId, PersonId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Message {
    /// Its name in URLs.
    #[schemars(with = "ids::Made")]
    id: MessageId,
    /// In which conversation.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// Its place there: 1, 2, 3, … without a hole.
    seq: u64,
    /// Who sent it.
    #[schemars(with = "ids::Person")]
    sender: PersonId,
    /// What the sender called it.
    #[schemars(with = "ids::Client")]
    client_id: ClientId,
    /// When.
    at: u64,
    /// What it says, as Markdown; empty when it was deleted.
    text: String,
    /// The message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<u64>,
    /// Whom it mentions.
    #[schemars(with = "Vec<ids::Person>")]
    mentions: Vec<PersonId>,
    /// Files.
    attachments: Vec<Attachment>,
    /// When it was edited last.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<u64>,
    /// How often it was edited.
    edits: u32,
    /// That it was deleted: a tombstone, which keeps its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<Deletion>,
    /// What the conversation's revision was after it changed last; 0 if it never did.
    revision: u64,
    /// Its reactions, the oldest first; absent where they were not looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    reactions: Option<Vec<Tally>>,
}

/// That a message was deleted.
#[derive(Serialize, JsonSchema)]
struct Deletion {
    /// When.
    at: u64,
    /// Whether somebody else than its author did it.
    moderated: bool,
}

/// How often a reaction was given.
#[derive(Serialize, JsonSchema)]
struct Tally {
    /// Which.
    emoji: String,
    /// How often.
    count: u64,
    /// Whether the caller is among them.
    mine: bool,
}

/// A message that is to be sent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    /// What the sender calls it; the header `Idempotency-Key` may say it instead.
    #[serde(default)]
    #[schemars(with = "Option<ids::Client>")]
    pub(crate) client_id: Option<ClientId>,
    /// Markdown; up to 8 KiB. Only with attachments it may be empty.
    #[serde(default)]
    #[schemars(length(max = 8192), example = &"Hello")]
    pub(crate) text: String,
    /// The message that it answers.
    #[serde(default)]
    pub(crate) reply_to: Option<ids::Place>,
    /// Whom it mentions; who is not in the conversation is left out.
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
    /// Its size.
    bytes: u64,
}

/// Another text for a message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditedText {
    /// The text; up to 8 KiB.
    #[schemars(length(max = 8192), example = &"Hello again")]
    pub(crate) text: String,
    /// Whom it mentions now.
    #[serde(default)]
    #[schemars(with = "Vec<ids::Person>", length(max = 50))]
    pub(crate) mentions: Vec<PersonId>,
}

/// A text that a message had.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Edit {
    /// The how manyth edit replaced it, from 1.
    nth: u32,
    /// When it was replaced.
    at: u64,
    /// The text.
    text: String,
}

/// A page of messages, in their order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct History {
    /// The messages.
    messages: Vec<Message>,
    /// The conversation at that moment: `first` and `last` say where it begins and ends, `revision` where to ask later for
    /// changes.
    conversation: Conversation,
    /// Whether there are more of what was asked for.
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
