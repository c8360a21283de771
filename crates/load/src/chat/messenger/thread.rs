//! The known messages of one conversation: in order, each once, without gaps.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::chat::messenger::payload::{Conversation, Message, Page, Reaction};

/// Maximum number of messages held per conversation; beyond it the oldest are dropped, and can be fetched again.
pub(super) const HELD_MAX: usize = 2000;
/// Maximum number of messages held out of order, until those before them arrive.
const AHEAD_MAX: usize = 500;

/// A window of the newest messages, and the conversation's state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Thread {
    /// The newest sequence number delivered.
    last: u64,
    /// The newest sequence number known.
    pub(super) head: u64,
    /// The oldest sequence number stored on the server.
    pub(super) first: u64,
    /// The revision up to which edits, deletions and reactions are known.
    pub(super) revision: u64,
    messages: BTreeMap<u64, Message>,
    ahead: BTreeMap<u64, Message>,
    /// Requests in flight: for missing messages, and for older ones.
    pub(super) fills: bool,
    pub(super) grows: bool,
    /// The highest revision announced.
    pub(super) reach: u64,
    /// State of fetching the changes up to `reach`.
    pub(super) mending: Mending,
    /// Number of consecutive requests for changes that returned nothing new.
    pub(super) futile: u32,
}

/// State of fetching changes that were announced but not received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mending {
    #[default]
    No,
    /// To be requested now.
    Now,
    At(Instant),
    /// The changes after this revision have been requested.
    PendingCall {
        since: u64,
    },
}

impl Mending {
    pub(super) fn is_due(self, now: Instant) -> bool {
        self == Self::Now || matches!(self, Self::At(at) if at <= now)
    }
}

impl Thread {
    /// Returns a thread positioned after sequence number `last`, without older messages.
    pub(super) fn after(last: u64, revision: u64) -> Self {
        Self { last, head: last, revision, ..Self::default() }
    }

    /// Returns a thread positioned at the end of the conversation.
    pub(super) fn at_the_end_of(conversation: &Conversation) -> Self {
        Self { first: conversation.first, ..Self::after(conversation.last, conversation.revision) }
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Returns the oldest sequence number held; the one after the last if none is held.
    pub(super) fn held_from(&self) -> u64 {
        self.messages.keys().next().copied().unwrap_or(self.last + 1)
    }

    pub(super) fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.values()
    }

