//! What has to be checked again when this node may have missed what others did, or when a community's settings admit
//! other people than before: everything it keeps about those online.

use super::community::CommunityAudience;
use super::{Audience, Reach};
use chat::{CommunityId, ConversationId, PersonId, Revision, Seq};
use std::sync::Arc;

/// An open room, with the revision that its members were notified of.
#[derive(Clone, Debug)]
pub(crate) struct OpenRoom {
    pub(crate) conversation: ConversationId,
    pub(crate) topic: Arc<str>,
    pub(crate) revision: Revision,
}

/// A conversation's head, and who may not have been notified of it. In a crowd, the conversations tabs learn it with
/// the next message.
#[derive(Debug)]
pub(crate) struct Untold {
    pub(crate) community: CommunityId,
    pub(crate) conversation: ConversationId,
    pub(crate) last: Seq,
    pub(crate) reach: Reach,
}

impl Audience {
    /// Marks everybody online to be checked, and their conversations to be read, again in later rounds. Returns the
    /// open rooms.
    pub(crate) fn doubt_everything(&self) -> Vec<(CommunityId, Vec<OpenRoom>)> {
        let mut rooms = Vec::new();
        for part in &self.parts {
            for (community, state) in super::lock(part).iter_mut() {
                rooms.push((community.clone(), state.doubt_everything()));
            }
        }
        rooms
    }

    /// Like [`Audience::doubt_everything`], for one community.
    pub(crate) fn doubt_community(&self, community: &CommunityId) {
        self.with(community, |state| drop(state.doubt_everything()));
    }

    /// Records heads that were read for a person who is sent them.
    pub(crate) fn note_heads(&self, community: &CommunityId, heads: &[(ConversationId, Seq)]) {
        self.with(community, |state| state.note_heads(heads));
    }

    /// Records a head that was read on behalf of nobody.
    pub(crate) fn found(&self, community: &CommunityId, conversation: ConversationId, last: Seq) {
        self.with(community, |state| state.found(conversation, last));
    }

    /// Takes the conversations whose known head is beyond what everybody here was notified of; they count as notified
    /// from here on.
    pub(crate) fn take_untold(&self) -> Vec<Untold> {
        let mut untold = Vec::new();
        for part in &self.parts {
            for (community, state) in super::lock(part).iter_mut() {
                state.take_untold(community, &mut untold);
            }
        }
        untold.sort_by(|one, other| {
            (&one.community, one.conversation).cmp(&(&other.community, other.conversation))
        });
        untold
    }
}

impl CommunityAudience {
    fn doubt_everything(&mut self) -> Vec<OpenRoom> {
        self.look.is_doubtful = true;
        self.people.values_mut().for_each(|present| present.stale = true);
        let mut rooms = Vec::new();
        for (id, live) in &mut self.conversations {
            let Some(topic) = &live.topic else { continue };
            live.to_judge = true;
            let revision = live.told_revision.unwrap_or(live.revision);
            rooms.push(OpenRoom { conversation: *id, topic: topic.clone(), revision });
        }
        rooms
    }

    fn note_heads(&mut self, heads: &[(ConversationId, Seq)]) {
        for (id, seq) in heads {
            if let Some(live) = self.conversations.get_mut(id) {
                live.head = live.head.max(*seq);
                // The first reader here is the only one to notify, and gets the head with the answer. A later reader
                // does not notify the others.
                live.told.get_or_insert(*seq);
            }
        }
    }

    fn found(&mut self, conversation: ConversationId, last: Seq) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.head = live.head.max(last);
        }
    }

    fn take_untold(&mut self, community: &CommunityId, untold: &mut Vec<Untold>) {
        let mut behind: Vec<(_, _, _, Vec<PersonId>)> = Vec::new();
        for (id, live) in self.conversations.iter_mut().filter(|(_, live)| live.is_behind()) {
            live.told = Some(live.head);
            let people = if live.is_crowd() { Vec::new() } else { live.people.iter().cloned().collect() };
            behind.push((*id, live.head, live.topic.clone(), people));
        }
        for (conversation, last, room, people) in behind {
            let reach = Reach { room, people: self.topics(people.iter().collect()) };
            untold.push(Untold { community: community.clone(), conversation, last, reach });
        }
    }
}
