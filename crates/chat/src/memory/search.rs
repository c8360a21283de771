//! In-memory search: a scan over all messages, newest first.

use super::Shelf;
use crate::message::Message;
use crate::rows::{Search, Within};

impl Shelf {
    /// Returns the messages that match a search, newest first.
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
            .filter(move |message| search.is_for(&message.text))
    }
}
