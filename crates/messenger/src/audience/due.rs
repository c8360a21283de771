//! What a round over everybody finds: what is to be sent, and what has to be read again.

use super::changes::DoubtedChange;
use super::community::Announcement;
use super::present::DeviceId;
use super::remote_people::PersonReport;
use chat::{CommunityId, ConversationId, Moment, PersonId};
use std::sync::Arc;

/// What a sweep found.
#[derive(Default)]
pub(crate) struct Due {
    /// Presence of those whose lease has ended.
    pub(crate) announcements: Vec<Announcement>,
    /// Topics of people, with the newest message of a large room.
    pub(crate) tabs: Vec<(Vec<Arc<str>>, Arc<str>)>,
    /// When people were last seen, to be stored.
    pub(crate) seen: Vec<(CommunityId, PersonId, Moment)>,
    /// Joins to end, by connection and topic.
    pub(crate) evictions: Vec<(DeviceId, Arc<str>)>,
    /// Whether there are other nodes.
    pub(crate) has_nodes: bool,
    /// What is to be reported to the other nodes about people here.
    pub(crate) told: Vec<(CommunityId, PersonReport)>,
    /// Whether more is left for the next rounds.
    pub(crate) has_more_to_tell: bool,
}

/// What has to be read again.
#[derive(Default)]
pub(crate) struct Overdue {
    /// Rooms, with the people to be checked again.
    pub(crate) to_judge: Vec<(CommunityId, ConversationId, Vec<PersonId>)>,
    /// Conversations whose head is unknown.
    pub(crate) doubtful: Vec<(CommunityId, ConversationId)>,
    /// Conversations with changes that may be stored but were not announced.
    pub(crate) doubted: Vec<(CommunityId, ConversationId, Vec<DoubtedChange>)>,
    /// Conversations whose revision is to be announced.
    pub(crate) untold_changes: Vec<(CommunityId, ConversationId)>,
    /// Communities whose name or look may differ from what the people online know.
    pub(crate) looks: Vec<CommunityId>,
    /// People whose conversations have to be read again.
    pub(crate) to_follow: Vec<(CommunityId, PersonId)>,
}

impl Overdue {
    /// Sorts by id, because people are kept in no order and a simulation must be reproducible.
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
