//! Delivers messages in order, and requests missing ones.

use serde_json::json;

use super::Client;
use crate::chat::messenger::calls::PendingCall;
use crate::chat::messenger::news::{Change, News};
use crate::chat::messenger::payload::{Message, Page};

/// Number of missed messages per request.
const MISSED_PAGE: u64 = 200;
/// Number of older messages per request.
const OLDER_PAGE: u64 = 50;

impl Client {
    /// Registers the senders of messages, so that their names are requested.
    pub(super) fn meet(&mut self, messages: &[Message]) {
        for message in messages {
            self.people.met(&message.sender);
        }
    }

    /// Handles a message from the topic that delivers all messages of its conversation.
    pub(super) fn arrived(&mut self, message: Message) {
        self.meet(std::slice::from_ref(&message));
        let id = message.conversation.clone();
        let Some(thread) = self.threads.get_mut(&id) else { return };
        let turn = thread.take(message);
        self.told(turn);
        self.fill(&id);
    }

    fn told(&mut self, turn: Vec<Message>) {
        for message in turn {
            let me = self.me.as_ref().map(|me| me.person.clone()).unwrap_or_default();
            self.heard_of(&message, &me);
            self.out.news.push(News::Said(message));
        }
    }

    /// Counts a message in the tab, whichever topic it came from.
    pub(super) fn heard_of(&mut self, message: &Message, me: &str) {
        if self.tab.said(message, me) {
            self.out.news.push(News::Unread { conversation: message.conversation.clone() });
        }
    }

    /// Handles a changed message.
    pub(super) fn change(&mut self, message: Message, change: Change) {
        self.meet(std::slice::from_ref(&message));
        let Some(thread) = self.threads.get_mut(&message.conversation) else { return };
        if thread.change(message.clone()) {
            let message = thread.get(message.seq).cloned().unwrap_or(message);
            self.out.news.push(News::Changed { message, change });
        }
    }

    /// Requests the messages after the last one delivered, if any are missing.
    pub(super) fn fill(&mut self, conversation: &str) {
        let Some(thread) = self.threads.get(conversation) else { return };
        if !thread.has_hole() || thread.fills {
            return;
        }
        let payload = json!({ "conversation": conversation, "after": thread.last(), "limit": MISSED_PAGE });
        let fills = self.ask("history", payload, PendingCall::Fill { conversation: conversation.to_owned() });
        if let Some(thread) = self.threads.get_mut(conversation) {
            thread.fills = fills;
        }
    }

    pub(super) fn filled(&mut self, conversation: &str, page: Option<Page>) {
        let Some(thread) = self.threads.get_mut(conversation) else { return };
        thread.fills = false;
        let Some(page) = page else { return };
        let before = thread.last();
        thread.first = page.conversation.first;
        let first = page.conversation.first;
        let is_cut = first > before + 1;
        let mut turn = thread.skip_to(first);
        for message in page.messages {
            turn.extend(thread.take(message));
        }
        let goes_on = thread.last() > before;
        if !goes_on {
            // The server has nothing after what is known: stop waiting for a message that was announced.
            thread.head = thread.last();
        }
        if is_cut {
            let conversation = conversation.to_owned();
            self.out.news.push(News::Skipped { conversation, from: before + 1, to: first - 1 });
        }
        self.meet(&turn);
        self.told(turn);
        if goes_on {
            self.fill(conversation);
        }
    }

    /// Requests the page before the messages held. Returns `false` if there is none, or no space for it.
    pub(in crate::chat::messenger) fn grow(&mut self, conversation: &str) -> bool {
        let Some(thread) = self.threads.get(conversation).filter(|thread| thread.may_grow()) else {
            return false;
        };
        let payload =
            json!({ "conversation": conversation, "before": thread.held_from(), "limit": OLDER_PAGE });
        let grows = self.ask("history", payload, PendingCall::Grow { conversation: conversation.to_owned() });
        if let Some(thread) = self.threads.get_mut(conversation) {
            thread.grows = grows;
        }
        grows
    }

    pub(super) fn grown(&mut self, conversation: &str, page: Option<Page>) {
        if let Some(page) = &page {
            self.meet(&page.messages);
        }
        let Some(thread) = self.threads.get_mut(conversation) else { return };
        thread.grows = false;
        if let Some(page) = page {
            // An empty page means that there are no older messages.
            thread.first =
                if page.messages.is_empty() { thread.held_from() } else { page.conversation.first };
            thread.prepend(page.messages);
        }
    }

    /// Shows another conversation.
    pub(in crate::chat::messenger) fn show(&mut self, conversation: String) {
        // Messages may have arrived before the conversation was shown: fetch those before them now.
        let held = self.threads.get(&conversation).map_or(0, |thread| thread.messages().count());
        if (held as u64) < OLDER_PAGE {
            self.grow(&conversation);
        }
        self.current = Some(conversation.clone());
        self.paged = None;
        self.out.news.push(News::Opened { conversation });
    }

    /// Shows no conversation, so that the next message has no recipient.
    pub(in crate::chat::messenger) fn show_nothing(&mut self) {
        self.current = None;
        self.paged = None;
        self.out.news.push(News::Note("no conversation is open: use /open, /join or /dm first".into()));
    }

    /// The user sees the end of the conversation shown: marks it as read.
    pub(in crate::chat::messenger) fn seen(&mut self) {
        let Some(id) = self.current.clone() else { return };
        let (Some(row), Some(thread)) = (self.tab.get(&id), self.threads.get(&id)) else { return };
        let last = thread.last();
        let is_known = self.seen.get(&id).is_some_and(|seen| *seen >= last);
        let asked = PendingCall::Read { conversation: id.clone() };
        if last <= row.read || is_known || self.calls.any(|each| *each == asked) {
            return;
        }
        if self.ask("read", json!({ "conversation": id, "seq": last }), asked) {
            self.seen.insert(id, last);
        }
    }
}
