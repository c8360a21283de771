//! What the people on this node follow.

use super::{Announcement, CommunityAudience};
use crate::audience::present::{DeviceId, Meanwhile};
use crate::audience::status::Status;
use chat::{Conversation, ConversationId, Moment, PersonId, Revision, Seq};
use serde_json::json;
use std::collections::HashSet;

/// A conversation to follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    pub(crate) id: ConversationId,
    pub(crate) is_room: bool,
    /// The revision of its changes.
    pub(crate) revision: Revision,
}

impl Followed {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        let Conversation { id, kind, revision, .. } = *conversation;
        Self { id, is_room: kind.is_room(), revision }
    }
}

/// What was read of a person's conversations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) followed: &'a [Followed],
    /// What they followed before and are no longer in.
    pub(crate) gone: &'a [ConversationId],
}

/// The effect of a reading.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) announcement: Announcement,
    /// Whether they follow other conversations than before.
    pub(crate) is_other: bool,
}

/// What has happened since conversations were read.
#[derive(Debug, Default)]
pub(crate) struct Newer {
    /// Conversations with newer messages, and the last message that was read of each.
    pub(crate) after: Vec<(ConversationId, Seq)>,
    /// Whether they are in conversations that were not read.
    pub(crate) others: bool,
}

impl CommunityAudience {
    pub(in crate::audience) fn begin_following(&mut self, person: &PersonId) {
        let Some(present) = self.people.get_mut(person) else { return };
        present.stale = false;
        present.begin_reading();
        self.reading += 1;
    }

    pub(in crate::audience) fn abandon_following(&mut self, person: &PersonId) {
        drop(self.end_following(person));
    }

    /// Returns what they did during the reading. Two devices may read at the same time: it is kept until both are done.
    pub(super) fn end_following(&mut self, person: &PersonId) -> Meanwhile {
        let Some(present) = self.people.get_mut(person) else { return Meanwhile::default() };
        let Some(meanwhile) = present.end_reading() else { return Meanwhile::default() };
        self.reading = self.reading.saturating_sub(1);
        meanwhile
    }

    pub(in crate::audience) fn follow_all(
        &mut self,
        person: &PersonId,
        Reading { followed, gone }: Reading<'_>,
    ) -> Changed {
        let meanwhile = self.end_following(person);
        let mut new = false;
        for followed in followed.iter().filter(|followed| !meanwhile.left.contains(&followed.id)) {
            new |= self.follow(person, followed);
        }
        let gone: Vec<_> = gone.iter().filter(|gone| !meanwhile.came.contains(gone)).collect();
        gone.iter().for_each(|conversation| self.unfollow(person, **conversation));
        Changed { announcement: self.introduce(person, new), is_other: new || !gone.is_empty() }
    }

    /// Returns what they follow but was not read.
    pub(in crate::audience) fn unread(
        &self,
        person: &PersonId,
        followed: &[Followed],
    ) -> Vec<ConversationId> {
        let Some(present) = self.people.get(person) else { return Vec::new() };
        let read: HashSet<ConversationId> = followed.iter().map(|followed| followed.id).collect();
        present.conversations.iter().filter(|id| !read.contains(*id)).copied().collect()
    }

    fn introduce(&self, person: &PersonId, new: bool) -> Announcement {
        // A person who has just arrived is announced to those with whom they share these.
        let seen = self.people.get(person).filter(|present| new && present.told != Status::Offline);
        if seen.is_none() {
            return Announcement::default();
        }
        let payload = json!(self.presence(person)).to_string();
        Announcement { topics: self.acquaintances(person), payload }
    }

    /// In a room, newcomers are announced to those who have it open; the newcomers see who is there by their join of
    /// the room. A direct conversation or a group has no topic to join, so both sides are sent each other's presence.
    pub(in crate::audience) fn acquaint(
        &self,
        conversation: ConversationId,
        newcomers: &[PersonId],
    ) -> Vec<Announcement> {
        let Some(live) = self.conversations.get(&conversation) else { return Vec::new() };
        let is_new = |person: &PersonId| newcomers.contains(person);
        let told_of: Vec<&PersonId> = if live.is_room {
            newcomers.iter().filter(|person| self.is_in(conversation, person)).collect()
        } else {
            self.online_in(conversation).into_iter().collect()
        };
        let announce = |person: &PersonId| {
            let presence = self.presence(person).filter(|presence| presence.status != Status::Offline)?;
            let mut topics = if is_new(person) {
                self.acquaintances_in(person, &[conversation])
            } else {
                self.topics(live.people.iter().filter(|other| is_new(other)).collect())
            };
            let own = self.topic_of(person);
            topics.retain(|topic| own.as_ref() != Some(topic));
            (!topics.is_empty()).then(|| Announcement { topics, payload: json!(presence).to_string() })
        };
        told_of.into_iter().filter_map(announce).collect()
    }

    pub(in crate::audience) fn follow(&mut self, person: &PersonId, followed: &Followed) -> bool {
        let Some(present) = self.people.get_mut(person) else { return false };
        let Err(place) = present.conversations.binary_search(&followed.id) else { return false };
        present.conversations.insert(place, followed.id);
        present.is_news = true;
        present.unban(followed.id);
        if let Some(meanwhile) = present.meanwhile() {
            meanwhile.came.push(followed.id);
        }
        let live = self.conversations.entry(followed.id).or_default();
        live.is_room = followed.is_room;
        live.people.insert(person.clone());
        // Changes of a room are sent to those who have it open, so its revision is known from their joins.
        if !followed.is_room {
            live.note_revision(followed.revision);
        }
        if let Some((seq, _)) = self.recent.get(&followed.id) {
            live.head = live.head.max(*seq);
        }
        true
    }

    pub(in crate::audience) fn unfollow(&mut self, person: &PersonId, conversation: ConversationId) {
        let Some(present) = self.people.get_mut(person) else { return };
        if let Some(meanwhile) = present.meanwhile() {
            meanwhile.left.push(conversation);
            meanwhile.came.retain(|came| *came != conversation);
        }
        if let Ok(place) = present.conversations.binary_search(&conversation) {
            present.conversations.remove(place);
            present.is_news = true;
            self.remove_from(conversation, person);
        }
    }

    /// Like [`CommunityAudience::follow`], for a person who has the room open and was found to be in it, unless they were
    /// evicted since.
    pub(in crate::audience) fn follow_joined(
        &mut self,
        person: &PersonId,
        followed: &Followed,
        device: DeviceId,
    ) -> Vec<Announcement> {
        if self.is_evicted(followed.id, device) || !self.follow(person, followed) {
            return Vec::new();
        }
        self.acquaint(followed.id, std::slice::from_ref(person))
    }

    /// Like [`CommunityAudience::unfollow`], for a limited time: afterwards their conversations are read again.
    pub(in crate::audience) fn ban(
        &mut self,
        person: &PersonId,
        conversation: ConversationId,
        until: Option<Moment>,
    ) {
        let Some(present) = self.people.get_mut(person) else { return };
        let was_banned = present.unban(conversation);
        if let Some(until) = until.filter(|_| was_banned || present.is_in(conversation)) {
            present.ban(conversation, until);
        }
        self.unfollow(person, conversation);
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
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.people.remove(person);
            if live.is_empty() {
                self.conversations.remove(&conversation);
            }
        }
    }
}
