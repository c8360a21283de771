//! Interest: which topics' publications reach this node and its shards. Joins wait until publications reach them; while
//! the bus is away they do not wait.

use crate::bus::{BusEffect, BusEvent, SubscriptionId};
use crate::class::Class;
use crate::effect::{Effect, Effects};
use crate::event::ShardMessage;
use crate::hub::Hub;
use crate::ids::{InterestEpoch, ShardIndex};
use crate::limits::{PEOPLE_BELIEVED_US, RESUBSCRIBED_MAX};
use crate::link::{Link, LinkState};
use crate::place::Position;
use crate::publication::AppendError;
use crate::topic::Interest;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Hub {
    /// Home only: handles a change of a shard's interest.
    pub(crate) fn interest(
        &mut self,
        topic: &Arc<str>,
        shard: ShardIndex,
        on: bool,
        epoch: InterestEpoch,
        out: &mut Effects,
    ) {
        if shard != self.config.shard {
            self.directory.home_mut(topic).set_interest(shard, on);
        }
        let followed = !self.shards_with_members(topic).is_empty();
        match (self.config.bus, on) {
            (None, true) => {
                self.history(topic);
                self.archive.follow(topic, true, self.now);
                self.confirm(topic, shard, epoch, out);
            }
            (None, false) => self.archive.follow(topic, followed, self.now),
            (Some(_), true) => self.interest_in_bus(topic, shard, epoch, out),
            (Some(_), false) => self.no_interest_in_bus(topic, shard, followed, out),
        }
        if !on {
            self.directory.release(topic);
        }
    }

    /// At the home only. Returns the shards that have members or wait for the home's confirmation, ascending.
    pub(crate) fn shards_with_members(&self, topic: &str) -> Vec<ShardIndex> {
        let mut shards = self.directory.home(topic).map_or_else(Vec::new, |home| home.others().to_vec());
        let own = self.topic_named(topic).map(|id| &self.topics[id.0 as usize]);
        if own.is_some_and(|topic| topic.joins > 0 && topic.interest() != Interest::None) {
            let place = shards.partition_point(|shard| *shard < self.config.shard);
            shards.insert(place, self.config.shard);
        }
        shards
    }

    fn interest_in_bus(
        &mut self,
        topic: &Arc<str>,
        shard: ShardIndex,
        epoch: InterestEpoch,
        out: &mut Effects,
    ) {
        if self.directory.home_mut(topic).link.is_none() {
            let link = if self.bus.up { Link::default() } else { Link::severed() };
            self.directory.home_mut(topic).link = Some(Box::new(link));
            self.subscribe(topic, out);
        }
        match self.directory.home_mut(topic).link.as_deref_mut() {
            Some(link) if self.bus.up && link.state != LinkState::On => link.waiting.push((shard, epoch)),
            Some(_) | None => self.confirm(topic, shard, epoch, out),
        }
    }

    fn no_interest_in_bus(&mut self, topic: &Arc<str>, shard: ShardIndex, followed: bool, out: &mut Effects) {
        let home = self.directory.home_mut(topic);
        if let Some(link) = &mut home.link {
            link.waiting.retain(|(waiting, _)| *waiting != shard);
        }
        if followed {
            return;
        }
        let link = home.link.take();
        // Nothing is known of a topic that is not followed: the next member starts at the topic's position then.
        self.archive.remove(topic);
        self.directory.drop_presence(topic);
        if self.bus.up && link.is_some_and(|link| link.state != LinkState::Off) {
            out.push(Effect::Bus(Box::new(BusEffect::Interest { topic: topic.clone(), on: None })));
        }
    }

    /// Requests a topic's publications, if the bus is up.
    fn subscribe(&mut self, topic: &Arc<str>, out: &mut Effects) {
        if !self.bus.up {
            return;
        }
        self.bus.subscriptions = self.bus.subscriptions.wrapping_add(1);
        let subscription = SubscriptionId(self.bus.subscriptions);
        if let Some(link) = self.directory.home_mut(topic).link.as_deref_mut() {
            link.state = LinkState::Requested(subscription);
            out.push(Effect::Bus(Box::new(BusEffect::Interest {
                topic: topic.clone(),
                on: Some(subscription),
            })));
        }
    }

    /// Confirms to a shard that publications reach it, with the position of a recoverable topic.
    fn confirm(&mut self, topic: &Arc<str>, shard: ShardIndex, epoch: InterestEpoch, out: &mut Effects) {
        let position = self.archive.get_mut(topic).map(|history| history.position());
        let message = ShardMessage::InterestConfirmed { topic: topic.clone(), epoch, position };
        self.send_to_shard(shard, message, Class::Control, out);
    }

    fn confirm_waiting(
        &mut self,
        topic: &Arc<str>,
        waiting: Vec<(ShardIndex, InterestEpoch)>,
        out: &mut Effects,
    ) {
        for (shard, epoch) in waiting {
            self.confirm(topic, shard, epoch, out);
        }
    }

    pub(crate) fn bus_event(&mut self, event: BusEvent, out: &mut Effects) {
        match event {
            BusEvent::Up => self.bus_up(),
            BusEvent::Down => self.bus_down(out),
            BusEvent::Subscribed { topic, subscription, position } => {
                self.subscribed(&topic, subscription, position, out);
            }
            BusEvent::Appended { token, result } => self.bus_appended(token, result, out),
            BusEvent::Delivered { node, publication } => {
                if self.config.bus != Some(node) {
                    self.distribute(None, publication, out);
                }
            }
            BusEvent::Lost { topic, node, age_us } => self.lost_elsewhere(&topic, node, age_us, out),
            BusEvent::Ordered(ordered) => self.ordered(*ordered, out),
            BusEvent::History { topic, token, history } => {
                self.bus_history(&topic, token, history.map(|history| *history), out);
            }
            BusEvent::Head { topic, position } => self.bus_head(&topic, &position, out),
            BusEvent::Present { topic, node, version, previous, change } => {
                self.present(&topic, node, (version, previous), *change, out);
            }
            BusEvent::PresenceHead { topic, node, version } => {
                self.present_up_to(&topic, node, version, out);
            }
            BusEvent::People { topic, nodes } => self.people(&topic, nodes, out),
            BusEvent::Leases(live) => self.leases(live.into_iter().collect()),
            BusEvent::Dismissed(dismissal) => self.dismiss(&dismissal, out),
            BusEvent::Told { .. } => debug_assert!(false, "words are the program's"),
        }
    }

    fn subscribed(
        &mut self,
        topic: &Arc<str>,
        subscription: SubscriptionId,
        position: Option<Position>,
        out: &mut Effects,
    ) {
        if !self.directory.is_home_of(topic) {
            return;
        }
        let Some(link) = self.directory.home_mut(topic).link.as_deref_mut() else { return };
        if link.state != LinkState::Requested(subscription) {
            return;
        }
        (link.state, link.told) = (LinkState::On, Some(self.now));
        let waiting = std::mem::take(&mut link.waiting);
        // Before the waiting joins become members: they miss nothing.
        if std::mem::take(&mut link.was_severed) && !self.is_recoverable(topic) {
            self.tell_severed_shards(topic, out);
        }
        if let Some(position) = position {
            self.adopt(topic, position, out);
        }
        self.confirm_waiting(topic, waiting, out);
    }

    fn bus_up(&mut self) {
        self.bus.up = true;
        self.bus.believed_until = None;
        self.bus.heads.resume(self.now);
        self.bus.unanswered.bus_up();
        let announced = self.bus.announced.topics().cloned();
        let topics: BTreeSet<Arc<str>> = self.directory.linked().chain(announced).collect();
        self.bus.resubscribe = topics.into_iter().collect();
    }

    /// Marks the bus as down. Joins and ephemeral deliveries continue; nothing is ordered.
    fn bus_down(&mut self, out: &mut Effects) {
        self.bus.up = false;
        self.bus.believed_until = Some(self.now + PEOPLE_BELIEVED_US);
        self.bus.resubscribe.clear();
        self.bus.verify.clear();
        self.bus.heads.pause();
        self.bus.unanswered.bus_down();
        for (topic, owner) in std::mem::take(&mut self.bus.appends).into_values() {
            self.bus.unanswered.note(topic);
            self.counters.appends_refused += 1;
            if let Some(owner) = owner {
                self.answer_append(owner, Err(AppendError::Unavailable), out);
            }
        }
        let topics: Vec<Arc<str>> = self.directory.linked().collect();
        for topic in topics {
            let Some(link) = self.directory.home_mut(&topic).link.as_deref_mut() else { continue };
            let Link { waiting, .. } = std::mem::replace(link, Link::severed());
            self.disconnect_history(&topic, out);
            self.disconnect_people(&topic, out);
            self.confirm_waiting(&topic, waiting, out);
        }
    }

    /// Requests the newest publications of some of the topics. Returns `true` when there are more.
    pub(crate) fn verify(&mut self, out: &mut Effects) -> bool {
        for _ in 0..RESUBSCRIBED_MAX {
            let Some(topic) = self.bus.verify.pop_front() else { return false };
            self.read_on(&topic, out);
        }
        !self.bus.verify.is_empty()
    }

    /// Subscribes again to some of the topics that have members. Returns `true` when there are more.
    pub(crate) fn resubscribe(&mut self, out: &mut Effects) -> bool {
        for _ in 0..RESUBSCRIBED_MAX {
            let Some(topic) = self.bus.resubscribe.pop_front() else { return false };
            let off = self.directory.home(&topic).and_then(|home| home.link.as_deref());
            if off.is_some_and(|link| link.state == LinkState::Off) {
                self.subscribe(&topic, out);
            }
            self.announce_again(&topic, out);
        }
        !self.bus.resubscribe.is_empty()
    }
}
