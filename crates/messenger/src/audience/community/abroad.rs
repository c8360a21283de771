//! Announces here what other nodes report of their people.

use super::{Announcement, CommunityAudience};
use crate::audience::remote_people::{PersonReport, ReportEffect};
use crate::audience::status::Status;
use chat::PersonId;
use gateway::NodeId;
use serde_json::json;

impl CommunityAudience {
    /// Applies a node's report. Returns what is to be announced here; calls `moved` if whether the person has a device
    /// on another node changed.
    pub(in crate::audience) fn hear(
        &mut self,
        node: NodeId,
        told: PersonReport,
        moved: &dyn Fn(&PersonId, bool),
    ) -> Announcement {
        let person = told.person.clone();
        if let (Some(there), Some(present)) = (&told.here, self.people.get_mut(&person)) {
            present.adopt(there.chosen, there.choice);
        }
        let heard = self.abroad.hear(node, told);
        if let Some(has_device) = heard.moved {
            moved(&person, has_device);
        }
        let announcement = self.announce_heard(&person, &heard);
        self.abroad.forget_if_gone(&person);
        announcement
    }

    /// Announces a changed presence to all who share a conversation with the person; an unchanged one only to those
    /// with whom they share a new conversation.
    fn announce_heard(&mut self, person: &PersonId, heard: &ReportEffect) -> Announcement {
        let is_other = self.note_told(person);
        let Some(presence) = self.presence(person) else { return Announcement::default() };
        let topics = match (is_other, self.people.contains_key(person)) {
            (true, true) => self.acquaintances(person),
            (true, false) => self.acquaintances_in(person, &heard.places),
            (false, _) if presence.status == Status::Offline || heard.new.is_empty() => Vec::new(),
            (false, _) => self.acquaintances_in(person, &heard.new),
        };
        Announcement { topics, payload: json!(presence).to_string() }
    }

    /// Removes these people of a node, except those whom it has reported again since they were marked. Returns what is
    /// to be announced here.
    pub(in crate::audience) fn lose(
        &mut self,
        node: NodeId,
        people: &[PersonId],
        moved: &dyn Fn(&PersonId, bool),
    ) -> Vec<Announcement> {
        let mut announcements = Vec::new();
        for person in people {
            if self.abroad.is_leaving(node, person) {
                let gone = PersonReport { person: person.clone(), here: None, seen: None };
                announcements.push(self.hear(node, gone, moved));
            }
        }
        announcements.retain(|announcement| !announcement.topics.is_empty());
        announcements
    }
}
