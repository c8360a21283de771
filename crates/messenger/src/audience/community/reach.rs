//! Whom news reaches.

use super::CommunityAudience;
use crate::audience::present::Present;
use chat::{ConversationId, Message, PersonId, Revision, Seq};
use std::sync::Arc;
use std::time::Instant;

/// Whom news of a conversation reaches.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The topic of the room, if it is open.
    pub(crate) room: Option<Arc<str>>,
    /// The topics of people.
    pub(crate) people: Vec<Arc<str>>,
}

impl CommunityAudience {
    pub(in crate::audience) fn topic_of(&self, person: &PersonId) -> Option<Arc<str>> {
        self.people.get(person).map(|present| present.topic.clone())
    }

    pub(in crate::audience) fn is_in(&self, conversation: ConversationId, person: &PersonId) -> bool {
        self.people.get(person).is_some_and(|present| present.is_in(conversation))
    }

    pub(in crate::audience) fn said(&mut self, message: &Message, payload: &str) -> Reach {
        if self.reading > 0 {
            self.recent.insert(message.conversation, (message.seq, Instant::now()));
        }
        let Some(live) = self.conversations.get_mut(&message.conversation) else {
            return Reach::default();
        };
        live.tell(message.seq);
        let crowd = live.is_crowd();
        if crowd {
            live.tab = Some(payload.into());
        }
        let Some(live) = self.conversations.get(&message.conversation) else { return Reach::default() };
        let room = live.topic.clone();
        let people = if crowd {
            message.mentions.iter().filter(|person| live.people.contains(*person)).collect()
        } else {
            live.people.iter().collect::<Vec<_>>()
        };
        Reach { room, people: self.topics(people) }
    }

    pub(in crate::audience) fn doubt(&mut self, conversation: ConversationId) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.doubtful = true;
        }
    }

    pub(in crate::audience) fn tell_person(
        &mut self,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Option<Arc<str>> {
        let present = self.people.get_mut(person)?;
        present.note_told(event, None, payload);
        Some(present.topic.clone())
    }

    pub(in crate::audience) fn changed(
        &mut self,
        conversation: ConversationId,
        event: &'static str,
        payload: &str,
    ) -> Reach {
        let Some(live) = self.conversations.get_mut(&conversation) else { return Reach::default() };
        // News of a room goes to those who have it open; a direct conversation has no topic but its people's own.
        if live.is_room {
            live.changes = live.changes.wrapping_add(u32::from(event == "conversation:changed"));
            return Reach { room: live.topic.clone(), people: Vec::new() };
        }
        let topic = |person| {
            let present: &mut Present = self.people.get_mut::<PersonId>(person)?;
            present.note_told(event, None, payload);
            Some(present.topic.clone())
        };
        Reach { room: None, people: live.people.iter().filter_map(topic).collect() }
    }

    pub(in crate::audience) fn changes(&self, conversation: ConversationId) -> u32 {
        self.conversations.get(&conversation).map(|live| live.changes).unwrap_or_default()
    }

    pub(in crate::audience) fn tell_others(
        &mut self,
        conversation: ConversationId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Vec<Arc<str>> {
        let Some(live) = self.conversations.get(&conversation) else { return Vec::new() };
        if live.people.len() > chat::limits::RECEIPTS_EACH_MAX {
            return Vec::new();
        }
        let others = live.people.iter().filter(|other| *other != person);
        let topic = |other| {
            let present: &mut Present = self.people.get_mut::<PersonId>(other)?;
            // Typing is transient: a client that joins a moment later has missed nothing.
            if event != "typing" {
                present.note_told(event, Some((conversation, person)), payload);
            }
            Some(present.topic.clone())
        };
        others.filter_map(topic).collect()
    }

    pub(in crate::audience) fn revised(&mut self, conversation: ConversationId, revision: Revision) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.revision = live.revision.max(revision);
            live.told_revision = live.told_revision.max(Some(revision));
        }
    }

    pub(in crate::audience) fn note_revision(&mut self, conversation: ConversationId, revision: Revision) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.note_revision(revision);
        }
    }

    pub(in crate::audience) fn told_revision(&self, conversation: ConversationId) -> Revision {
        let live = self.conversations.get(&conversation);
        live.and_then(|live| live.told_revision).unwrap_or_default()
    }

    pub(in crate::audience) fn revision(&self, conversation: ConversationId) -> Revision {
        self.conversations.get(&conversation).map(|live| live.revision).unwrap_or_default()
    }

    pub(in crate::audience) fn head(&self, conversation: ConversationId) -> Seq {
        self.conversations.get(&conversation).map(|live| live.head).unwrap_or_default()
    }

    pub(in crate::audience) fn heads(&self, heads: &mut Vec<(Arc<str>, ConversationId, Seq)>) {
        for (id, live) in &self.conversations {
            if let Some(topic) = live.topic.clone().filter(|_| live.head > Seq(0)) {
                heads.push((topic, *id, live.head));
            }
        }
    }

    pub(in crate::audience) fn topics(&self, people: Vec<&PersonId>) -> Vec<Arc<str>> {
        people.into_iter().filter_map(|person| self.topic_of(person)).collect()
    }
}
