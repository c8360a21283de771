//! A conversation that somebody online is in, or whose room is open.

use super::changes::DoubtedChange;
use super::joined::Joined;
use super::limits::TABS_EACH_MAX;
use chat::{PersonId, Revision, Seq};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct LiveConversation {
    /// Whether it is a room.
    pub(super) is_room: bool,
    /// Its topic, while the room is open.
    pub(super) topic: Option<Arc<str>>,
    /// Who has it open.
    pub(super) joined: Joined,
    /// Whether some of them are to be evicted in the next round.
    pub(super) to_evict: bool,
    /// Whether all of them have to be checked again.
    pub(super) to_judge: bool,
    /// The newest known message.
    pub(super) head: Seq,
    /// The newest message that everybody here was notified of; `None` before anybody was.
    pub(super) told: Option<Seq>,
    /// The newest known edit, delete or reaction.
    pub(super) revision: Revision,
    /// The newest one that everybody here was notified of; `None` before anybody was.
    pub(super) told_revision: Option<Revision>,
    /// How often those who have it open were notified of a new title, topic text or rule.
    pub(super) changes: u32,
    /// Whether it may have a message that was not announced.
    pub(super) doubtful: bool,
    /// Changes of its messages that may be stored but were not announced.
    pub(super) doubted: Vec<DoubtedChange>,
    /// Whether changes were not announced one by one; then its revision is to be announced.
    pub(super) has_untold_changes: bool,
    /// How many reactions of erased people were announced one by one in this round.
    pub(super) erased_told: u32,
    /// The people online who are in it.
    pub(super) people: HashSet<PersonId>,
    /// In a large room: the payload that the conversations tabs are still to be sent.
    pub(super) tab: Option<Arc<str>>,
}

impl LiveConversation {
    /// Whether it is a room with so many people that their conversations tabs are not sent every message.
    pub(super) fn is_crowd(&self) -> bool {
        self.is_room && self.people.len() > TABS_EACH_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.people.is_empty()
    }

    /// Records that this message is stored, and that everybody here is notified of it.
    pub(super) fn tell(&mut self, seq: Seq) {
        self.head = self.head.max(seq);
        self.told = self.told.max(Some(seq));
    }

    /// Records the revision that was read for a person who is sent it.
    pub(super) fn note_revision(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
        // The first person here is the only one who needs it.
        self.told_revision.get_or_insert(revision);
    }

    /// Takes whether its revision is to be announced now. In a room that nobody has open nobody is notified: whoever
    /// opens it reads the revision, and is the first again.
    pub(super) fn take_untold_changes(&mut self) -> bool {
        if !std::mem::take(&mut self.has_untold_changes) {
            return false;
        }
        let is_heard = !self.is_room || self.topic.is_some();
        if !is_heard {
            self.told_revision = None;
        }
        is_heard
    }

    /// Whether somebody here was notified of less than is known.
    pub(super) fn is_behind(&self) -> bool {
        self.told.unwrap_or_default() < self.head
    }
}