    pub(super) fn get(&self, seq: u64) -> Option<&Message> {
        self.messages.get(&seq)
    }

    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= HELD_MAX
    }

    /// Returns whether messages are missing before the newest one known.
    pub(super) fn has_hole(&self) -> bool {
        self.head > self.last
    }

    /// Returns whether older messages than those held can be fetched.
    pub(super) fn may_grow(&self) -> bool {
        !self.grows && !self.is_full() && self.held_from() > self.first.max(1)
    }

    /// Adds a message; returns the messages that can now be delivered, in order.
    pub(super) fn take(&mut self, message: Message) -> Vec<Message> {
        if message.seq <= self.last {
            return Vec::new();
        }
        self.head = self.head.max(message.seq);
        if self.ahead.len() < AHEAD_MAX || message.seq == self.last + 1 {
            self.ahead.insert(message.seq, message);
        }
        self.turn()
    }

    /// Skips to `first`, since nothing before it is stored or will be requested. Returns the messages that can now be
    /// delivered.
    pub(super) fn skip_to(&mut self, first: u64) -> Vec<Message> {
        if first <= self.last + 1 {
            return Vec::new();
        }
        // The window must not have gaps, so the messages before the gap are dropped.
        self.messages.clear();
        self.last = first - 1;
        self.head = self.head.max(self.last);
        self.ahead = self.ahead.split_off(&first);
        self.turn()
    }

    /// Adds a page of older messages before the window.
    pub(super) fn prepend(&mut self, page: Vec<Message>) {
        let from = self.held_from();
        let room = HELD_MAX.saturating_sub(self.messages.len());
        let before = page.into_iter().filter(|message| message.seq < from);
        let mut before: Vec<Message> = before.collect();
        before.sort_by_key(|message| std::cmp::Reverse(message.seq));
        self.messages.extend(before.into_iter().take(room).map(|message| (message.seq, message)));
    }

    /// Applies a changed message. Returns whether a message held has changed.
    pub(super) fn change(&mut self, message: Message) -> bool {
        let held = self.messages.get_mut(&message.seq).or_else(|| self.ahead.get_mut(&message.seq));
        let Some(held) = held.filter(|held| message.revision >= held.revision) else { return false };
        let reactions = message.reactions.clone().or_else(|| held.reactions.clone());
        let message = Message { reactions, ..message };
        let is_news = *held != message;
        *held = message;
        is_news
    }

    /// Sets the reactions of a message. Returns whether a message held has changed.
    pub(super) fn react(&mut self, seq: u64, reactions: Vec<Reaction>, revision: u64) -> bool {
        let held = self.messages.get_mut(&seq).or_else(|| self.ahead.get_mut(&seq));
        let Some(held) = held.filter(|held| revision >= held.revision) else { return false };
        let is_news = held.reactions.as_deref().unwrap_or_default() != reactions.as_slice();
        (held.reactions, held.revision) = (Some(reactions), revision);
        is_news
    }

    /// Applies a broadcast change that brought the conversation to `revision`. Returns whether changes before it are
    /// missing.
    pub(super) fn changed_to(&mut self, revision: u64) -> bool {
        if revision == self.revision + 1 {
            self.revision = revision;
        }
        self.reach = self.reach.max(revision);
        revision > self.revision
    }

    /// Returns whether changes were announced but not received.
    pub(super) fn lacks_changes(&self) -> bool {
        self.reach > self.revision
    }

    /// Schedules a request for those changes, once the current request is answered.
    pub(super) fn mend_now(&mut self) {
        if !matches!(self.mending, Mending::PendingCall { .. }) {
            self.mending = Mending::Now;
        }
    }

    /// Handles a page of changes; returns the changed messages.
    pub(super) fn mended(&mut self, page: Page) -> Vec<Message> {
        let last = page.messages.last().map_or(0, |message| message.revision);
        let revision = page.conversation.revision;
        self.revision = self.revision.max(if page.more { last } else { revision });
        self.reach = self.reach.max(revision);
        page.messages
    }

    /// Handles the loss of the connection, and with it of all requests.
    pub(super) fn fall_silent(&mut self) {
        (self.fills, self.grows, self.mending, self.futile) = (false, false, Mending::No, 0);
    }

    fn turn(&mut self) -> Vec<Message> {
        let mut turn = Vec::new();
        while let Some(message) = self.ahead.remove(&(self.last + 1)) {
            self.last = message.seq;
            self.messages.insert(message.seq, message.clone());
            turn.push(message);
        }
        while self.messages.len() > HELD_MAX {
            self.messages.pop_first();
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(seq: u64) -> Message {
        Message { seq, text: seq.to_string(), ..Message::default() }
    }

    fn seqs(messages: &[Message]) -> Vec<u64> {
        messages.iter().map(|message| message.seq).collect()
    }

    #[test]
    fn what_is_not_kept_any_more_is_waited_for_no_longer() {
        let mut thread = Thread::after(3, 0);
        assert_eq!(seqs(&thread.take(message(8))), [0; 0]);
        assert!(thread.has_hole());
        assert_eq!(seqs(&thread.skip_to(7)), [0; 0]);
        assert_eq!(seqs(&thread.take(message(7))), [7, 8]);
        assert_eq!((thread.last(), thread.held_from(), thread.has_hole()), (8, 7, false));
    }

    #[test]
    fn an_older_form_of_a_message_does_not_come_back() {
        let mut thread = Thread::after(0, 0);
        thread.take(message(1));
        let edited = Message { revision: 2, text: "new".into(), ..message(1) };
        assert!(thread.change(edited.clone()));
        assert!(!thread.change(edited));
        assert!(!thread.change(Message { revision: 1, text: "old".into(), ..message(1) }));
        assert_eq!(thread.get(1).map(|message| message.text.as_str()), Some("new"));
    }

    #[test]
    fn an_edit_that_does_not_say_the_reactions_keeps_them() {
        let mut thread = Thread::after(0, 0);
        thread.take(message(1));
        let given = vec![Reaction { emoji: "👍".into(), count: 1 }];
        assert!(thread.react(1, given.clone(), 1));
        assert!(!thread.react(1, given.clone(), 1), "an answer and what is told say the same");
        let edited = Message { revision: 2, text: "new".into(), ..message(1) };
        assert!(thread.change(edited.clone()));
        assert!(!thread.change(edited));
        assert_eq!(thread.get(1).and_then(|message| message.reactions.clone()), Some(given));
    }

    #[test]
    fn a_change_that_was_not_told_is_noticed() {
        let mut thread = Thread::after(0, 4);
        assert!(!thread.changed_to(5));
        assert!(!thread.changed_to(3));
        assert!(thread.changed_to(7));
        assert_eq!(thread.revision, 5);
    }

    #[test]
    fn so_many_are_held_and_no_more() {
        let mut thread = Thread::after(10, 0);
        for seq in 11..=(10 + HELD_MAX as u64 + 5) {
            thread.take(message(seq));
        }
        assert_eq!((thread.messages().count(), thread.held_from()), (HELD_MAX, 16));
        thread.prepend((1..16).map(message).collect());
        assert_eq!((thread.messages().count(), thread.held_from()), (HELD_MAX, 16));
    }

    proptest! {
        #[test]
        fn whatever_comes_in_whatever_order_is_told_once_and_without_holes(
            order in Just((1..60_u64).collect::<Vec<_>>()).prop_shuffle(),
            again in proptest::collection::vec(1..60_u64, 0..60),
            start in 0..20_u64,
        ) {
            let mut thread = Thread::after(start, 0);
            let mut told = Vec::new();
            for seq in order.into_iter().chain(again) {
                told.extend(seqs(&thread.take(message(seq))));
            }
            prop_assert_eq!(told, (start + 1..60).collect::<Vec<_>>());
            prop_assert!(!thread.has_hole());
        }

        #[test]
        fn pages_of_history_meet_the_window(page in 1..30_u64, from in 40..90_u64) {
            let mut thread = Thread::after(from, 0);
            while thread.held_from() > 1 {
                let before = thread.held_from();
                thread.prepend((before.saturating_sub(page).max(1)..before).map(message).collect());
            }
            let held: Vec<u64> = thread.messages().map(|message| message.seq).collect();
            prop_assert_eq!(held, (1..=from).collect::<Vec<_>>());
        }
    }
}
