//! The user's messages that the server has not confirmed: sent one after the other, each with a unique ID, so that a
//! message resent after a lost connection is recognised as the same.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum number of waiting messages.
const WAITING_MAX: usize = 256;

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outgoing {
    pub(super) client_id: String,
    pub(super) conversation: String,
    pub(super) text: String,
    pub(super) reply_to: Option<u64>,
    pub(super) mentions: Vec<String>,
    /// Set if it was sent too soon: when it is resent automatically.
    pub(super) held_until: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<Outgoing>,
    /// Whether the first message is in flight.
    is_sent: bool,
    /// Prefix of this session's message IDs.
    prefix: String,
    number: u64,
}

impl Outbox {
    /// `prefix` is the prefix of the message IDs; it must be unique to the session.
    pub(super) fn new(prefix: String) -> Self {
        Self { waiting: VecDeque::new(), is_sent: false, prefix, number: 0 }
    }

    /// Returns the prefix of this session's message IDs, which is unique to it.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Queues a message. Returns the text as an error if too many are waiting.
    pub(super) fn put(
        &mut self,
        conversation: String,
        text: String,
        reply_to: Option<u64>,
        mentions: Vec<String>,
    ) -> Result<(), String> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(text);
        }
        self.number += 1;
        let client_id = format!("{}-{}", self.prefix, self.number);
        self.waiting.push_back(Outgoing {
            client_id,
            conversation,
            text,
            reply_to,
            mentions,
            held_until: None,
        });
        Ok(())
    }

    /// Returns the message to send now: the first, if none is in flight and it is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<Outgoing> {
        let first = self.waiting.front()?;
        if self.is_sent || first.held_until.is_some_and(|until| until > now) {
            return None;
        }
        self.is_sent = true;
        Some(first.clone())
    }

    /// Returns the message that is next or in flight.
    pub(super) fn first(&self) -> Option<&Outgoing> {
        self.waiting.front()
    }

    /// Removes the first message after it was stored, or refused for good.
    pub(super) fn done(&mut self, client_id: &str) -> Option<Outgoing> {
        if self.waiting.front().is_none_or(|first| first.client_id != client_id) {
            return None;
        }
        self.is_sent = false;
        self.waiting.pop_front()
    }

    /// Holds back the first message, which was sent too soon.
    pub(super) fn hold(&mut self, client_id: &str, wait: Duration, now: Instant) {
        if let Some(first) = self.waiting.front_mut().filter(|first| first.client_id == client_id) {
            first.held_until = Some(now + wait);
            self.is_sent = false;
        }
    }

    /// Handles the loss of the connection: it is unknown whether the first message was stored, so it will be resent.
    pub(super) fn fall_silent(&mut self) {
        self.is_sent = false;
    }

    pub(super) fn waiting_in<'a>(&'a self, conversation: &'a str) -> impl Iterator<Item = &'a Outgoing> {
        self.waiting.iter().filter(move |outgoing| outgoing.conversation == conversation)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox(texts: &[&str]) -> Outbox {
        let mut outbox = Outbox::new("p".into());
        for text in texts {
            outbox.put("c".into(), (*text).into(), None, vec![]).expect("room for it");
        }
        outbox
    }

    #[test]
    fn messages_go_one_after_the_other() {
        let (mut outbox, now) = (outbox(&["one", "two"]), Instant::now());
        assert_eq!(outbox.next(now).map(|each| each.text), Some("one".into()));
        assert_eq!(outbox.next(now), None);
        assert_eq!(outbox.done("p-2"), None);
        assert_eq!(outbox.done("p-1").map(|each| each.text), Some("one".into()));
        assert_eq!(outbox.next(now).map(|each| each.client_id), Some("p-2".into()));
    }

    #[test]
    fn what_was_not_answered_is_sent_again_as_the_same_message() {
        let (mut outbox, now) = (outbox(&["one"]), Instant::now());
        let first = outbox.next(now);
        outbox.fall_silent();
        assert_eq!(outbox.next(now), first);
    }

    #[test]
    fn what_came_too_soon_waits_and_what_is_behind_it_too() {
        let (mut outbox, now) = (outbox(&["one", "two"]), Instant::now());
        outbox.next(now);
        outbox.hold("p-1", Duration::from_secs(3), now);
        assert_eq!(outbox.next(now + Duration::from_secs(2)), None);
        assert_eq!(outbox.next(now + Duration::from_secs(3)).map(|each| each.text), Some("one".into()));
    }

    #[test]
    fn too_much_is_given_back() {
        let mut outbox = outbox(&["x"; WAITING_MAX]);
        assert_eq!(outbox.put("c".into(), "more".into(), None, vec![]), Err("more".into()));
        assert_eq!(outbox.len(), WAITING_MAX);
    }
}
