//! Messages, as they are written and as they are kept.

use crate::ids::{ClientId, ConversationId, MessageId, PersonId, Revision, Seq};
use crate::limits::{ATTACHMENTS_MAX, MENTIONS_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::moment::Moment;
use crate::problem::{Problem, Problems};
use crate::{Failure, text};
use serde::{Deserialize, Serialize};

/// What somebody wants to say.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// What the sender calls it: sent again under the same id, it is not stored again.
    pub client_id: Option<ClientId>,
    /// Markdown, kept as text; up to [`TEXT_BYTES_MAX`]. Only with attachments it may be empty.
    #[serde(default)]
    pub text: String,
    /// The message that it answers.
    #[serde(default)]
    pub reply_to: Option<Seq>,
    /// Whom it mentions; who is not in the conversation is left out.
    #[serde(default)]
    pub mentions: Vec<PersonId>,
    /// Files that were uploaded before.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// A reference to an uploaded file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The file's id, as the upload's answer gave it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
}

impl Draft {
    /// Only text.
    pub fn text(client_id: Option<ClientId>, text: &str) -> Self {
        Self {
            client_id,
            text: text.to_owned(),
            reply_to: None,
            mentions: Vec::new(),
            attachments: Vec::new(),
        }
    }

    /// Puts text into its normal form.
    ///
    /// # Errors
    /// Names every field that breaks a rule.
    pub fn checked(mut self) -> Result<Self, Failure> {
        let mut problems = Problems::default();
        if let Some(text) = problems.check("text", text::lines(&self.text, TEXT_BYTES_MAX)) {
            self.text = text;
        }
        problems.require(!self.text.trim().is_empty() || !self.attachments.is_empty(), "text", || {
            Problem::new("length", "may be empty only with attachments")
        });
        problems
            .require(self.reply_to != Some(Seq(0)), "reply_to", || Problem::new("range", "must be above 0"));
        problems.require(self.mentions.len() <= MENTIONS_MAX, "mentions", || {
            Problem::new("too_many", format!("has more than {MENTIONS_MAX}"))
        });
        problems.require(self.attachments.len() <= ATTACHMENTS_MAX, "attachments", || {
            Problem::new("too_many", format!("has more than {ATTACHMENTS_MAX}"))
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

/// A message that was stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// In which conversation.
    pub conversation: ConversationId,
    /// Its place there.
    pub seq: Seq,
    /// Its name in URLs.
    pub id: MessageId,
    /// Who sent it.
    pub sender: PersonId,
    /// What the sender called it; its own id where they did not.
    pub client_id: ClientId,
    /// When.
    pub at: Moment,
    /// What it says; empty when it was deleted.
    pub text: String,
    /// The message that it answers.
    pub reply_to: Option<Seq>,
    /// Whom it mentions.
    pub mentions: Vec<PersonId>,
    /// Files.
    pub attachments: Vec<Attachment>,
    /// When it was edited last.
    pub edited: Option<Moment>,
    /// How often it was edited.
    pub edits: u32,
    /// When it was deleted: a tombstone, which keeps its place.
    pub deleted: Option<Deletion>,
    /// What the conversation's revision was after it changed last; 0 if it never did.
    pub revision: Revision,
}

/// That a message was deleted. Which moderator did it stands in the audit log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deletion {
    /// When.
    pub at: Moment,
    /// Whether somebody else than its author did it.
    pub moderated: bool,
}

impl Message {
    /// Makes a tombstone of it: nothing of what it said is left.
    pub(crate) fn bury(&mut self, at: Moment, moderated: bool) {
        self.text.clear();
        self.mentions.clear();
        self.attachments.clear();
        self.deleted = Some(Deletion { at, moderated });
    }
}

/// A text that a message had.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// In which conversation.
    pub conversation: ConversationId,
    /// Of which message.
    pub seq: Seq,
    /// The how manyth edit replaced it, from 1.
    pub nth: u32,
    /// When it was replaced.
    pub at: Moment,
    /// The text.
    pub text: String,
}

/// That somebody reacted to a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reaction {
    /// In which conversation.
    pub conversation: ConversationId,
    /// To which message.
    pub seq: Seq,
    /// Who.
    pub person: PersonId,
    /// With what.
    pub emoji: String,
    /// When.
    pub at: Moment,
}

/// That a message mentions somebody.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mention {
    /// Where.
    pub conversation: ConversationId,
    /// Whom.
    pub person: PersonId,
    /// Which message.
    pub seq: Seq,
}

/// How often a reaction was given to a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Tally {
    /// Which.
    pub emoji: String,
    /// How often.
    pub count: u64,
    /// Whether the asker is among them.
    pub mine: bool,
}

/// A message with what belongs to it, as it is read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    /// The message.
    #[serde(flatten)]
    pub message: Message,
    /// Its reactions, the oldest first.
    pub reactions: Vec<Tally>,
}
