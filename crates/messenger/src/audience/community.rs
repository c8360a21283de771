//! The people of one community who are on this node, and what they follow.

mod abroad;
mod erasing;
mod following;
mod reach;
mod rooms;

pub(crate) use erasing::Gone;
pub(crate) use following::{Changed, Followed, Newer, Reading};
pub(crate) use reach::Reach;

use super::due::{Due, Overdue};
use super::joining::{ToldMeanwhile, TooMuchTold};
use super::limits::{DEVICES_MAX, Full, PRESENCE_EACH_MAX, TOLD_AT_ONCE_MAX, UNTOLD_CHANGES_READ_MAX};
use super::live_conversation::LiveConversation;
use super::looks::KnownLook;
use super::present::{Device, DeviceId, Present};
use super::remote_people::RemotePeople;
use super::shown::Shown;
use super::status::{Activity, Choice, Presence, Status, merged};
use chat::{CommunityId, ConversationId, Moment, PersonId, Seq};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A person's presence changed.
#[derive(Debug, Default)]
pub(crate) struct Announcement {
    /// The topics to send it to.
    pub(crate) topics: Vec<Arc<str>>,
    /// The payload.
    pub(crate) payload: String,
}

#[derive(Default)]
pub(crate) struct CommunityAudience {
    /// Boxed, because a table has up to twice as many slots as entries.
    pub(super) people: HashMap<PersonId, Box<Present>>,
    pub(super) abroad: RemotePeople,
    pub(super) conversations: HashMap<ConversationId, LiveConversation>,
    pub(super) look: KnownLook,
    /// The devices of all people. Counted here, because a scrape must not walk a crowd under its lock.
    devices: usize,
    /// The conversations that are open as rooms.
    rooms_open: usize,
    /// What was sent recently, while a person's conversations are being read: until that is done it is unknown what
    /// they are in.
    recent: HashMap<ConversationId, (Seq, Instant)>,
    /// How many readings are in progress.
    reading: usize,
}

/// No reading of conversations takes longer.
const RECENT: Duration = Duration::from_secs(60);

impl CommunityAudience {
    pub(super) fn is_empty(&self) -> bool {
        !self.is_active() && self.abroad.is_empty()
    }

    /// Returns whether anybody is on this node, or has a room open.
    pub(super) fn is_active(&self) -> bool {
        !self.people.is_empty() || !self.conversations.is_empty()
    }

    pub(super) fn counts(&self) -> [u64; 3] {
        [self.people.len(), self.devices, self.rooms_open].map(|count| count as u64)
    }

    // Devices and statuses.

