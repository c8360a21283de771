//! Conversations that are being erased.

use super::CommunityAudience;
use crate::audience::present::DeviceId;
use chat::{ConversationId, PersonId};
use std::sync::Arc;

/// Who is affected on this node.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    /// The topics of its members, with the payload for each.
    pub(crate) people: Vec<(Arc<str>, String)>,
    /// The joins to end: connections and the room's topic.
    pub(crate) joins: Vec<(DeviceId, Arc<str>)>,
}

impl CommunityAudience {
    pub(in crate::audience) fn erase(
        &mut self,
        conversation: ConversationId,
        event: &'static str,
        payload: &dyn Fn(&PersonId) -> String,
    ) -> Gone {
        let mut gone = Gone::default();
        let mut people: Vec<PersonId> = Vec::new();
        if let Some(live) = self.conversations.get_mut(&conversation) {
            if let Some(topic) = &live.topic {
                let devices = live.joined.evict_all();
                gone.joins.extend(devices.into_iter().map(|device| (device, topic.clone())));
            }
            people.extend(live.people.iter().cloned());
        }
        for person in people {
            let payload = payload(&person);
            if let Some(present) = self.people.get_mut(&person) {
                present.note_told(event, None, &payload);
                gone.people.push((present.topic.clone(), payload));
            }
            self.unfollow(&person, conversation);
        }
        self.leave_while_reading(conversation);
        gone.people.sort_unstable();
        gone.joins.sort_unstable();
        gone
    }

    /// A person's conversations that are being read may still contain it: they must not follow it then, and a device
    /// that is joining has to list them again.
    fn leave_while_reading(&mut self, conversation: ConversationId) {
        if self.reading == 0 {
            return;
        }
        for present in self.people.values_mut() {
            if let Some(meanwhile) = present.meanwhile()
                && !meanwhile.left.contains(&conversation)
            {
                meanwhile.left.push(conversation);
                present.note_told("conversations:changed", None, "{}");
            }
        }
    }
}
