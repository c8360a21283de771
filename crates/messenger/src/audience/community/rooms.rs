//! The rooms that are open, and who has them open.

use super::CommunityAudience;
use crate::audience::present::DeviceId;
use chat::{ConversationId, PersonId};
use std::sync::Arc;

impl CommunityAudience {
    pub(in crate::audience) fn open_room(
        &mut self,
        conversation: ConversationId,
        topic: Arc<str>,
        person: &PersonId,
        device: DeviceId,
    ) {
        let live = self.conversations.entry(conversation).or_default();
        live.is_room = true;
        live.topic = Some(topic);
        self.rooms_open += usize::from(live.joined.is_empty());
        live.joined.come(device, person);
    }

    pub(in crate::audience) fn close_room(&mut self, conversation: ConversationId, device: DeviceId) {
        let Some(live) = self.conversations.get_mut(&conversation) else { return };
        let was_open = !live.joined.is_empty();
        live.joined.go(device);
        if live.joined.is_empty() {
            live.topic = None;
            self.rooms_open -= usize::from(was_open);
        }
        if live.is_empty() {
            self.conversations.remove(&conversation);
        }
    }

    pub(in crate::audience) fn visit(&mut self, conversation: ConversationId, device: DeviceId) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.joined.visit(device);
        }
    }

    pub(in crate::audience) fn evict(
        &mut self,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Vec<(DeviceId, Arc<str>)> {
        let Some(live) = self.conversations.get_mut(&conversation) else { return Vec::new() };
        let Some(topic) = live.topic.clone() else { return Vec::new() };
        live.joined.evict(person).into_iter().map(|device| (device, topic.clone())).collect()
    }

    pub(in crate::audience) fn evict_later(&mut self, conversation: ConversationId, person: &PersonId) {
        let some = !self.evict(conversation, person).is_empty();
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.to_evict |= some;
        }
    }

    pub(in crate::audience) fn is_evicted(&self, conversation: ConversationId, device: DeviceId) -> bool {
        self.conversations.get(&conversation).is_some_and(|live| live.joined.is_evicted(device))
    }

    pub(in crate::audience) fn judge_again(&mut self, conversation: ConversationId) {
        if let Some(live) = self.conversations.get_mut(&conversation) {
            live.to_judge = true;
        }
    }
}
