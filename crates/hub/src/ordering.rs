//! The path of a publication on a recoverable topic: to the topic's home, which assigns its place and stores it, and
//! from there to every shard with members. The publisher gets the result if it asked for it.

use crate::class::Class;
use crate::effect::{Effect, Effects};
use crate::event::{ShardMessage, Wanted};
use crate::history::History;
use crate::hub::Hub;
use crate::ids::{ConnectionKey, JoinInstance, ShardIndex, TopicId};
use crate::limits::{CATCH_UP_BYTES_MAX, CATCH_UP_MESSAGES_MAX};
use crate::outgoing::Outgoing;
use crate::place::{Epoch, Place, Position, PublisherId};
use crate::presence::PhxRef;
use crate::publication::{AppendError, AppendOwner, Draft};
use proto::phoenix::Ref;
use std::sync::Arc;

impl Hub {
    /// Returns whether publications on a topic are ordered and stored.
    pub(crate) fn is_recoverable(&self, topic: &str) -> bool {
        self.config.histories.rule(topic).is_some()
    }

    /// Sends a draft to the home of its topic.
    pub(crate) fn append(&mut self, draft: Draft, owner: Option<AppendOwner>, out: &mut Effects) {
        self.disconnect_everywhere(&draft.topic, &draft.event, out);
        let home = self.home_of(&draft.topic);
        let message = ShardMessage::Append { draft: Box::new(draft), owner: owner.map(Box::new) };
        if home == self.config.shard {
            self.shard_message(message, out);
        } else {
            out.push(Effect::ToShard { shard: home, message, class: Class::Durable });
        }
    }

    /// Returns the owner of an append: the message that waits for the result.
    pub(crate) fn append_owner(&self, slot: u32, instance: JoinInstance, reference: Ref) -> AppendOwner {
        let key = self.connections.key_of(slot).unwrap_or(ConnectionKey { slot, generation: 0 });
        AppendOwner { shard: self.config.shard, key, instance, reference }
    }

    /// Returns the id under which a member publishes for the others only, and by which it is left out.
    pub(crate) fn publisher(&mut self, slot: u32, topic: TopicId, instance: JoinInstance) -> PublisherId {
        let fresh = PublisherId::of(self.hash, self.config.shard, instance);
        let Some(follow) = self.topics[topic.0 as usize].follow_mut() else { return fresh };
        let name = follow.publisher_of(slot).unwrap_or(fresh);
        follow.name(slot, name);
        self.recount_follow(topic);
        name
    }

    /// Home only: assigns a publication its place, stores it and distributes it to every shard with members.
    pub(crate) fn append_at_home(
        &mut self,
        draft: Draft,
        owner: Option<Box<AppendOwner>>,
        out: &mut Effects,
    ) {
        if self.config.bus.is_some() {
            return self.append_to_bus(Box::new(draft), owner, out);
        }
        let Some(history) = self.history(&draft.topic).filter(|_| draft.payload.is_object()) else {
            // The shards of a node agree on which topics are recoverable, and contexts and handles accept only objects.
            self.counters.appends_refused += 1;
            return;
        };
        let Position { epoch, offset: previous } = history.position();
        let place = Place { epoch: epoch.clone(), offset: previous + 1, previous, except: draft.except };
        let position = Position { epoch, offset: place.offset };
        let publication = Arc::new(draft.at(place));
        let now = self.now;
        if let Some(history) = self.archive.get_mut(&publication.topic) {
            history.append(publication.clone(), now);
        }
        self.archive.changed(&publication.topic, now);
        self.counters.appends += 1;
        self.distribute(None, publication, out);
        if let Some(owner) = owner {
            self.answer_append(owner, Ok(position), out);
        }
    }

    /// Home only: returns a recoverable topic's history; begins one if there is none.
    pub(crate) fn history(&mut self, topic: &Arc<str>) -> Option<&mut History> {
        let rule = self.config.histories.rule(topic)?;
        let (references, config) = (&mut self.references, &self.config);
        let epoch = || {
            *references += 1;
            let reference = PhxRef::new(config.salt, config.shard, *references);
            Epoch::new(reference.as_str()).expect("base64 for URLs is an epoch")
        };
        Some(self.archive.open(topic, rule, self.now, epoch))
    }

