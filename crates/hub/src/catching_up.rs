//! How a shard follows a recoverable topic's order: arriving publications are queued for the members in order, and
//! missing ones are fetched from the topic's home. If nobody has them any more, members get a `gap`.

use crate::class::Class;
use crate::effect::Effects;
use crate::event::{ShardMessage, Wanted};
use crate::follow::{Pace, Step};
use crate::history::Excerpt;
use crate::hub::Hub;
use crate::ids::TopicId;
use crate::outgoing::Outgoing;
use crate::place::{Place, Position};
use crate::publication::Publication;
use crate::topic::Interest;
use std::sync::Arc;

/// The event that members get when publications are lost to them.
const GAP_EVENT: &str = "gap";
/// The history does not have them any more.
const TOO_OLD: &str = "too_old";
/// The bus was away when the members joined.
const UNAVAILABLE: &str = "unavailable";
/// The topic's order has a new epoch.
const NEW_EPOCH: &str = "epoch";

impl Hub {
    /// Handles a publication with a place, from the topic's home.
    pub(crate) fn deliver_in_order(&mut self, publication: &Arc<Publication>, place: &Place) {
        let Some(id) = self.topic_named(&publication.topic) else { return };
        let topic = &mut self.topics[id.0 as usize];
        if topic.interest() != Interest::Confirmed {
            return;
        }
        let Some(follow) = topic.follow_mut() else { return };
        match follow.step(place) {
            Step::Pass => {}
            Step::Queue => {
                if !self.queue_in_order(id, publication, place) {
                    self.fall_behind(id);
                }
            }
            Step::Miss => self.fall_behind(id),
        }
    }

    /// Handles a topic's position, from its home.
    pub(crate) fn head(&mut self, topic: &str, position: &Position) {
        let Some(id) = self.topic_named(topic) else { return };
        let topic = &mut self.topics[id.0 as usize];
        let Some(follow) = topic.follow().filter(|_| topic.interest() == Interest::Confirmed) else {
            return;
        };
        // The home is never behind what it sent here, unless the order has a new epoch.
        let missed = follow.reached.as_ref() != Some(position);
        if missed && follow.pace == Pace::Keeping {
            self.fall_behind(id);
        }
    }

    /// Marks the topic as behind; the missing part is requested when the queue is empty.
    pub(crate) fn fall_behind(&mut self, id: TopicId) {
        if let Some(follow) = self.topics[id.0 as usize].follow_mut() {
            follow.pace = Pace::Behind;
            self.counters.gaps += 1;
            self.list_question(id);
        }
    }

    /// Queues the next publication for the members here. Returns `false` if there is no room.
    fn queue_in_order(&mut self, id: TopicId, publication: &Arc<Publication>, place: &Place) -> bool {
        let topic = &mut self.topics[id.0 as usize];
        let Some(follow) = topic.follow_mut() else { return true };
        let skip = place.except.and_then(|name| follow.slot_of(name));
        if topic.members() > 0 && !self.enqueue(id, publication.clone(), skip, None) {
            return false;
        }
        if let Some(follow) = self.topics[id.0 as usize].follow_mut() {
            follow.advance(place.offset);
        }
        true
    }

    /// Lists a topic that has a request for its home, if it is not listed yet.
    pub(crate) fn list_question(&mut self, id: TopicId) {
        let Some(topic) = self.topics.get_mut(id.0 as usize) else { return };
        let queue_is_empty = topic.queued() == 0;
        let Some(follow) = topic.follow_mut() else { return };
        if follow.has_question(queue_is_empty) && !std::mem::replace(&mut follow.listed, true) {
            self.questions.push_back(id);
        }
    }

    /// Sends the requests to the homes that were listed when this call began.
    pub(crate) fn ask_questions(&mut self, out: &mut Effects) {
        for _ in 0..self.questions.len() {
            let Some(id) = self.questions.pop_front() else { return };
            let Some(topic) = self.topics.get_mut(id.0 as usize) else { continue };
            let (name, queue_is_empty) = (topic.name.clone(), topic.queued() == 0);
            let Some(follow) = topic.follow_mut() else { continue };
            follow.listed = false;
            if !follow.has_question(queue_is_empty) {
                continue;
            }
            let (since, wanted) = match (follow.pace, follow.recoveries_since()) {
                (Pace::Keeping, Some(since)) => {
                    follow.asked_since = Some(since);
                    (since, Wanted::Recovery)
                }
                (Pace::Keeping, None) | (Pace::Asked, _) => continue,
                (Pace::Behind, _) => {
                    follow.pace = Pace::Asked;
                    (follow.offset(), Wanted::CatchUp)
                }
            };
            let shard = self.config.shard;
            let message = ShardMessage::HistoryWanted { topic: name, shard, since, wanted };
            self.send_home(message, Class::Control, out);
        }
    }

