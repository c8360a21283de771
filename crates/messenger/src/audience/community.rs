//! The people of one community who are here, and what they follow.

use super::gathering::{Gathering, Joined};
use super::present::{Device, DeviceId, Present};
use super::status::{Activity, Choice, Presence, Status};
use super::{DEVICES_MAX, Due, Full, PRESENCE_EACH_MAX, TABS_EACH_MAX};
use crate::topics::person_topic;
use chat::{CommunityId, Conversation, ConversationId, Message, Moment, PersonId, Revision, Seq};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A conversation to follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    pub(crate) id: ConversationId,
    pub(crate) is_room: bool,
}

impl Followed {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        Self { id: conversation.id, is_room: conversation.kind.is_room() }
    }
}

/// Whom news of a conversation reach.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The topic of the room, if it is open.
    pub(crate) room: Option<Arc<str>>,
    /// The topics of people.
    pub(crate) people: Vec<Arc<str>>,
}

/// That somebody's presence is another one.
#[derive(Debug, Default)]
pub(crate) struct Announcement {
    /// Whom to tell.
    pub(crate) topics: Vec<Arc<str>>,
    /// What.
    pub(crate) payload: String,
}

/// What has happened since conversations were read.
#[derive(Debug, Default)]
pub(crate) struct Newer {
    /// Those with newer messages, with the place from which on.
    pub(crate) after: Vec<(ConversationId, Seq)>,
    /// Whether there are others.
    pub(crate) others: bool,
}

#[derive(Default)]
pub(crate) struct Gathered {
    people: HashMap<PersonId, Present>,
    conversations: HashMap<ConversationId, Gathering>,
    /// What was said of late, while somebody's conversations were read: what they are in is not known until then.
    recent: HashMap<ConversationId, (Seq, Instant)>,
    /// How many are being read.
    reading: usize,
}

