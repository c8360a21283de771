//! The rooms that are open, and who has them open.

use super::Gathered;
use crate::audience::gathering::Joined;
use crate::audience::present::DeviceId;
use chat::{ConversationId, PersonId};
use std::sync::Arc;

impl Gathered {
    pub(in crate::audience) fn open_room(
        &mut self,
        conversation: ConversationId,
        topic: Arc<str>,
        person: &PersonId,
        device: DeviceId,
    ) {
        let gathering = self.conversations.entry(conversation).or_default();
        gathering.is_room = true;
        gathering.topic = Some(topic);
        let make = || Joined { person: person.clone(), joins: 0, evicted: false, visits: false };
        let joined = gathering.joined.entry(device).or_insert_with(make);
        joined.joins += 1;
        // A new join is checked again.
        joined.evicted = false;
        gathering.visitors -= usize::from(std::mem::take(&mut joined.visits));
    }

    pub(in crate::audience) fn close_room(&mut self, conversation: ConversationId, device: DeviceId) {
        let Some(gathering) = self.conversations.get_mut(&conversation) else { return };
        if let Some(joined) = gathering.joined.get_mut(&device) {
            joined.joins -= 1;
            if joined.joins == 0 {
                gathering.visitors -= usize::from(joined.visits);
                gathering.joined.remove(&device);
            }
        }
        if gathering.joined.is_empty() {
            gathering.topic = None;
        }
        if gathering.is_empty() {
            self.conversations.remove(&conversation);
        }
    }

    pub(in crate::audience) fn visit(&mut self, conversation: ConversationId, device: DeviceId) {
        let Some(gathering) = self.conversations.get_mut(&conversation) else { return };
        if let Some(joined) = gathering.joined.get_mut(&device).filter(|joined| !joined.visits) {
            joined.visits = true;
            gathering.visitors += 1;
        }
    }

    pub(in crate::audience) fn evict(
        &mut self,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Vec<(DeviceId, Arc<str>)> {
        let Some(gathering) = self.conversations.get_mut(&conversation) else { return Vec::new() };
        let Some(topic) = gathering.topic.clone() else { return Vec::new() };
        let theirs = gathering.joined.iter_mut().filter(|(_, joined)| joined.person == *person);
        let evicted = theirs.map(|(device, joined)| {
            joined.evicted = true;
            (*device, topic.clone())
        });
        evicted.collect()
    }

    pub(in crate::audience) fn evict_later(&mut self, conversation: ConversationId, person: &PersonId) {
        let some = !self.evict(conversation, person).is_empty();
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.to_evict |= some;
        }
    }

    pub(in crate::audience) fn is_evicted(&self, conversation: ConversationId, device: DeviceId) -> bool {
        let gathering = self.conversations.get(&conversation);
        gathering.and_then(|gathering| gathering.joined.get(&device)).is_some_and(|joined| joined.evicted)
    }

    pub(in crate::audience) fn judge_again(&mut self, conversation: ConversationId) {
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.to_judge = true;
        }
    }
}
