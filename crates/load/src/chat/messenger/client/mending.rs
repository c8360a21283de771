//! Changes that were not told, and are asked for.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Client;
use crate::chat::messenger::calls::Asked;
use crate::chat::messenger::news::Change;
use crate::chat::messenger::payload::{Conversation, Kind, Page};
use crate::chat::messenger::thread::Mending;

/// Changed messages at once.
const CHANGED_PAGE: u64 = 200;
/// When what did not come is asked for again.
const RETRY: Duration = Duration::from_secs(3);
/// How often in a row; then it is left to the next news or connection.
const RETRIES_MAX: u32 = 20;
/// Everybody who has a room open is told at once that something changed: within this time they ask for it.
const ROOM_SPREAD_MS: u64 = 2_000;

impl Client {
    /// A change brought the conversation to that revision.
    pub(super) fn changed_to(&mut self, conversation: &str, revision: u64) {
        if let Some(thread) = self.threads.get_mut(conversation)
            && thread.changed_to(revision)
        {
            thread.mend_now();
        }
    }

    /// A conversation is at that revision, and everybody who has it open was told so: changes that were not told are asked
    /// for, of a room at a moment of one's own.
    pub(super) fn stands_at(&mut self, conversation: &Conversation, now: Instant) {
        let Conversation { id, kind, revision, .. } = conversation;
        let spread = self.spread(id, *revision);
        let Some(thread) = self.threads.get_mut(id).filter(|thread| thread.revision < *revision) else {
            return;
        };
        thread.reach = thread.reach.max(*revision);
        match kind {
            Kind::Direct | Kind::Group => thread.mend_now(),
            Kind::Room if thread.mending == Mending::No => thread.mending = Mending::At(now + spread),
            Kind::Room => {}
        }
    }

    /// Asks for the changes whose time it is.
    pub(super) fn mend(&mut self, now: Instant) {
        if !self.is_in {
            return;
        }
        let due = self.threads.iter().filter(|(_, thread)| thread.mending.is_due(now));
        for (conversation, since) in due.map(|(id, thread)| (id.clone(), thread.revision)).collect::<Vec<_>>()
        {
            let is_wanted = self.threads.get(&conversation).is_some_and(|thread| thread.lacks_changes());
            let payload = json!({ "conversation": conversation, "changed": since, "limit": CHANGED_PAGE });
            let asked = Asked::Mend { conversation: conversation.clone() };
            let mending = match is_wanted {
                true if self.ask("history", payload, asked) => Mending::Asked { since },
                true => Mending::At(now + RETRY),
                // They were told meanwhile.
                false => Mending::No,
            };
            if let Some(thread) = self.threads.get_mut(&conversation) {
                thread.mending = mending;
            }
        }
    }

    pub(super) fn mended(&mut self, conversation: &str, page: Option<Page>, now: Instant) {
        let Some(thread) = self.threads.get_mut(conversation) else { return };
        let Mending::Asked { since } = thread.mending else { return };
        let is_answered = page.is_some();
        let messages = page.map(|page| thread.mended(page)).unwrap_or_default();
        let is_futile = thread.lacks_changes() && thread.revision == since;
        thread.futile = if is_futile { thread.futile + 1 } else { 0 };
        thread.mending = if !thread.lacks_changes() || thread.futile > RETRIES_MAX {
            Mending::No
        } else if is_futile || !is_answered {
            Mending::At(now + RETRY)
        } else {
            // More came to be known of while this was on its way.
            Mending::Now
        };
        for message in messages {
            self.change(message, Change::Meanwhile);
        }
        self.mend(now);
    }

    /// How long to wait with what everybody is told at once: others wait longer, or less long.
    fn spread(&self, conversation: &str, revision: u64) -> Duration {
        let mut hasher = DefaultHasher::new();
        (self.outbox.prefix(), conversation, revision).hash(&mut hasher);
        Duration::from_millis(hasher.finish() % ROOM_SPREAD_MS)
    }
}