/// Nobody reads conversations for longer.
const RECENT: Duration = Duration::from_secs(60);

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.people.is_empty() && self.conversations.is_empty()
    }

    pub(super) fn people(&self) -> usize {
        self.people.len()
    }

    pub(super) fn counts(&self) -> [u64; 3] {
        let devices: usize = self.people.values().map(|present| present.devices.len()).sum();
        let rooms = self.conversations.values().filter(|gathering| !gathering.joined.is_empty()).count();
        [self.people.len() as u64, devices as u64, rooms as u64]
    }

    // Devices and statuses.

    pub(super) fn arrive(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<Announcement, Full> {
        let make = || Present::new(person_topic(community, person));
        let present = self.people.entry(person.clone()).or_insert_with(make);
        if present.devices.len() >= DEVICES_MAX {
            return Err(Full);
        }
        if present.devices.iter().all(|known| known.id != device) {
            present.devices.push(Device { id: device, activity: Activity::Active });
        }
        present.lease = None;
        Ok(self.announce_if_new(person))
    }

    pub(super) fn depart(
        &mut self,
        person: &PersonId,
        device: DeviceId,
        now: Moment,
        lease_end: Instant,
    ) -> Announcement {
        let Some(present) = self.people.get_mut(person) else { return Announcement::default() };
        present.devices.retain(|known| known.id != device);
        if present.devices.is_empty() {
            present.lease = Some(lease_end);
            if present.choice != Choice::Invisible {
                present.seen = Some(now);
            }
        }
        self.announce_if_new(person)
    }

    pub(super) fn set_status(
        &mut self,
        person: &PersonId,
        device: DeviceId,
        activity: Option<Activity>,
        choice: Option<Choice>,
    ) -> Announcement {
        let Some(present) = self.people.get_mut(person) else { return Announcement::default() };
        if let Some(activity) = activity
            && let Some(known) = present.devices.iter_mut().find(|known| known.id == device)
        {
            known.activity = activity;
        }
        present.choice = choice.unwrap_or(present.choice);
        self.announce_if_new(person)
    }

    pub(super) fn own_status(&self, person: &PersonId) -> Status {
        self.people.get(person).map(Present::status).unwrap_or_default()
    }

    fn announce_if_new(&mut self, person: &PersonId) -> Announcement {
        let Some(present) = self.people.get_mut(person) else { return Announcement::default() };
        let status = present.status().for_others();
        if std::mem::replace(&mut present.told, status) == status {
            return Announcement::default();
        }
        let payload = json!(present.presence(person)).to_string();
        Announcement { topics: self.acquaintances(person), payload }
    }

    /// Their own devices are told, too, as they share every conversation with themselves.
    pub(super) fn acquaintances(&self, person: &PersonId) -> Vec<Arc<str>> {
        let Some(present) = self.people.get(person) else { return Vec::new() };
        let (mut rooms, mut people) = (Vec::new(), HashSet::from([person]));
        for gathering in present.conversations.iter().filter_map(|id| self.conversations.get(id)) {
            if !gathering.is_room {
                people.extend(&gathering.people);
            } else if gathering.people.len() <= PRESENCE_EACH_MAX {
                match &gathering.topic {
                    // Who only looks shares nothing with those who are in it.
                    Some(_) if gathering.visitors > 0 => people.extend(&gathering.people),
                    Some(topic) => rooms.push(topic.clone()),
                    None => {}
                }
            }
        }
        rooms.extend(people.into_iter().filter_map(|person| self.topic_of(person)));
        rooms
    }

    pub(super) fn friends(&self, person: &PersonId) -> Vec<Presence> {
        let Some(present) = self.people.get(person) else { return Vec::new() };
        let direct = present.conversations.iter().filter_map(|id| self.conversations.get(id));
        let direct = direct.filter(|gathering| !gathering.is_room);
        let people: HashSet<&PersonId> = direct.flat_map(|gathering| &gathering.people).collect();
        people.into_iter().filter(|other| *other != person).filter_map(|other| self.presence(other)).collect()
    }

    pub(super) fn present_in(&self, conversation: ConversationId) -> (usize, Option<Vec<Presence>>) {
        let Some(gathering) = self.conversations.get(&conversation) else { return (0, Some(Vec::new())) };
        if gathering.people.len() > PRESENCE_EACH_MAX {
            return (gathering.people.len(), None);
        }
        let seen: Vec<Presence> = gathering
            .people
            .iter()
            .filter_map(|person| self.presence(person))
            .filter(|presence| presence.status != Status::Offline)
            .collect();
        (seen.len(), Some(seen))
    }

    fn presence(&self, person: &PersonId) -> Option<Presence> {
        self.people.get(person).map(|present| present.presence(person))
    }

    // What they follow.

    pub(super) fn begin_following(&mut self, person: &PersonId) {
        let Some(present) = self.people.get_mut(person) else { return };
        present.stale = false;
        present.reading += 1;
        self.reading += 1;
        present.left_meanwhile.get_or_insert_default();
    }

    pub(super) fn abandon_following(&mut self, person: &PersonId) {
        drop(self.end_following(person));
    }

    /// What they left meanwhile. Two devices may read at the same time: until both have, it is kept.
    fn end_following(&mut self, person: &PersonId) -> Vec<ConversationId> {
        let Some(present) = self.people.get_mut(person) else { return Vec::new() };
        if present.reading == 0 {
            return Vec::new();
        }
        present.reading -= 1;
        self.reading = self.reading.saturating_sub(1);
        if present.reading > 0 {
            return present.left_meanwhile.clone().unwrap_or_default();
        }
        present.left_meanwhile.take().unwrap_or_default()
    }

    pub(super) fn follow_all(&mut self, person: &PersonId, followed: &[Followed]) -> Announcement {
        let left = self.end_following(person);
        let mut new = false;
        for followed in followed.iter().filter(|followed| !left.contains(&followed.id)) {
            new |= self.follow(person, followed);
        }
        // Somebody who has just come is told of to those with whom they share these.
        let seen = self.people.get(person).filter(|present| new && present.told != Status::Offline);
        let Some(present) = seen else { return Announcement::default() };
        let payload = json!(present.presence(person)).to_string();
        Announcement { topics: self.acquaintances(person), payload }
    }

    pub(super) fn follow(&mut self, person: &PersonId, followed: &Followed) -> bool {
        let Some(present) = self.people.get_mut(person) else { return false };
        let Err(place) = present.conversations.binary_search(&followed.id) else { return false };
        present.conversations.insert(place, followed.id);
        let gathering = self.conversations.entry(followed.id).or_default();
        gathering.is_room = followed.is_room;
        gathering.people.insert(person.clone());
        if let Some((seq, _)) = self.recent.get(&followed.id) {
            gathering.head = gathering.head.max(*seq);
        }
        true
    }

    pub(super) fn unfollow(&mut self, person: &PersonId, conversation: ConversationId) {
        let Some(present) = self.people.get_mut(person) else { return };
        if let Some(left) = &mut present.left_meanwhile {
            left.push(conversation);
        }
        if let Ok(place) = present.conversations.binary_search(&conversation) {
            present.conversations.remove(place);
            self.remove_from(conversation, person);
        }
    }

    pub(super) fn newer(&self, person: &PersonId, read: &[(ConversationId, Seq)]) -> Newer {
        let after = read.iter().filter(|(id, seq)| self.head(*id) > *seq && self.is_in(*id, person)).copied();
        let known: HashSet<ConversationId> = read.iter().map(|(id, _)| *id).collect();
        let present = self.people.get(person);
        let others =
            present.is_some_and(|present| !present.conversations.iter().all(|id| known.contains(id)));
        Newer { after: after.collect(), others }
    }

    pub(super) fn follow_again(&mut self, person: &PersonId) {
        if let Some(present) = self.people.get_mut(person) {
            present.stale = true;
        }
    }

    fn remove_from(&mut self, conversation: ConversationId, person: &PersonId) {
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.people.remove(person);
            if gathering.is_empty() {
                self.conversations.remove(&conversation);
            }
        }
    }

    pub(super) fn open_room(
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
        // Who comes again is judged again.
        joined.evicted = false;
        gathering.visitors -= usize::from(std::mem::take(&mut joined.visits));
    }

    pub(super) fn close_room(&mut self, conversation: ConversationId, device: DeviceId) {
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

    pub(super) fn visit(&mut self, conversation: ConversationId, device: DeviceId) {
        let Some(gathering) = self.conversations.get_mut(&conversation) else { return };
        if let Some(joined) = gathering.joined.get_mut(&device).filter(|joined| !joined.visits) {
            joined.visits = true;
            gathering.visitors += 1;
        }
    }

    pub(super) fn evict(
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

    pub(super) fn evict_later(&mut self, conversation: ConversationId, person: &PersonId) {
        let some = !self.evict(conversation, person).is_empty();
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.to_evict |= some;
        }
    }

    pub(super) fn is_evicted(&self, conversation: ConversationId, device: DeviceId) -> bool {
        let gathering = self.conversations.get(&conversation);
        gathering.and_then(|gathering| gathering.joined.get(&device)).is_some_and(|joined| joined.evicted)
    }

    pub(super) fn judge_again(&mut self, conversation: ConversationId) {
        if let Some(gathering) = self.conversations.get_mut(&conversation) {
            gathering.to_judge = true;
        }
    }

    /// Who has a room open.
    fn joined_in(gathering: &Gathering) -> Vec<PersonId> {
        let people: HashSet<&PersonId> = gathering.joined.values().map(|joined| &joined.person).collect();
        people.into_iter().cloned().collect()
    }

    // Whom to tell.

    pub(super) fn topic_of(&self, person: &PersonId) -> Option<Arc<str>> {
        self.people.get(person).map(|present| present.topic.clone())
    }

    pub(super) fn is_in(&self, conversation: ConversationId, person: &PersonId) -> bool {
        self.people.get(person).is_some_and(|present| present.is_in(conversation))
    }

    pub(super) fn said(&mut self, message: &Message, payload: &str) -> Reach {
        if self.reading > 0 {
            self.recent.insert(message.conversation, (message.seq, Instant::now()));
        }
        let Some(gathering) = self.conversations.get_mut(&message.conversation) else {
            return Reach::default();
        };
        gathering.head = gathering.head.max(message.seq);
        let crowd = gathering.is_room && gathering.people.len() > TABS_EACH_MAX;
        if crowd {
            gathering.tab = Some(payload.into());
        }
        let Some(gathering) = self.conversations.get(&message.conversation) else { return Reach::default() };
        let room = gathering.topic.clone();
        let people = if crowd {
            message.mentions.iter().filter(|person| gathering.people.contains(*person)).collect()
        } else {
            gathering.people.iter().collect::<Vec<_>>()
        };
        Reach { room, people: self.topics(people) }
    }

    pub(super) fn reach(&self, conversation: ConversationId) -> Reach {
        let Some(gathering) = self.conversations.get(&conversation) else { return Reach::default() };
        // What happens to a room concerns those who look at it; a direct conversation has no other topic than theirs.
        let people = if gathering.is_room { Vec::new() } else { gathering.people.iter().collect() };
        Reach { room: gathering.topic.clone(), people: self.topics(people) }
    }

    pub(super) fn others_in(&self, conversation: ConversationId, person: &PersonId) -> Vec<Arc<str>> {
        let Some(gathering) = self.conversations.get(&conversation) else { return Vec::new() };
        if gathering.people.len() > chat::limits::RECEIPTS_EACH_MAX {
            return Vec::new();
        }
        self.topics(gathering.people.iter().filter(|other| *other != person).collect())
    }

    pub(super) fn revised(&mut self, message: &Message) {
        if let Some(gathering) = self.conversations.get_mut(&message.conversation) {
            gathering.revision = gathering.revision.max(message.revision);
        }
    }

    pub(super) fn revision(&self, conversation: ConversationId) -> Revision {
        self.conversations.get(&conversation).map(|gathering| gathering.revision).unwrap_or_default()
    }

    pub(super) fn head(&self, conversation: ConversationId) -> Seq {
        self.conversations.get(&conversation).map(|gathering| gathering.head).unwrap_or_default()
    }

    pub(super) fn heads(&self, heads: &mut Vec<(Arc<str>, ConversationId, Seq)>) {
        for (id, gathering) in &self.conversations {
            if let Some(topic) = gathering.topic.clone().filter(|_| gathering.head > Seq(0)) {
                heads.push((topic, *id, gathering.head));
            }
        }
    }

    fn topics(&self, people: Vec<&PersonId>) -> Vec<Arc<str>> {
        people.into_iter().filter_map(|person| self.topic_of(person)).collect()
    }

    // What is over.

    pub(super) fn sweep(&mut self, community: &CommunityId, now: Instant, moment: Moment, due: &mut Due) {
        if self.reading == 0 {
            self.recent = HashMap::new();
        } else {
            self.recent.retain(|_, (_, said)| now.saturating_duration_since(*said) < RECENT);
        }
        let over =
            |present: &Present| present.devices.is_empty() && present.lease.is_none_or(|end| end <= now);
        let gone: Vec<PersonId> =
            self.people.iter().filter(|(_, present)| over(present)).map(|(id, _)| id.clone()).collect();
        for person in gone {
            due.announcements.extend(self.go(&person, moment));
        }
        for (person, present) in self.people.iter().filter(|(_, present)| present.stale) {
            if present.reading == 0 {
                due.to_follow.push((community.clone(), person.clone()));
            }
        }
        let mut tabs = Vec::new();
        for (id, gathering) in &mut self.conversations {
            if std::mem::take(&mut gathering.to_evict)
                && let Some(topic) = &gathering.topic
            {
                let evicted = gathering.joined.iter().filter(|(_, joined)| joined.evicted);
                due.evictions.extend(evicted.map(|(device, _)| (*device, topic.clone())));
            }
            if std::mem::take(&mut gathering.to_judge) {
                due.to_judge.push((community.clone(), *id, Self::joined_in(gathering)));
            }
            if let Some(payload) = gathering.tab.take() {
                tabs.push((gathering.people.iter().cloned().collect::<Vec<_>>(), payload));
            }
        }
        for (people, payload) in tabs {
            due.tabs.push((self.topics(people.iter().collect()), payload));
        }
    }

    fn go(&mut self, person: &PersonId, moment: Moment) -> Option<Announcement> {
        let present = self.people.get_mut(person)?;
        present.lease = None;
        if present.choice != Choice::Invisible {
            present.seen.get_or_insert(moment);
        }
        let announcement = self.announce_if_new(person);
        let present = self.people.remove(person)?;
        self.reading = self.reading.saturating_sub(present.reading);
        for conversation in present.conversations {
            self.remove_from(conversation, person);
        }
        (!announcement.topics.is_empty()).then_some(announcement)
    }
}