    /// Handles the home's answer.
    pub(crate) fn history_told(&mut self, topic: &str, wanted: Wanted, excerpt: Excerpt, out: &mut Effects) {
        let Some(id) = self.topic_named(topic) else { return };
        if self.topics[id.0 as usize].interest() != Interest::Confirmed {
            return;
        }
        match wanted {
            Wanted::CatchUp => self.catch_up(id, &excerpt),
            Wanted::Recovery => self.recover(id, excerpt, out),
        }
    }

    fn catch_up(&mut self, id: TopicId, excerpt: &Excerpt) {
        let Some(follow) = self.topics[id.0 as usize].follow_mut() else { return };
        if follow.pace != Pace::Asked {
            return;
        }
        let reached = follow.offset();
        let lost = match &follow.reached {
            None => Some(UNAVAILABLE),
            Some(Position { epoch, offset }) if *epoch != excerpt.epoch || *offset > excerpt.newest => {
                Some(NEW_EPOCH)
            }
            Some(Position { offset, .. }) if excerpt.floor > *offset => Some(TOO_OLD),
            Some(_) => None,
        };
        // This answers a request that the topic made before it was recreated here; the right answer will follow.
        if lost.is_none() && excerpt.from > reached {
            return;
        }
        follow.pace = Pace::Behind;
        if let Some(reason) = lost {
            let to = Position { epoch: excerpt.epoch.clone(), offset: excerpt.from };
            if !self.tell_gap(id, reached, to, reason) {
                return;
            }
        }
        if self.queue_missing(id, excerpt) && excerpt.to >= excerpt.newest {
            if let Some(follow) = self.topics[id.0 as usize].follow_mut() {
                follow.pace = Pace::Keeping;
                follow.advance(excerpt.newest);
            }
            self.counters.gaps_healed += u64::from(lost.is_none());
        }
        self.list_question(id);
    }

    /// Queues everything of an excerpt that is not here yet. Returns `false` if there is no room for all of it.
    fn queue_missing(&mut self, id: TopicId, excerpt: &Excerpt) -> bool {
        for publication in &excerpt.publications {
            let Some(place) = publication.place.as_deref() else { continue };
            let reached = self.topics[id.0 as usize].follow().map_or(0, |follow| follow.offset());
            if place.offset > reached && !self.queue_in_order(id, publication, place) {
                return false;
            }
        }
        true
    }

    /// Queues a notice to the members that they will not get what is above `from` and up to `to`, and moves to `to`.
    /// Returns `false` if the queue has no room.
    pub(crate) fn tell_gap(&mut self, id: TopicId, from: u64, to: Position, reason: &str) -> bool {
        let json = format!(
            "{{\"epoch\":\"{}\",\"from\":{from},\"to\":{},\"reason\":\"{reason}\"}}",
            to.epoch.as_str(),
            to.offset
        );
        if !self.queue_gap(id, json) {
            return false;
        }
        self.counters.gaps_told += 1;
        if let Some(follow) = self.topics[id.0 as usize].follow_mut() {
            follow.reached = Some(to);
        }
        true
    }

    /// Queues a notice of loss for the members, if there are any. Returns `false` if there is no room.
    fn queue_gap(&mut self, id: TopicId, json: String) -> bool {
        let gap = self.gap(id, json);
        self.topics[id.0 as usize].members() == 0 || self.enqueue(id, gap, None, None)
    }

    /// Creates the notice of loss for a topic.
    pub(crate) fn gap(&self, id: TopicId, json: String) -> Arc<Publication> {
        Arc::new(Publication {
            topic: self.topics[id.0 as usize].name.clone(),
            event: GAP_EVENT.into(),
            payload: Outgoing::Json(json.into()),
            received: self.now,
            place: None,
        })
    }
}
