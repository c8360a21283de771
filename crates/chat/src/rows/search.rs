//! What to search for, and where.

use crate::ids::{ConversationId, MessageId, PersonId};

/// What to search for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Search {
    /// Words, in lower case; a message must have all.
    pub words: Vec<String>,
    /// Whether the last may be the beginning of one.
    pub beginning: bool,
    /// In which conversations.
    pub within: Within,
    /// Only messages with an id before it.
    pub before: Option<MessageId>,
    /// How many.
    pub limit: usize,
}

/// Where to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Within {
    /// In one conversation.
    One(ConversationId),
    /// In those that a person is in.
    Of(PersonId),
    /// In all of the community.
    Everywhere,
}
