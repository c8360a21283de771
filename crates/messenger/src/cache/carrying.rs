//! What was read goes on with what is said, so that the next who comes finds it: the conversation's newest page, and how
//! the sender stands to it.

use super::key::{Found, Key, Standing};
use super::stamps::Subject;
use super::{Cache, Entry};
use chat::verbs::Page;
use chat::{CommunityId, Message, Shown};
use quick_cache::sync::EntryAction;
use std::sync::Arc;
use std::time::Duration;

impl Cache {
    /// A message is there. A newest page has up to `page_max` messages.
    pub(crate) fn said(&self, community: &CommunityId, message: &Message, page_max: usize) {
        self.stamps.raise(Subject::Messages(community, message.conversation));
        let newest = Key::Newest(community.clone(), message.conversation);
        self.carry_on(&newest, |found| match found {
            Found::Page(page) => goes_on(page, message, page_max),
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Standing(_) => false,
        });
        let sender = Key::Standing(community.clone(), message.conversation, message.sender.clone());
        self.carry_on(&sender, |found| match found {
            Found::Standing(standing) => has_sent(standing, message),
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Page(_) => false,
        });
    }

    /// Changes an entry that counts, or forgets it where `change` says that it cannot. What is being read is forgotten.
    fn carry_on(&self, key: &Key, change: impl FnOnce(&mut Found) -> bool) {
        let mut is_carried = false;
        // Under the entry's lock, as another thread may forget it meanwhile. A reading is not waited for.
        let _ = self.items.entry(key, Some(Duration::ZERO), |key, entry: &mut Entry| {
            let counts = entry.read_at == self.stamps.sum(key);
            is_carried = counts && entry.found.as_mut().is_ok_and(change);
            if is_carried { EntryAction::Retain(()) } else { EntryAction::Remove }
        });
        // What grows in its place pushes nothing out.
        if !is_carried || self.items.weight() > self.bytes_max {
            self.items.remove(key);
        }
    }
}

/// Whether the page has the message now.
fn goes_on(page: &mut Arc<Page>, message: &Message, page_max: usize) -> bool {
    if message.seq <= page.conversation.last {
        // It was read after the message was stored, and before that was told.
        return true;
    }
    if message.seq != page.conversation.last.next() {
        return false;
    }
    let Page { messages, conversation, more } = Arc::make_mut(page);
    conversation.go_on_with(message);
    messages.push(Shown { message: message.clone(), reactions: Vec::new() });
    if messages.len() > page_max {
        messages.drain(..messages.len() - page_max);
        *more = true;
    }
    true
}

/// Whether it is known how far the sender has come by that.
fn has_sent(standing: &mut Arc<Standing>, message: &Message) -> bool {
    let Some(member) = &mut Arc::make_mut(standing).member else {
        return false;
    };
    // Who has read it already was read after it was stored.
    if member.read < message.seq {
        member.note_own(message);
    }
    true
}
