//! Updates cached values with each new message, so that the next reader finds them: the conversation's newest page, and
//! the sender's standing.

use super::generations::Subject;
use super::key::{Found, Key, Standing, go_on_with};
use super::{Cache, Entry};
use chat::verbs::Page;
use chat::{CommunityId, Message};
use quick_cache::sync::EntryAction;
use std::sync::Arc;
use std::time::Duration;

impl Cache {
    /// Applies a stored message. A newest page has up to `page_max` messages.
    pub(crate) fn said(&self, community: &CommunityId, message: &Message, page_max: usize) {
        self.generations.raise(Subject::Messages(community, message.conversation));
        let newest = Key::Newest(community.clone(), message.conversation);
        self.carry_on(&newest, |found| match found {
            Found::Page(page, bytes) => goes_on((page, bytes), message, page_max),
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Standing(_) => false,
        });
        let sender = Key::Standing(community.clone(), message.conversation, message.sender.clone());
        self.carry_on(&sender, |found| match found {
            Found::Standing(standing) => has_sent(standing, message),
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Page(..) => false,
        });
    }

    /// Updates a valid entry, or removes it if `change` returns that it cannot. A read in progress is invalidated.
    fn carry_on(&self, key: &Key, change: impl FnOnce(&mut Found) -> bool) {
        let (digest, mut is_carried) = (key.digest(self.secret), false);
        // Under the entry's lock, as another thread may invalidate it meanwhile. Does not wait for a read in progress.
        let _ = self.items.entry(&digest, Some(Duration::ZERO), |_, entry: &mut Entry| {
            let counts = entry.read_at == self.generations.sum(key);
            is_carried = counts && entry.found.as_mut().is_ok_and(change);
            if is_carried { EntryAction::Retain(()) } else { EntryAction::Remove }
        });
        // An entry that grows in place evicts nothing, so the bound is checked here.
        if !is_carried || self.items.weight() > self.bytes_max {
            self.items.remove(&digest);
        }
    }
}

/// Appends the message to the page; returns whether the page contains it now.
fn goes_on((page, bytes): (&mut Arc<Page>, &mut u32), message: &Message, page_max: usize) -> bool {
    let last = page.conversation.last;
    if message.seq <= last {
        // The page was read after the message was stored, but before it was announced.
        return true;
    }
    if message.seq != last.next() {
        return false;
    }
    go_on_with(page, bytes, message, page_max);
    true
}

/// Advances the sender's own cursors; returns whether that was possible.
fn has_sent(standing: &mut Arc<Standing>, message: &Message) -> bool {
    let Some(member) = &mut Arc::make_mut(standing).member else {
        return false;
    };
    // If the cursor is there already, the standing was read after the message was stored.
    if member.read < message.seq {
        member.note_own(message);
    }
    true
}
