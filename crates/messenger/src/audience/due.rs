//! What a round over everybody finds: to be told, and to be read again.

use super::abroad::Told;
use super::changes::DoubtedChange;
use super::community::Announcement;
use super::present::DeviceId;
use chat::{CommunityId, ConversationId, Moment, PersonId};
use std::sync::Arc;

/// What a sweep found.
#[derive(Default)]
pub(crate) struct Due {
    /// Who is away for longer than a lease.
    pub(crate) announcements: Vec<Announcement>,
    /// For topics of people: the newest message of a large room.
    pub(crate) tabs: Vec<(Vec<Arc<str>>, Arc<str>)>,
    /// Who was seen when, to be stored.
    pub(crate) seen: Vec<(CommunityId, PersonId, Moment)>,
    /// Joins that end, by connection and topic.
    pub(crate) evictions: Vec<(DeviceId, Arc<str>)>,
    /// Whether there are other nodes.
    pub(crate) has_nodes: bool,
    /// What they are to be told of people here.
    pub(crate) told: Vec<(CommunityId, Told)>,
    /// Whether they are to be told of others by the next rounds.
    pub(crate) has_more_to_tell: bool,
}

/// What has to be read again.
#[derive(Default)]
pub(crate) struct Overdue {
    /// Rooms whose people are to be judged again.
    pub(crate) to_judge: Vec<(CommunityId, ConversationId, Vec<PersonId>)>,
    /// Conversations of which it is not known how far they have come.
    pub(crate) doubtful: Vec<(CommunityId, ConversationId)>,
    /// Conversations with changes that may be stored without anybody having been told.
    pub(crate) doubted: Vec<(CommunityId, ConversationId, Vec<DoubtedChange>)>,
    /// Conversations of which it is to be told how far changes have come.
    pub(crate) untold_changes: Vec<(CommunityId, ConversationId)>,
    /// Communities that may look otherwise than those know who are here.
    pub(crate) looks: Vec<CommunityId>,
    /// Whose conversations are to be read again.
    pub(crate) to_follow: Vec<(CommunityId, PersonId)>,
}

impl Overdue {
    /// By id, so that a simulation is the same each time: those who are here are kept in no order.
    pub(super) fn in_order(mut self) -> Self {
        self.to_judge.sort_unstable();
        self.doubtful.sort_unstable();
        self.doubted.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        self.untold_changes.sort_unstable();
        self.looks.sort_unstable();
        self.to_follow.sort_unstable();
        self
    }
}
