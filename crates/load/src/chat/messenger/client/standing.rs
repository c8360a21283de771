//! The client's state as visible to its owner.

use super::{Client, Link};
use crate::chat::messenger::payload::{Conversation, Kind, Profile};
use crate::chat::messenger::thread::Thread;

impl Client {
    /// Returns the number of consecutive failed attempts to connect.
    pub(in crate::chat::messenger) fn failures(&self) -> usize {
        self.failures
    }

    /// Returns why there is no connection, or was none.
    pub(in crate::chat::messenger) fn trouble(&self) -> &str {
        &self.trouble
    }

    /// Returns the number of typed lines that failed.
    pub(in crate::chat::messenger) fn refused(&self) -> u64 {
        self.refused
    }

    pub(in crate::chat::messenger) fn is_in(&self) -> bool {
        self.is_in && (self.room.is_joined || self.room.channel.is_none())
    }

    pub(in crate::chat::messenger) fn link(&self) -> Link {
        self.link
    }

    pub(in crate::chat::messenger) fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    pub(in crate::chat::messenger) fn me(&self) -> Option<&Profile> {
        self.me.as_ref()
    }

    pub(in crate::chat::messenger) fn is_me(&self, person: &str) -> bool {
        self.me.as_ref().is_some_and(|me| me.person == person)
    }

    pub(in crate::chat::messenger) fn thread(&self, conversation: &str) -> Option<&Thread> {
        self.threads.get(conversation)
    }

    pub(in crate::chat::messenger) fn room_name(&self) -> &str {
        &self.room.name
    }

    /// Returns the conversation of the open room.
    pub(in crate::chat::messenger) fn room_conversation(&self) -> Option<&str> {
        self.room.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    pub(in crate::chat::messenger) fn server(&self) -> &str {
        &self.place.address.authority
    }

    pub(in crate::chat::messenger) fn community(&self) -> &str {
        &self.place.community
    }

    pub(in crate::chat::messenger) fn conversation(&self, id: &str) -> Option<&Conversation> {
        let of_room = self.room.conversation.as_ref().filter(|conversation| conversation.id == id);
        self.tab.get(id).map(|row| &row.conversation).or(of_room)
    }

    /// Returns a display name: `#lobby`, `@Bob`, or a group's title.
    pub(in crate::chat::messenger) fn label(&self, id: &str) -> String {
        self.conversation(id).map_or_else(|| id.to_owned(), |conversation| self.label_of(conversation))
    }

    pub(in crate::chat::messenger) fn label_of(&self, conversation: &Conversation) -> String {
        match conversation.kind {
            Kind::Room => format!("#{}", conversation.name.as_deref().unwrap_or(&conversation.title)),
            Kind::Direct => {
                format!("@{}", self.other_of(conversation).map_or("?", |person| self.people.name(person)))
            }
            Kind::Group if conversation.title.is_empty() => format!("group of {}", conversation.members),
            Kind::Group => conversation.title.clone(),
        }
    }

    /// Returns the other person of a direct conversation.
    pub(in crate::chat::messenger) fn other_of<'a>(&self, conversation: &'a Conversation) -> Option<&'a str> {
        conversation.pair.iter().map(String::as_str).find(|person| !self.is_me(person))
    }

    /// Returns whether somebody else has read the conversation up to `seq`.
    pub(in crate::chat::messenger) fn is_read_by_others(&self, conversation: &str, seq: u64) -> bool {
        self.receipts
            .iter()
            .any(|((place, person), read)| place == conversation && !self.is_me(person) && *read >= seq)
    }
}
