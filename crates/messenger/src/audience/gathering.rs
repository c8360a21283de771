//! A conversation that somebody online is in, or whose room is open.

use chat::{PersonId, Revision, Seq};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// Whether it is a room.
    pub(super) is_room: bool,
    /// Its topic, while the room is open.
    pub(super) topic: Option<Arc<str>>,
    /// Joins of that topic.
    pub(super) joins: u32,
    /// The newest message that was told while it was open.
    pub(super) head: Seq,
    /// The newest edit, delete or reaction that was told.
    pub(super) revision: Revision,
    /// Those online who are in it.
    pub(super) people: HashSet<PersonId>,
    /// In a large room: what the conversations tabs are still to be told.
    pub(super) tab: Option<Arc<str>>,
}

impl Gathering {
    pub(super) fn is_empty(&self) -> bool {
        self.joins == 0 && self.people.is_empty()
    }
}
