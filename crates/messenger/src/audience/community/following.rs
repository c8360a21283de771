//! What the people who are here follow.

use super::{Announcement, Gathered};
use crate::audience::status::Status;
use chat::{Conversation, ConversationId, PersonId, Seq};
use serde_json::json;
use std::collections::HashSet;

/// A conversation to follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    pub(crate) id: ConversationId,
    pub(crate) is_room: bool,
}

impl Followed {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        Self { id: conversation.id, is_room: conversation.kind.is_room() }
    }
}

/// What has happened since conversations were read.
#[derive(Debug, Default)]
pub(crate) struct Newer {
    /// Those with newer messages, with the place from which on.
    pub(crate) after: Vec<(ConversationId, Seq)>,
    /// Whether there are others.
    pub(crate) others: bool,
}

impl Gathered {
    pub(in crate::audience) fn begin_following(&mut self, person: &PersonId) {
        let Some(present) = self.people.get_mut(person) else { return };
        present.stale = false;
        present.reading += 1;
        self.reading += 1;
        present.left_meanwhile.get_or_insert_default();
    }

    pub(in crate::audience) fn abandon_following(&mut self, person: &PersonId) {
        drop(self.end_following(person));
    }

    /// What they left meanwhile. Two devices may read at the same time: until both have, it is kept.
    pub(super) fn end_following(&mut self, person: &PersonId) -> Vec<ConversationId> {
        let Some(present) = self.people.get_mut(person) else { return Vec::new() };
        if present.reading == 0 {
            return Vec::new();
        }
        present.reading -= 1;
        self.reading = self.reading.saturating_sub(1);
        if present.reading > 0 {
            return present.left_meanwhile.clone().unwrap_or_default();
        }
        present.left_meanwhile.take().unwrap_or_default()
    }

    pub(in crate::audience) fn follow_all(
        &mut self,
        person: &PersonId,
        followed: &[Followed],
    ) -> Announcement {
        let left = self.end_following(person);
        let mut new = false;
        for followed in followed.iter().filter(|followed| !left.contains(&followed.id)) {
            new |= self.follow(person, followed);
        }
        // Somebody who has just come is told of to those with whom they share these.
        let seen = self.people.get(person).filter(|present| new && present.told != Status::Offline);
        let Some(present) = seen else { return Announcement::default() };
        let payload = json!(present.presence(person)).to_string();
        Announcement { topics: self.acquaintances(person), payload }
    }

    pub(in crate::audience) fn follow(&mut self, person: &PersonId, followed: &Followed) -> bool {
        let Some(present) = self.people.get_mut(person) else { return false };
        let Err(place) = present.conversations.binary_search(&followed.id) else { return false };
        present.conversations.insert(place, followed.id);
        let gathering = self.conversations.entry(followed.id).or_default();
        gathering.is_room = followed.is_room;
        gathering.people.insert(person.clone());
        if let Some((seq, _)) = self.recent.get(&followed.id) {
            gathering.head = gathering.head.max(*seq);
        }
        true
    }

    pub(in crate::audience) fn unfollow(&mut self, person: &PersonId, conversation: ConversationId) {
        let Some(present) = self.people.get_mut(person) else { return };
        if let Some(left) = &mut present.left_meanwhile {
            left.push(conversation);
        }
        if let Ok(place) = present.conversations.binary_search(&conversation) {
            present.conversations.remove(place);
            self.remove_from(conversation, person);
        }
    }

    pub(in crate::audience) fn newer(&self, person: &PersonId, read: &[(ConversationId, Seq)]) -> Newer {
        let after = read.iter().filter(|(id, seq)| self.head(*id) > *seq && self.is_in(*id, person)).copied();
        let known: HashSet<ConversationId> = read.iter().map(|(id, _)| *id).collect();
        let present = self.people.get(person);
        let others =
            present.is_some_and(|present| !present.conversations.iter().all(|id| known.contains(id)));
        Newer { after: after.collect(), others }
    }

    pub(in crate::audience) fn follow_again(&mut self, person: &PersonId) {
        if let Some(present) = self.people.get_mut(person) {
            present.stale = true;
        }
    }

    pub(super) fn remove_from(&mut self, conversation: ConversationId, person: &PersonId) {
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.people.remove(person);
            if gathering.is_empty() {
                self.conversations.remove(&conversation);
            }
        }
    }
}
