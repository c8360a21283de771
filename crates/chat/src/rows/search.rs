//! Search queries, as a store receives them.

use crate::ids::{ConversationId, MessageId, PersonId};
use crate::words::words;

/// A search query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Search {
    /// Lower-case words; a message must contain all of them.
    pub words: Vec<String>,
    /// Whether the last word also matches as a prefix.
    pub beginning: bool,
    /// The conversations to search.
    pub within: Within,
    /// Only messages with an id before this one.
    pub before: Option<MessageId>,
    /// Maximum number of results.
    pub limit: usize,
}

impl Search {
    /// Whether a text matches: for stores without a search index.
    pub fn is_for(&self, text: &str) -> bool {
        let Some((last, whole)) = self.words.split_last() else {
            return false;
        };
        let of_text = words(text);
        let is_last = |word: &String| if self.beginning { word.starts_with(last) } else { word == last };
        whole.iter().all(|word| of_text.contains(word)) && of_text.iter().any(is_last)
    }
}

/// The scope of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Within {
    /// In one conversation.
    One(ConversationId),
    /// The conversations that a person is in.
    Of(PersonId),
    /// The whole community.
    Everywhere,
}
