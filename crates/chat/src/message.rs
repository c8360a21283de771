//! Messages as they are submitted and as they are stored.

use crate::ids::{ClientId, ConversationId, MessageId, PersonId, Revision, Seq};
use crate::limits::{ATTACHMENTS_MAX, MENTIONS_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::moment::Moment;
use crate::problem::{Problem, Problems};
use crate::{Failure, text};
use serde::{Deserialize, Serialize};

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The sender's id for it: a repeated send with the same id is stored only once.
    pub client_id: Option<ClientId>,
    /// Markdown, stored as text; up to [`TEXT_BYTES_MAX`] bytes. May be empty only with attachments.
    #[serde(default)]
    pub text: String,
    /// The message that it replies to.
    #[serde(default)]
    pub reply_to: Option<Seq>,
    /// The people it mentions; those not in the conversation are left out.
    #[serde(default)]
    pub mentions: Vec<PersonId>,
    /// Previously uploaded files.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// A reference to an uploaded file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The file's id, as returned by the upload.
    pub id: String,
    /// Its file name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Draft {
    /// A draft of text only.
    pub fn text(client_id: Option<ClientId>, text: &str) -> Self {
        Self {
            client_id,
            text: text.to_owned(),
            reply_to: None,
            mentions: Vec::new(),
            attachments: Vec::new(),
        }
    }

    /// Validates the draft and normalizes its text.
    ///
    /// # Errors
    /// Lists every field that breaks a rule.
    pub fn checked(mut self) -> Result<Self, Failure> {
        let mut problems = Problems::default();
        if let Some(text) = problems.check("text", text::lines(&self.text, TEXT_BYTES_MAX)) {
            self.text = text;
        }
        problems.require(!self.text.trim().is_empty() || !self.attachments.is_empty(), "text", || {
            Problem::new("length", "may be empty only if there are attachments")
        });
        problems
            .require(self.reply_to != Some(Seq(0)), "reply_to", || Problem::new("range", "must be above 0"));
        problems.require(self.mentions.len() <= MENTIONS_MAX, "mentions", || {
            Problem::new("too_many", format!("has more than {MENTIONS_MAX} entries"))
        });
        problems.require(self.attachments.len() <= ATTACHMENTS_MAX, "attachments", || {
            Problem::new("too_many", format!("has more than {ATTACHMENTS_MAX} entries"))
        });
        for (place, attachment) in self.attachments.iter_mut().enumerate().take(ATTACHMENTS_MAX) {
            attachment.check(&mut problems, place);
        }
        self.mentions.sort();
        self.mentions.dedup();
        problems.or(self)
    }
}

impl Attachment {
    fn check(&mut self, problems: &mut Problems, place: usize) {
        let field = |name| format!("attachments[{place}].{name}");
        problems.check(&field("id"), ClientId::parse(&self.id));
        if let Some(name) = problems.check(&field("name"), text::line(&self.name, NAME_BYTES_MAX)) {
            self.name = name;
        }
        let is_type = |text: &str| {
            text.len() <= 127
                && text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+/".contains(&byte))
        };
        problems.require(is_type(&self.media_type), &field("media_type"), || {
            Problem::new("form", "must be a media type such as image/png")
        });
        problems.require(i64::try_from(self.bytes).is_ok(), &field("bytes"), || {
            Problem::new("range", "is too large")
        });
    }
}

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// Its sequence number there.
    pub seq: Seq,
    /// Its id in URLs.
    pub id: MessageId,
    /// The sender.
    pub sender: PersonId,
    /// The sender's id for it; its own id if the sender gave none.
    pub client_id: ClientId,
    /// When it was sent.
    pub at: Moment,
    /// The text; empty if the message was deleted.
    pub text: String,
    /// The message that it replies to.
    pub reply_to: Option<Seq>,
    /// The people it mentions.
    pub mentions: Vec<PersonId>,
    /// Attached files.
    pub attachments: Vec<Attachment>,
    /// When it was last edited.
    pub edited: Option<Moment>,
    /// Number of edits.
    pub edits: u32,
    /// Set if it was deleted: it is then a tombstone, which keeps its sequence number.
    pub deleted: Option<Deletion>,
    /// The conversation's revision after the message's last change; 0 if it never changed.
    pub revision: Revision,
}

/// Records that a message was deleted. The audit log says which moderator did it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deletion {
    /// When it was deleted.
    pub at: Moment,
    /// Whether somebody other than its author deleted it.
    pub moderated: bool,
}

impl Message {
    /// Turns the message into a tombstone, without any of its content.
    pub(crate) fn bury(&mut self, at: Moment, moderated: bool) {
        self.text.clear();
        self.mentions.clear();
        self.attachments.clear();
        self.deleted = Some(Deletion { at, moderated });
    }
}

/// A former text of a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
    /// The number of the edit that replaced it, from 1.
    pub nth: u32,
    /// When it was replaced.
    pub at: Moment,
    /// The former text.
    pub text: String,
}

/// A person's reaction to a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reaction {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
    /// Who reacted.
    pub person: PersonId,
    /// The emoji or short name.
    pub emoji: String,
    /// When they reacted.
    pub at: Moment,
}

/// Records that a message mentions a person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mention {
    /// The conversation.
    pub conversation: ConversationId,
    /// The mentioned person.
    pub person: PersonId,
    /// The message.
    pub seq: Seq,
}

/// The count of one reaction to a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Tally {
    /// The emoji or short name.
    pub emoji: String,
    /// Number of people who gave it.
    pub count: u64,
    /// Whether the caller is one of them.
    pub mine: bool,
}

/// A message together with its reactions, as clients read it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    /// The message.
    #[serde(flatten)]
    pub message: Message,
    /// Its reactions, oldest first.
    pub reactions: Vec<Tally>,
}
