//! What to search for, and where.

use crate::ids::{ConversationId, MessageId, PersonId};
use crate::words::words;

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

impl Search {
    /// Whether a text has the words: what a store without an index of it looks at.
    pub fn is_for(&self, text: &str) -> bool {
        let Some((last, whole)) = self.words.split_last() else {
            return false;
        };
        let of_text = words(text);
        let is_last = |word: &String| if self.beginning { word.starts_with(last) } else { word == last };
        whole.iter().all(|word| of_text.contains(word)) && of_text.iter().any(is_last)
    }
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
