//! The conversations tab: the user's conversations, newest first, with their unread counts.

use std::collections::BTreeMap;

use crate::chat::messenger::payload::{Conversation, Kind, Message, Row};

/// Maximum number of conversations in the tab; beyond it the least recently active one is dropped.
const ROWS_MAX: usize = 500;

/// The user's conversations, keyed by ID.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tab {
    rows: BTreeMap<String, Row>,
}

impl Tab {
    /// Handles a page of the server's list; the first page replaces all rows.
    pub(super) fn list(&mut self, rows: Vec<Row>, is_first: bool) {
        if is_first {
            self.rows.clear();
        }
        for row in rows {
            self.put(row);
        }
    }

    pub(super) fn put(&mut self, row: Row) {
        self.rows.insert(row.conversation.id.clone(), row);
        if self.rows.len() > ROWS_MAX {
            let quietest = self.rows.values().min_by_key(|row| row.conversation.active);
            if let Some(id) = quietest.map(|row| row.conversation.id.clone()) {
                self.rows.remove(&id);
            }
        }
    }

    pub(super) fn get(&self, conversation: &str) -> Option<&Row> {
        self.rows.get(conversation)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows, newest first, archived ones last.
    pub(super) fn rows(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.values().collect();
        rows.sort_by_key(|row| (row.is_archived, std::cmp::Reverse(row.conversation.active)));
        rows
    }

    /// Adds a conversation, or updates its description. The unread count is kept.
    pub(super) fn describe(&mut self, conversation: Conversation) {
        match self.rows.get_mut(&conversation.id) {
            Some(row) => row.conversation = conversation,
            None => self.put(Row { unread: conversation.last, conversation, ..Row::default() }),
        }
    }

    pub(super) fn remove(&mut self, conversation: &str) -> Option<Row> {
        self.rows.remove(conversation)
    }

    /// Counts a message. Returns whether a row has changed.
    pub(super) fn said(&mut self, message: &Message, me: &str) -> bool {
        let Some(row) = self.rows.get_mut(&message.conversation) else { return false };
        if message.seq <= row.conversation.last {
            return false;
        }
        row.conversation.last = message.seq;
        row.conversation.active = row.conversation.active.max(message.at);
        if message.sender == me {
            // A sender has implicitly read everything before.
            row.read = message.seq;
            row.mentions = 0;
        } else if message.mentions.iter().any(|person| person == me) {
            row.mentions += 1;
        }
        row.unread = message.seq.saturating_sub(row.read);
        true
    }

    /// Moves the read cursor, which this or another device has moved; forward only. Returns whether anything has
    /// changed.
    pub(super) fn read_to(&mut self, conversation: &str, read: u64, unread: Option<u64>) -> bool {
        let Some(row) = self.rows.get_mut(conversation).filter(|row| read >= row.read) else { return false };
        let left = row.conversation.last.saturating_sub(read);
        let unread = unread.map_or(left, |unread| unread.min(left));
        let is_news = (row.read, row.unread) != (read, unread);
        (row.read, row.unread) = (read, unread);
        if unread == 0 {
            row.mentions = 0;
        }
        is_news
    }

    pub(super) fn keep(&mut self, conversation: &str, muted: Option<bool>, archived: Option<bool>) {
        if let Some(row) = self.rows.get_mut(conversation) {
            row.is_muted = muted.unwrap_or(row.is_muted);
            row.is_archived = archived.unwrap_or(row.is_archived);
        }
    }

    /// Returns the room with this name, if it is listed.
    pub(super) fn room(&self, name: &str) -> Option<&Row> {
        self.rows
            .values()
            .find(|row| row.conversation.kind == Kind::Room && row.conversation.name.as_deref() == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab() -> Tab {
        let mut tab = Tab::default();
        tab.list(vec![row("a", 3, 10), row("b", 5, 20)], true);
        tab
    }

    fn row(id: &str, last: u64, active: i64) -> Row {
        let conversation = Conversation { id: id.into(), last, active, ..Conversation::default() };
        Row { conversation, read: last, ..Row::default() }
    }

    fn message(seq: u64, sender: &str, mentions: &[&str]) -> Message {
        Message {
            conversation: "a".into(),
            seq,
            sender: sender.into(),
            at: 20 + seq as i64,
            mentions: mentions.iter().map(|person| (*person).to_owned()).collect(),
            ..Message::default()
        }
    }

    fn unread(tab: &Tab) -> (u64, u64) {
        tab.get("a").map(|row| (row.unread, row.mentions)).expect("the row")
    }

    #[test]
    fn what_others_say_is_unread_until_it_is_read_on_any_device() {
        let mut tab = tab();
        assert!(tab.said(&message(4, "bob", &["ann"]), "ann"));
        assert!(tab.said(&message(5, "bob", &[]), "ann"));
        assert!(!tab.said(&message(5, "bob", &["ann"]), "ann"), "the same message by another topic");
        assert_eq!(unread(&tab), (2, 1));
        assert_eq!(tab.rows()[0].conversation.id, "a");
        assert!(tab.read_to("a", 5, Some(0)));
        assert!(!tab.read_to("a", 4, Some(1)), "cursors go forward only");
        assert_eq!(unread(&tab), (0, 0));
    }

    #[test]
    fn what_one_says_oneself_is_read() {
        let mut tab = tab();
        tab.said(&message(4, "bob", &["ann"]), "ann");
        tab.said(&message(5, "ann", &[]), "ann");
        assert_eq!(unread(&tab), (0, 0));
    }

    #[test]
    fn an_answer_that_is_overtaken_by_a_message_does_not_hide_it() {
        let mut tab = tab();
        tab.said(&message(4, "bob", &[]), "ann");
        tab.said(&message(5, "bob", &[]), "ann");
        tab.read_to("a", 4, None);
        assert_eq!(unread(&tab), (1, 0));
    }

    #[test]
    fn the_tab_has_a_bound() {
        let mut tab = Tab::default();
        tab.list((0..ROWS_MAX + 3).map(|number| row(&number.to_string(), 1, number as i64)).collect(), true);
        assert_eq!(tab.len(), ROWS_MAX);
        assert_eq!(tab.get("2"), None);
    }
}
