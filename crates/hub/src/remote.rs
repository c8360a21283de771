//! Messages between the shards of a node.

use crate::bus::{BusEffect, PresenceChange, PresenceMeta};
use crate::effect::{Effect, Effects};
use crate::event::ShardMessage;
use crate::follow::Pace;
use crate::hub::Hub;
use crate::ids::InterestEpoch;
use crate::place::Position;
use crate::presence::{Presence, with_reference};
use crate::publication::{Draft, Publication};
use std::sync::Arc;

impl ShardMessage {
    /// Returns the topic of a message to a home; empty for messages that are not sent to homes.
    pub(crate) fn topic(&self) -> &str {
        match self {
            ShardMessage::Publish { publication, .. } | ShardMessage::Deliver(publication) => {
                &publication.topic
            }
            ShardMessage::Interest { topic, .. }
            | ShardMessage::InterestConfirmed { topic, .. }
            | ShardMessage::Track { topic, .. }
            | ShardMessage::Untrack { topic, .. }
            | ShardMessage::PresenceWanted { topic, .. }
            | ShardMessage::PublishNow { topic, .. }
            | ShardMessage::HistoryWanted { topic, .. }
            | ShardMessage::History { topic, .. }
            | ShardMessage::BusOutage { topic }
            | ShardMessage::Head { topic, .. } => topic,
            ShardMessage::Append { draft, .. } => &draft.topic,
            ShardMessage::PresenceState { .. } | ShardMessage::Appended { .. } | ShardMessage::Dismiss(_) => {
                ""
            }
        }
    }
}

impl Hub {
    pub(crate) fn shard_message(&mut self, message: ShardMessage, out: &mut Effects) {
        match message {
            ShardMessage::Publish { origin, publication } => {
                self.hand_to_bus(&publication, out);
                self.distribute(origin, publication, out);
            }
            ShardMessage::Deliver(publication) => self.deliver_locally(&publication, None, out),
            ShardMessage::Interest { topic, shard, on, epoch } => {
                self.interest(&topic, shard, on, epoch, out)
            }
            ShardMessage::InterestConfirmed { topic, epoch, position } => {
                self.interest_taken(&topic, epoch, position, out);
            }
            ShardMessage::Append { draft, owner } => self.append_at_home(*draft, owner, out),
            ShardMessage::Appended { owner, result } => self.appended(&owner, &result, out),
            ShardMessage::HistoryWanted { topic, shard, since, wanted } => {
                self.history_wanted(&topic, shard, since, wanted, out);
            }
            ShardMessage::History { topic, wanted, excerpt } => {
                self.history_told(&topic, wanted, *excerpt, out);
            }
            ShardMessage::Head { topic, position } => self.head(&topic, &position),
            ShardMessage::BusOutage { topic } => self.severed(&topic),
            ShardMessage::Track { topic, key, reference, previous, meta } => {
                let track = |presence: &mut Presence| presence.track(&key, reference, previous, &meta);
                self.presence_changed(&topic, track, out);
                if self.config.bus.is_some() {
                    let left = previous.map(|previous| (key.clone(), previous));
                    let json = with_reference(&meta, reference, previous);
                    let joined = Some(PresenceMeta { key, reference, json });
                    self.announce(&topic, PresenceChange { left, joined }, out);
                }
            }
            ShardMessage::Untrack { topic, key, reference } => {
                self.presence_changed(&topic, |presence| presence.untrack(&key, reference), out);
                if self.config.bus.is_some() {
                    let left = Some((key, reference));
                    self.announce(&topic, PresenceChange { left, joined: None }, out);
                }
            }
            ShardMessage::PresenceWanted { topic, owner } => self.presence_state(&topic, owner, out),
            ShardMessage::PresenceState { owner, event, json } => {
                self.push_presence(owner, event, &json, out)
            }
            ShardMessage::Dismiss(dismissal) => {
                self.dismiss_elsewhere(&dismissal, out);
                self.dismiss(&dismissal, out);
            }
            ShardMessage::PublishNow { topic, event, payload, here: false }
                if self.is_recoverable(&topic) =>
            {
                let draft = Draft { topic, event, payload, received: self.now, except: None };
                self.append(draft, None, out);
            }
            ShardMessage::PublishNow { topic, event, payload, here } => {
                let received = self.now;
                let publication = Arc::new(Publication { topic, event, payload, received, place: None });
                if !here {
                    self.disconnect_everywhere(&publication.topic, &publication.event, out);
                    self.hand_to_bus(&publication, out);
                }
                self.distribute(None, publication, out);
            }
        }
    }

    /// The home now sends publications here: admits the joins that waited for this.
    fn interest_taken(
        &mut self,
        name: &Arc<str>,
        epoch: InterestEpoch,
        position: Option<Position>,
        out: &mut Effects,
    ) {
        let Some(id) = self.topic_named(name) else { return };
        let topic = &mut self.topics[id.0 as usize];
        let Some(waiting) = topic.confirm(epoch) else { return };
        if let Some(follow) = topic.follow_mut() {
            (follow.reached, follow.pace) = (position, Pace::Keeping);
        }
        for (slot, instance) in waiting {
            // A join admitted earlier in this loop may have ended the topic and recreated it under the same id.
            if self.connections.join(slot, id).is_none_or(|join| join.instance != instance) {
                continue;
            }
            self.admit(slot, id, out);
            if let Some(key) = self.connections.key_of(slot) {
                self.resume(key, out);
            }
        }
    }

    fn hand_to_bus(&mut self, publication: &Arc<Publication>, out: &mut Effects) {
        // Also while the bus is away: it then remembers which topics have losses to report to the other nodes.
        if self.config.bus.is_some() {
            out.push(Effect::Bus(Box::new(BusEffect::Publish(publication.clone()))));
        }
    }
}
