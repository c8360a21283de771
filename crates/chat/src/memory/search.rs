//! Searching in memory: every message is looked at, the newest first.

use super::Shelf;
use crate::message::Message;
use crate::rows::{Search, Within, words};

impl Shelf {
    /// The messages that a search is for, the newest first.
    pub(super) fn found<'a>(&'a self, search: &'a Search) -> impl Iterator<Item = &'a Message> {
        let visible = move |message: &&Message| match &search.within {
            Within::One(id) => message.conversation == *id,
            Within::Of(person) => self.members.contains_key(&(message.conversation, person.clone())),
            Within::Everywhere => true,
        };
        let newest_first = self.names.iter().rev().filter_map(|(_, place)| self.messages.get(place));
        newest_first
            .filter(move |message| search.before.is_none_or(|before| message.id < before))
            .filter(visible)
            .filter(move |message| has_all(&words(&message.text), search))
    }
}

fn has_all(of_text: &[String], search: &Search) -> bool {
    let Some((last, whole)) = search.words.split_last() else {
        return false;
    };
    let is_last = |word: &String| if search.beginning { word.starts_with(last) } else { word == last };
    whole.iter().all(|word| of_text.contains(word)) && of_text.iter().any(is_last)
}