    pub(super) fn arrive(
        &mut self,
        topic: &Arc<str>,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<Announcement, Full> {
        let here = self.people.get(person).map_or(0, |present| present.devices.len());
        if here.saturating_add(self.abroad.devices(person)) >= DEVICES_MAX {
            return Err(Full);
        }
        let make = || {
            let mut present = Box::new(Present::new(topic.clone()));
            if let Some((chosen, choice)) = self.abroad.choice(person) {
                present.adopt(chosen, choice);
            }
            present.told = self.abroad.told(person);
            present
        };
        let present = self.people.entry(person.clone()).or_insert_with(make);
        if present.devices.iter().all(|known| known.id != device) {
            present.devices.push(Device { id: device, activity: Activity::Active });
            self.devices += 1;
        }
        present.end_lease();
        present.begin_joining(device);
        present.is_news = true;
        Ok(self.announce_if_new(person))
    }

    pub(super) fn end_joining(
        &mut self,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<ToldMeanwhile, TooMuchTold> {
        let present = self.people.get_mut(person);
        present.map_or_else(|| Ok(ToldMeanwhile::new()), |present| present.end_joining(device))
    }

    pub(super) fn depart(
        &mut self,
        person: &PersonId,
        device: DeviceId,
        now: Moment,
        lease_end: Instant,
    ) -> Announcement {
        let Some(present) = self.people.get_mut(person) else { return Announcement::default() };
        let before = present.devices.len();
        present.devices.retain(|known| known.id != device);
        self.devices -= before - present.devices.len();
        present.is_news = true;
        if present.devices.is_empty() {
            present.lend(lease_end);
            present.see(now);
        }
        self.announce_if_new(person)
    }

    pub(super) fn set_status(
        &mut self,
        person: &PersonId,
        device: DeviceId,
        activity: Option<Activity>,
        choice: Option<Choice>,
        now: Moment,
    ) -> Announcement {
        let Some(present) = self.people.get_mut(person) else { return Announcement::default() };
        present.is_news = true;
        if let Some(activity) = activity
            && let Some(known) = present.devices.iter_mut().find(|known| known.id == device)
        {
            known.activity = activity;
        }
        if let Some(choice) = choice {
            present.choose(choice, now);
        }
        self.announce_if_new(person)
    }

    pub(super) fn own_status(&self, person: &PersonId) -> Status {
        self.people.get(person).map(|present| self.status(person, present)).unwrap_or_default()
    }

    /// Merges their devices on this node and on others.
    fn status(&self, person: &PersonId, present: &Present) -> Status {
        let is_there = present.is_here() || self.abroad.has(person);
        let activities = present.activities().chain(self.abroad.activities(person));
        merged(is_there, present.told, present.choice(), activities)
    }

    fn announce_if_new(&mut self, person: &PersonId) -> Announcement {
        if !self.note_told(person) {
            return Announcement::default();
        }
        let topics = self.acquaintances(person);
        Announcement { topics, payload: json!(self.presence(person)).to_string() }
    }

    /// Records the status that is announced of a person. Returns whether it differs from before.
    fn note_told(&mut self, person: &PersonId) -> bool {
        let status = self.presence(person).map(|presence| presence.status).unwrap_or_default();
        let told = match self.people.get_mut(person) {
            Some(present) => Some(&mut present.told),
            None => self.abroad.told_mut(person),
        };
        told.is_some_and(|told| std::mem::replace(told, status) != status)
    }

    /// The person's own devices are among them, as they share every conversation with themselves.
    pub(super) fn acquaintances(&self, person: &PersonId) -> Vec<Arc<str>> {
        let mut places = self.abroad.conversations_of(person);
        if let Some(present) = self.people.get(person) {
            places.extend_from_slice(&present.conversations);
        }
        self.acquaintances_in(person, &places)
    }

    /// Returns the topics of those who share one of these conversations with a person.
    fn acquaintances_in(&self, person: &PersonId, places: &[ConversationId]) -> Vec<Arc<str>> {
        let (mut rooms, mut people) = (HashSet::new(), HashSet::from([person]));
        for (id, live) in places.iter().filter_map(|id| Some((id, self.conversations.get(id)?))) {
            if !live.is_room {
                people.extend(&live.people);
            } else if self.online_count(*id) <= PRESENCE_EACH_MAX {
                match &live.topic {
                    // Visitors must not receive this: they share no conversation with the members, who are notified on
                    // their own topics.
                    Some(_) if live.joined.has_visitors() => people.extend(&live.people),
                    Some(topic) => {
                        rooms.insert(topic.clone());
                    }
                    None => {}
                }
            }
        }
        rooms.into_iter().chain(people.into_iter().filter_map(|person| self.topic_of(person))).collect()
    }

    /// Returns how many people in it are online. A person on this node and on another counts once, except in a crowd,
    /// where they count twice: deduplicating that many whenever one comes or goes would cost as much as everything
    /// else.
    fn online_count(&self, conversation: ConversationId) -> usize {
        let here = self.conversations.get(&conversation).map(|live| &live.people);
        let (here_count, abroad_count) = (here.map_or(0, HashSet::len), self.abroad.count_in(conversation));
        if here_count.max(abroad_count) > PRESENCE_EACH_MAX {
            return here_count + abroad_count;
        }
        let is_elsewhere = |person: &&PersonId| here.is_none_or(|people| !people.contains(*person));
        here_count + self.abroad.people_in(conversation).filter(is_elsewhere).count()
    }

    /// Returns who is in a conversation and online, on this node or another.
    fn online_in(&self, conversation: ConversationId) -> HashSet<&PersonId> {
        let here = self.conversations.get(&conversation).map(|live| &live.people);
        here.into_iter().flatten().chain(self.abroad.people_in(conversation)).collect()
    }

    pub(super) fn friends(&self, person: &PersonId) -> Vec<Presence> {
        let Some(present) = self.people.get(person) else { return Vec::new() };
        let is_direct = |id: &&ConversationId| self.conversations.get(*id).is_some_and(|of| !of.is_room);
        let direct = present.conversations.iter().filter(is_direct);
        let people: HashSet<&PersonId> = direct.flat_map(|id| self.online_in(*id)).collect();
        people.into_iter().filter(|other| *other != person).filter_map(|other| self.presence(other)).collect()
    }

    /// Returns those whose presence in a conversation differs from what a client was shown. In a crowd clients are
    /// shown only a number.
    pub(super) fn present_since(&self, conversation: ConversationId, shown: Shown) -> Vec<Presence> {
        let (_, present) = self.present_in(conversation);
        present.map(|now| shown.differences(now, |person| self.presence(person))).unwrap_or_default()
    }

    /// Like [`CommunityAudience::present_since`], for the people of [`CommunityAudience::friends`].
    pub(super) fn friends_since(&self, person: &PersonId, shown: Shown) -> Vec<Presence> {
        shown.differences(self.friends(person), |other| self.presence(other))
    }

    pub(super) fn present_in(&self, conversation: ConversationId) -> (usize, Option<Vec<Presence>>) {
        let count = self.online_count(conversation);
        if count > PRESENCE_EACH_MAX {
            return (count, None);
        }
        let seen: Vec<Presence> = self
            .online_in(conversation)
            .into_iter()
            .filter_map(|person| self.presence(person))
            .filter(|presence| presence.status != Status::Offline)
            .collect();
        (seen.len(), Some(seen))
    }

    pub(super) fn presence(&self, person: &PersonId) -> Option<Presence> {
        let Some(present) = self.people.get(person) else { return self.abroad.presence(person) };
        let status = self.status(person, present).for_others();
        let seen =
            if status == Status::Offline { present.seen().max(self.abroad.seen(person)) } else { None };
        Some(Presence { person: person.clone(), status, seen })
    }

    // Rounds.

    pub(super) fn sweep(&mut self, community: &CommunityId, now: Instant, moment: Moment, due: &mut Due) {
        if self.reading == 0 {
            self.recent = HashMap::new();
        } else {
            self.recent.retain(|_, (_, said)| now.saturating_duration_since(*said) < RECENT);
        }
        let over =
            |present: &Present| present.devices.is_empty() && present.lease().is_none_or(|end| end <= now);
        let gone: Vec<PersonId> =
            self.people.iter().filter(|(_, present)| over(present)).map(|(id, _)| id.clone()).collect();
        for person in gone {
            let announcement = self.go(community, &person, moment, due);
            due.announcements.extend(announcement);
        }
        for (person, present) in &mut self.people {
            if due.has_nodes && present.is_news && due.told.len() < TOLD_AT_ONCE_MAX {
                present.is_news = false;
                due.told.push((community.clone(), present.to_tell(person)));
            }
            due.has_more_to_tell |= present.is_news;
            present.end_bans(moment);
            let seen = present.sighting_due(moment);
            due.seen.extend(seen.map(|seen| (community.clone(), person.clone(), seen)));
        }
        let mut tabs = Vec::new();
        for live in self.conversations.values_mut() {
            if std::mem::take(&mut live.to_evict)
                && let Some(topic) = &live.topic
            {
                due.evictions.extend(live.joined.evicted().map(|device| (device, topic.clone())));
            }
            if let Some(payload) = live.tab.take() {
                tabs.push((live.people.iter().cloned().collect::<Vec<_>>(), payload));
            }
        }
        for (people, payload) in tabs {
            due.tabs.push((self.topics(people.iter().collect()), payload));
        }
    }

    pub(super) fn overdue(&mut self, community: &CommunityId, overdue: &mut Overdue) {
        for (id, live) in &mut self.conversations {
            if std::mem::take(&mut live.to_judge) {
                overdue.to_judge.push((community.clone(), *id, live.joined.people()));
            }
            if std::mem::take(&mut live.doubtful) {
                overdue.doubtful.push((community.clone(), *id));
            }
            if !live.doubted.is_empty() {
                overdue.doubted.push((community.clone(), *id, std::mem::take(&mut live.doubted)));
            }
            live.erased_told = 0;
            if overdue.untold_changes.len() < UNTOLD_CHANGES_READ_MAX && live.take_untold_changes() {
                overdue.untold_changes.push((community.clone(), *id));
            }
        }
        if std::mem::take(&mut self.look.is_doubtful) {
            overdue.looks.push(community.clone());
        }
        let stale = self.people.iter().filter(|(_, present)| present.stale && present.reading() == 0);
        overdue.to_follow.extend(stale.map(|(person, _)| (community.clone(), person.clone())));
    }

    /// Everybody with a device who is not invisible is seen now; for the others, returns when they were last seen.
    pub(super) fn everybody_seen(&mut self, now: Moment) -> Vec<(PersonId, Moment)> {
        let mut everybody = Vec::new();
        for (person, present) in &mut self.people {
            if !present.devices.is_empty() {
                present.see(now);
            }
            everybody.extend(present.seen().map(|seen| (person.clone(), seen)));
        }
        everybody
    }

    fn go(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        moment: Moment,
        due: &mut Due,
    ) -> Option<Announcement> {
        let present = self.people.get_mut(person)?;
        present.end_lease();
        if present.seen().is_none() {
            present.see(moment);
        }
        due.seen.extend(present.seen().map(|seen| (community.clone(), person.clone(), seen)));
        let announcement = self.announce_if_new(person);
        let present = self.people.remove(person)?;
        self.devices -= present.devices.len();
        if let Some(told) = self.abroad.told_mut(person) {
            *told = present.told;
        }
        if due.has_nodes {
            due.told.push((community.clone(), present.to_tell(person)));
        }
        self.reading = self.reading.saturating_sub(present.reading());
        for conversation in &*present.conversations {
            self.remove_from(*conversation, person);
        }
        (!announcement.topics.is_empty()).then_some(announcement)
    }
}
