//! A conversation that somebody online is in, or whose room is open.

use super::changes::DoubtedChange;
use super::limits::TABS_EACH_MAX;
use super::present::DeviceId;
use chat::{PersonId, Revision, Seq};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// Whether it is a room.
    pub(super) is_room: bool,
    /// Its topic, while the room is open.
    pub(super) topic: Option<Arc<str>>,
    /// Who has it open, on which connections.
    pub(super) joined: HashMap<DeviceId, Joined>,
    /// How many of them only look.
    pub(super) visitors: usize,
    /// Whether some of them have to go by the next round.
    pub(super) to_evict: bool,
    /// Whether all of them have to be judged again.
    pub(super) to_judge: bool,
    /// The newest message that is known of.
    pub(super) head: Seq,
    /// The newest that everybody here was told of; `None` before anybody was told anything.
    pub(super) told: Option<Seq>,
    /// The newest edit, delete or reaction that is known of.
    pub(super) revision: Revision,
    /// The newest that everybody here was told of; `None` before anybody was told anything.
    pub(super) told_revision: Option<Revision>,
    /// How often those who have it open were told that it is called otherwise, or has another topic text or rule.
    pub(super) changes: u32,
    /// Whether it may have a message that nobody was told of.
    pub(super) doubtful: bool,
    /// Changes of its messages that may be stored without anybody having been told.
    pub(super) doubted: Vec<DoubtedChange>,
    /// Whether changes were told to nobody one by one: then it is told how far they have come.
    pub(super) has_untold_changes: bool,
    /// How many reactions of people who are erased were told one by one in this round.
    pub(super) erased_told: u32,
    /// Those online who are in it.
    pub(super) people: HashSet<PersonId>,
    /// In a large room: what the conversations tabs are still to be told.
    pub(super) tab: Option<Arc<str>>,
}

impl Gathering {
    /// Whether it is a room of so many that each of their tabs is not told each message.
    pub(super) fn is_crowd(&self) -> bool {
        self.is_room && self.people.len() > TABS_EACH_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.people.is_empty()
    }

    /// It has come so far, and everybody here is told.
    pub(super) fn tell(&mut self, seq: Seq) {
        self.head = self.head.max(seq);
        self.told = self.told.max(Some(seq));
    }

    /// So far changes of its messages have come, as was read for somebody who is told that.
    pub(super) fn note_revision(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
        // Who is the first here is the only one to be told.
        self.told_revision.get_or_insert(revision);
    }

    /// Whether it is to be told now how far its changes have come. Of a room that nobody has open nobody is told: whoever opens
    /// it reads it, and is the first again.
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

    /// Whether somebody here was told less than is known.
    pub(super) fn is_behind(&self) -> bool {
        self.told.unwrap_or_default() < self.head
    }

    /// Who has it open.
    pub(super) fn joined_people(&self) -> Vec<PersonId> {
        let people: HashSet<&PersonId> = self.joined.values().map(|joined| &joined.person).collect();
        people.into_iter().cloned().collect()
    }
}

/// A connection that has a room open.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) person: PersonId,
    /// Joins of it: a connection that joins again has two for a moment.
    pub(super) joins: u32,
    /// Whether they have to go.
    pub(super) evicted: bool,
    /// Whether they only look.
    pub(super) visits: bool,
}
