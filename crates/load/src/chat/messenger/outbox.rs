//! What the person says and the server has not confirmed: one after the other, each under an id of its own, so that what
//! is sent again after a lost connection is the same message.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many messages may wait.
const WAITING_MAX: usize = 256;

/// Something that is to be said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outgoing {
    pub(super) client_id: String,
    pub(super) conversation: String,
    pub(super) text: String,
    pub(super) reply_to: Option<u64>,
    pub(super) mentions: Vec<String>,
    /// It came too soon, and is sent again by itself then.
    pub(super) held_until: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<Outgoing>,
    /// Whether the first is on its way.
    is_sent: bool,
    /// What the ids of this session begin with.
    prefix: String,
    number: u64,
}

impl Outbox {
    /// With ids that begin so, as no other session's do.
    pub(super) fn new(prefix: String) -> Self {
        Self { waiting: VecDeque::new(), is_sent: false, prefix, number: 0 }
    }

    /// What the ids of this session begin with, and no other's do.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Gives the text back where too much waits.
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

    /// What to send now: the first, when nothing is on its way and its time has come.
    pub(super) fn next(&mut self, now: Instant) -> Option<Outgoing> {
        let first = self.waiting.front()?;
        if self.is_sent || first.held_until.is_some_and(|until| until > now) {
            return None;
        }
        self.is_sent = true;
        Some(first.clone())
    }

    /// What is next, or on its way.
    pub(super) fn first(&self) -> Option<&Outgoing> {
        self.waiting.front()
    }

    /// The first was stored, or was refused for good.
    pub(super) fn done(&mut self, client_id: &str) -> Option<Outgoing> {
        if self.waiting.front().is_none_or(|first| first.client_id != client_id) {
            return None;
        }
        self.is_sent = false;
        self.waiting.pop_front()
    }

    /// The first came too soon.
    pub(super) fn hold(&mut self, client_id: &str, wait: Duration, now: Instant) {
        if let Some(first) = self.waiting.front_mut().filter(|first| first.client_id == client_id) {
            first.held_until = Some(now + wait);
            self.is_sent = false;
        }
    }

    /// The connection is gone: whether the first was stored is not known, and it will be sent again.
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
