//! Requests changes to messages that were not broadcast.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Client;
use crate::chat::messenger::calls::PendingCall;
use crate::chat::messenger::news::Change;
use crate::chat::messenger::payload::{Conversation, Kind, Page};
use crate::chat::messenger::thread::Mending;

/// Maximum number of changed messages per request.
const CHANGED_PAGE: u64 = 200;
/// Interval at which missing changes are requested again.
const RETRY: Duration = Duration::from_secs(3);
/// Maximum number of consecutive fruitless requests; after that the next event or connection triggers another one.
const RETRIES_MAX: u32 = 20;
/// Everybody who has a room open is notified of a change at once: their requests are spread over this time.
const ROOM_SPREAD_MS: u64 = 2_000;

impl Client {
    /// A broadcast change has brought the conversation to this revision.
    pub(super) fn changed_to(&mut self, conversation: &str, revision: u64) {
        if let Some(thread) = self.threads.get_mut(conversation)
            && thread.changed_to(revision)
        {
            thread.mend_now();
        }
    }

    /// A conversation is at this revision, and everybody who has it open has been notified: requests the missing
    /// changes; for a room, after an individual delay.
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

    /// Requests the changes that are due.
    pub(super) fn mend(&mut self, now: Instant) {
        if !self.is_in {
            return;
        }
        let due = self.threads.iter().filter(|(_, thread)| thread.mending.is_due(now));
        for (conversation, since) in due.map(|(id, thread)| (id.clone(), thread.revision)).collect::<Vec<_>>()
        {
            let is_wanted = self.threads.get(&conversation).is_some_and(|thread| thread.lacks_changes());
            let payload = json!({ "conversation": conversation, "changed": since, "limit": CHANGED_PAGE });
            let asked = PendingCall::Mend { conversation: conversation.clone() };
            let mending = match is_wanted {
                true if self.ask("history", payload, asked) => Mending::PendingCall { since },
                true => Mending::At(now + RETRY),
                // They were received in the meantime.
                false => Mending::No,
            };
            if let Some(thread) = self.threads.get_mut(&conversation) {
                thread.mending = mending;
            }
        }
    }

    pub(super) fn mended(&mut self, conversation: &str, page: Option<Page>, now: Instant) {
        let Some(thread) = self.threads.get_mut(conversation) else { return };
        let Mending::PendingCall { since } = thread.mending else { return };
        let is_answered = page.is_some();
        let messages = page.map(|page| thread.mended(page)).unwrap_or_default();
        let is_futile = thread.lacks_changes() && thread.revision == since;
        thread.futile = if is_futile { thread.futile + 1 } else { 0 };
        thread.mending = if !thread.lacks_changes() || thread.futile > RETRIES_MAX {
            Mending::No
        } else if is_futile || !is_answered {
            Mending::At(now + RETRY)
        } else {
            // More changes became known while this request was in flight.
            Mending::Now
        };
        for message in messages {
            self.change(message, Change::Meanwhile);
        }
        self.mend(now);
    }

    /// Returns the individual delay for a request that everybody makes at once.
    fn spread(&self, conversation: &str, revision: u64) -> Duration {
        let mut hasher = DefaultHasher::new();
        (self.outbox.prefix(), conversation, revision).hash(&mut hasher);
        Duration::from_millis(hasher.finish() % ROOM_SPREAD_MS)
    }
}
