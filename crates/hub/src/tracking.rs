//! Presence between the shard of a join and the home of its topic.

use crate::class::Class;
use crate::effect::Effects;
use crate::event::ShardMessage;
use crate::hub::Hub;
use crate::ids::{ConnectionKey, JoinInstance, TopicId};
use crate::join::JoinExtra;
use crate::outgoing::Outgoing;
use crate::presence::{Diff, PhxRef, Presence, PresenceOwner, STATE_EVENT, Tell};
use crate::publication::Publication;
use crate::sizes::block_bytes;
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the memory that a join needs for a tracked key, including its part of the list.
pub(crate) fn tracked_bytes(key: &str) -> u64 {
    let list = block_bytes(size_of::<JoinExtra>()) + block_bytes(4 * size_of::<(Box<str>, PhxRef)>());
    (list + block_bytes(key.len())) as u64
}

impl Hub {
    pub(crate) fn next_reference(&mut self) -> PhxRef {
        self.references += 1;
        PhxRef::new(self.config.salt, self.config.shard, self.references)
    }

    pub(crate) fn presence_owner(&self, slot: u32, instance: JoinInstance) -> PresenceOwner {
        let key = self.connections.key_of(slot).unwrap_or(ConnectionKey { slot, generation: 0 });
        PresenceOwner { shard: self.config.shard, key, instance }
    }

    /// Untracks everything that a join tracks.
    pub(crate) fn untrack_all(&mut self, slot: u32, topic: TopicId, out: &mut Effects) {
        let Some(extra) = self.connections.join_mut(slot, topic).and_then(|join| join.extra.as_mut()) else {
            return;
        };
        let tracked = std::mem::take(&mut extra.tracked);
        let name = self.topics[topic.0 as usize].name.clone();
        for (key, reference) in tracked {
            self.memory.presence -= tracked_bytes(&key);
            self.send_home(
                ShardMessage::Untrack { topic: name.clone(), key, reference },
                Class::Control,
                out,
            );
        }
    }

    pub(crate) fn presence_changed(
        &mut self,
        topic: &Arc<str>,
        change: impl FnOnce(&mut Presence) -> Diff,
        out: &mut Effects,
    ) {
        let (tracked_max, now) = (self.config.limits.presence_people_max, self.now);
        let presence = self.directory.presence_mut(topic);
        let diff = change(presence);
        let tell = presence.changed(diff, tracked_max, now);
        self.directory.recount(topic);
        // Also after a diff that was published at once: the count of diffs in this tick must be reset.
        self.directory.unsettle(topic);
        self.tell(topic, tell, out);
    }

    /// Publishes what was merged in this tick, and what is due by time.
    pub(crate) fn settle_presences(&mut self, out: &mut Effects) {
        for topic in std::mem::take(&mut self.directory.unsettled) {
            self.directory.home_mut(&topic).unsettled = false;
            let tell = match self.directory.home_mut(&topic).presence_mut() {
                Some(presence) => presence.settle(self.now),
                None => Tell::Nothing,
            };
            if tell == Tell::Later {
                self.directory.unsettle(&topic);
            }
            self.tell(&topic, tell, out);
            self.directory.release(&topic);
        }
    }

    fn tell(&mut self, topic: &Arc<str>, tell: Tell, out: &mut Effects) {
        let Tell::Event(event, json) = tell else { return };
        let payload = Outgoing::Json(Cow::Owned(json));
        let publication = Publication {
            topic: topic.clone(),
            event: event.into(),
            payload,
            received: self.now,
            place: None,
        };
        self.distribute(None, Arc::new(publication), out);
    }

    /// Handles a join's request for the presence state.
    pub(crate) fn presence_state(&mut self, topic: &Arc<str>, owner: PresenceOwner, out: &mut Effects) {
        if !self.waits_for_people(topic, owner, out) {
            self.tell_presence_state(topic, owner, out);
        }
    }

    pub(crate) fn tell_presence_state(&mut self, topic: &Arc<str>, owner: PresenceOwner, out: &mut Effects) {
        let (event, json) = match self.directory.known_presence_mut(topic) {
            Some(presence) => presence.for_newcomer(),
            None => (STATE_EVENT, "{}".into()),
        };
        // The state for newcomers is cached until the next change.
        self.directory.recount(topic);
        let message = ShardMessage::PresenceState { owner, event, json };
        self.send_to_shard(owner.shard, message, Class::Control, out);
    }

    pub(crate) fn push_presence(
        &mut self,
        owner: PresenceOwner,
        event: &'static str,
        json: &str,
        out: &mut Effects,
    ) {
        if let Some(topic) = self.connections.topic_of(owner.key, owner.instance) {
            self.push(owner.key.slot, topic, event, Outgoing::json(json), out);
        }
    }
}