    /// On the publisher's shard: sends the result to the client that waits for it.
    pub(crate) fn appended(
        &mut self,
        owner: &AppendOwner,
        result: &Result<Position, AppendError>,
        out: &mut Effects,
    ) {
        let Some(topic) = self.connections.topic_of(owner.key, owner.instance) else { return };
        let (status, response) = match result {
            Ok(Position { epoch, offset }) => {
                let epoch = epoch.as_str();
                ("ok", format!("{{\"epoch\":\"{epoch}\",\"offset\":{offset}}}"))
            }
            Err(error) => ("error", format!("{{\"reason\":\"{}\"}}", error.reason())),
        };
        self.reply(owner.key.slot, topic, &owner.reference, status, Outgoing::Json(response.into()), out);
    }

    /// Handles a durable message of this shard that a full mailbox refused.
    pub(crate) fn refused(&mut self, message: ShardMessage, out: &mut Effects) {
        match message {
            ShardMessage::Append { owner, .. } => {
                self.counters.appends_refused += 1;
                if let Some(owner) = owner {
                    self.appended(&owner, &Err(AppendError::Overloaded), out);
                }
            }
            // The shard notices the gap with the next publication; in case there is none, it will be sent the topic's
            // position.
            ShardMessage::Deliver(publication) => self.archive.unheard(&publication.topic, self.now),
            ShardMessage::Publish { .. }
            | ShardMessage::Interest { .. }
            | ShardMessage::InterestConfirmed { .. }
            | ShardMessage::Appended { .. }
            | ShardMessage::HistoryWanted { .. }
            | ShardMessage::History { .. }
            | ShardMessage::Head { .. }
            | ShardMessage::BusOutage { .. }
            | ShardMessage::Track { .. }
            | ShardMessage::Untrack { .. }
            | ShardMessage::PresenceWanted { .. }
            | ShardMessage::PresenceState { .. }
            | ShardMessage::Dismiss(_)
            | ShardMessage::PublishNow { .. } => debug_assert!(false, "only these are durable"),
        }
    }

    /// Home only: handles a shard's request for part of a topic's history.
    pub(crate) fn history_wanted(
        &mut self,
        topic: &Arc<str>,
        shard: ShardIndex,
        since: u64,
        wanted: Wanted,
        out: &mut Effects,
    ) {
        let older = self.archive.get_mut(topic).is_some_and(|history| since < history.floor);
        if older && wanted == Wanted::Recovery && self.ask_for_older(topic, shard, since, out) {
            return;
        }
        let complete = self.archive.upstream(topic).is_none_or(|upstream| upstream.complete);
        self.answer_history(topic, shard, since, wanted, !complete, out);
    }

    /// Home only: answers from the history as it is. `unavailable` means that there may be more elsewhere.
    pub(crate) fn answer_history(
        &mut self,
        topic: &Arc<str>,
        shard: ShardIndex,
        since: u64,
        wanted: Wanted,
        unavailable: bool,
        out: &mut Effects,
    ) {
        let limits = &self.config.limits;
        let (messages_max, bytes_max) = (limits.recovery_messages_max, limits.recovery_bytes_max);
        // Without a history the shard's interest has ended, and it no longer waits for an answer.
        let Some(history) = self.archive.get_mut(topic) else { return };
        history.trim(self.now);
        let mut excerpt = match wanted {
            Wanted::CatchUp => history.oldest_since(since, CATCH_UP_MESSAGES_MAX, CATCH_UP_BYTES_MAX),
            Wanted::Recovery => history.newest_since(since, messages_max, bytes_max),
        };
        excerpt.unavailable = unavailable;
        self.archive.changed(topic, self.now);
        let message = ShardMessage::History { topic: topic.clone(), wanted, excerpt: Box::new(excerpt) };
        self.send_to_shard(shard, message, Class::Control, out);
    }

    /// Home only: expires old publications, and sends positions to shards that may have missed the newest publication.
    pub(crate) fn settle_histories(&mut self, out: &mut Effects) {
        self.archive.expire(self.now);
        self.tell_heads(out);
        self.read_again(out);
        for (topic, position) in self.archive.take_unheard(self.now) {
            let others = self.directory.home(&topic).map_or_else(Vec::new, |home| home.others().to_vec());
            for shard in others {
                let message = ShardMessage::Head { topic: topic.clone(), position: position.clone() };
                out.push(Effect::ToShard { shard, message, class: Class::Control });
            }
        }
    }
}
