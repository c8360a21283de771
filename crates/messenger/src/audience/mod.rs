//! Who is here, what they follow, and which rooms are open: whom news can reach.
//!
//! Everything is in memory and of one community at a time; a community with nobody online takes nothing. Of a person it
//! keeps their devices, their status and the conversations that they are in; of a conversation that somebody online is in,
//! or whose room is open, who they are. It is asked on shards and on the store's thread: under a lock each step is short,
//! and nothing is told while it is held.

mod abroad;
mod changes;
mod community;
mod doubting;
mod due;
mod gathering;
mod joining;
mod limits;
mod looks;
mod losing;
mod present;
mod shown;
mod status;
#[cfg(test)]
mod tests;

pub use status::{Presence, Status};

pub(crate) use abroad::Told;
pub(crate) use changes::DoubtedChange;
pub(crate) use community::{Announcement, Changed, Followed, Newer, Reach, Reading};
pub(crate) use doubting::{OpenRoom, Untold};
pub(crate) use due::{Due, Overdue};
pub(crate) use joining::{ToldMeanwhile, TooMuchTold};
pub(crate) use limits::{DEVICES_MAX, Full, LEASE};
#[cfg(test)]
pub(crate) use limits::{DOUBTED_CHANGES_MAX, ERASED_REACTIONS_TOLD_MAX, UNTOLD_CHANGES_READ_MAX};
pub(crate) use present::DeviceId;
pub(crate) use shown::Shown;
pub(crate) use status::{Activity, Choice};

use crate::topics::room_topic;
use chat::{CommunityId, ConversationId, Message, Moment, PersonId, Revision, RoomName, Seq};
use community::Gathered;
use gateway::NodeId;
use losing::Losses;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Locks, by community.
const PARTS: usize = 64;

/// Is told that somebody has a device on another node from now on, or has none any more: in the order in which that happens,
/// and while the community is locked.
pub(crate) type Moved<'a> = &'a dyn Fn(&CommunityId, &PersonId, bool);

/// See the module.
pub(crate) struct Audience {
    parts: Box<[Mutex<HashMap<CommunityId, Gathered>>]>,
    hasher: RandomState,
    losses: Losses,
}

impl Audience {
    pub(crate) fn new() -> Self {
        let parts = std::iter::repeat_with(Mutex::default).take(PARTS).collect();
        Self { parts, hasher: RandomState::new(), losses: Losses::default() }
    }

    /// A device comes, by its person's topic, and its join is being decided until [`Audience::end_joining`]. Says what is to be
    /// announced.
    pub(crate) fn arrive_on(
        &self,
        topic: &Arc<str>,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<Announcement, Full> {
        self.part(community).entry(community.clone()).or_default().arrive(topic, person, device)
    }

    #[cfg(test)]
    pub(crate) fn arrive(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<Announcement, Full> {
        self.arrive_on(&crate::topics::person_topic(community, person), community, person, device)
    }

    /// The join of a device stands, or has ended: what its person's topic was told since it came. Nobody is here who is not
    /// known, so nothing was told to them.
    pub(crate) fn end_joining(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<ToldMeanwhile, TooMuchTold> {
        let mut part = self.part(community);
        let gathered = part.get_mut(community);
        gathered.map_or_else(|| Ok(ToldMeanwhile::new()), |gathered| gathered.end_joining(person, device))
    }

    /// A device goes.
    pub(crate) fn depart(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
        now: Moment,
    ) -> Announcement {
        let mut part = self.part(community);
        let Some(gathered) = part.get_mut(community) else { return Announcement::default() };
        let announcement = gathered.depart(person, device, now, Instant::now() + LEASE);
        if gathered.is_empty() {
            part.remove(community);
        }
        announcement
    }

    /// A device says what its person does.
    pub(crate) fn set_status(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
        activity: Option<Activity>,
        choice: Option<Choice>,
        now: Moment,
    ) -> Announcement {
        self.with(community, |gathered| gathered.set_status(person, device, activity, choice, now))
    }

    /// A person's conversations begin to be read: what they leave until [`Audience::follow_all`] is not followed then.
    pub(crate) fn begin_following(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |gathered| gathered.begin_following(person));
    }

    /// A person is in these conversations, and in no others than they have come into meanwhile. Says what is to be announced.
    pub(crate) fn follow_all(
        &self,
        community: &CommunityId,
        person: &PersonId,
        reading: Reading<'_>,
    ) -> Changed {
        self.with(community, |gathered| gathered.follow_all(person, reading))
    }

    /// What a person follows and was not read with these: they may have left it, or it was about to be read when it moved.
    pub(crate) fn unread(
        &self,
        community: &CommunityId,
        person: &PersonId,
        followed: &[Followed],
    ) -> Vec<ConversationId> {
        self.with(community, |gathered| gathered.unread(person, followed))
    }

    /// A person's conversations could not be read.
    pub(crate) fn abandon_following(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |gathered| gathered.abandon_following(person));
    }

    /// Of what was read of conversations, what has moved on since; and whether somebody is in others by now.
    pub(crate) fn newer(
        &self,
        community: &CommunityId,
        person: &PersonId,
        read: &[(ConversationId, Seq)],
    ) -> Newer {
        self.with(community, |gathered| gathered.newer(person, read))
    }

    /// These people came into a conversation, and follow it: they and who was there before learn of each other. Says what is to
    /// be announced.
    pub(crate) fn acquaint(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        newcomers: &[PersonId],
    ) -> Vec<Announcement> {
        self.with(community, |gathered| gathered.acquaint(conversation, newcomers))
    }

    /// A person came into a conversation. Says whether that is new to their devices.
    pub(crate) fn follow(&self, community: &CommunityId, person: &PersonId, followed: &Followed) -> bool {
        self.with(community, |gathered| gathered.follow(person, followed))
    }

    /// A person who has a room open was found to be in it. Says what is to be announced.
    pub(crate) fn follow_joined(
        &self,
        community: &CommunityId,
        person: &PersonId,
        followed: &Followed,
        device: DeviceId,
    ) -> Vec<Announcement> {
        self.with(community, |gathered| gathered.follow_joined(person, followed, device))
    }

    /// A person is to hear nothing of a conversation, which they stay in, until then or for good.
    pub(crate) fn ban(
        &self,
        community: &CommunityId,
        person: &PersonId,
        conversation: ConversationId,
        until: Option<Moment>,
    ) {
        self.with(community, |gathered| gathered.ban(person, conversation, until));
    }

    /// A person is to hear nothing of a conversation any more.
    pub(crate) fn unfollow(&self, community: &CommunityId, person: &PersonId, conversation: ConversationId) {
        self.with(community, |gathered| gathered.unfollow(person, conversation));
    }

    /// A person's conversations have to be read again.
    pub(crate) fn follow_again(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |gathered| gathered.follow_again(person));
    }

    /// A room is joined by one more.
    pub(crate) fn open_room(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        room: &RoomName,
        person: &PersonId,
        device: DeviceId,
    ) {
        let topic = room_topic(community, room);
        let mut part = self.part(community);
        part.entry(community.clone()).or_default().open_room(conversation, topic, person, device);
    }

    /// One of those who joined a room is gone.
    pub(crate) fn close_room(&self, community: &CommunityId, conversation: ConversationId, device: DeviceId) {
        let mut part = self.part(community);
        let Some(gathered) = part.get_mut(community) else { return };
        gathered.close_room(conversation, device);
        if gathered.is_empty() {
            part.remove(community);
        }
    }

    /// A connection that has a room open only looks.
    pub(crate) fn visit(&self, community: &CommunityId, conversation: ConversationId, device: DeviceId) {
        self.with(community, |gathered| gathered.visit(conversation, device));
    }

    /// Somebody has to leave an open room: the connections and the topic of the joins that end. A join that does not stand
    /// yet asks [`Audience::is_evicted`] when it does.
    pub(crate) fn evict(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Vec<(DeviceId, Arc<str>)> {
        self.with(community, |gathered| gathered.evict(conversation, person))
    }

    /// As [`Audience::evict`], by the next round: who leaves on their own is answered first.
    pub(crate) fn evict_later(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) {
        self.with(community, |gathered| gathered.evict_later(conversation, person));
    }

    /// Whether a connection has to leave an open room.
    pub(crate) fn is_evicted(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        device: DeviceId,
    ) -> bool {
        self.with(community, |gathered| gathered.is_evicted(conversation, device))
    }

    /// Whoever has a room open is to be judged again.
    pub(crate) fn judge_again(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |gathered| gathered.judge_again(conversation));
    }

    /// A message is there: whom to tell.
    pub(crate) fn said(&self, community: &CommunityId, message: &Message, payload: &str) -> Reach {
        self.with(community, |gathered| gathered.said(message, payload))
    }

    /// A conversation may have a message that nobody was told of.
    pub(crate) fn doubt(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |gathered| gathered.doubt(conversation));
    }

    /// Something of a conversation changed: whom to tell.
    pub(crate) fn changed(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &'static str,
        payload: &str,
    ) -> Reach {
        self.with(community, |gathered| gathered.changed(conversation, event, payload))
    }

    /// How often an open room changed (its title, topic text or rules), for who compares two looks at it.
    pub(crate) fn changes(&self, community: &CommunityId, conversation: ConversationId) -> u32 {
        self.with(community, |gathered| gathered.changes(conversation))
    }

    /// So far changes of an open room's messages have come, as was read for somebody who is told that.
    pub(crate) fn note_revision(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        revision: Revision,
    ) {
        self.with(community, |gathered| gathered.note_revision(conversation, revision));
    }

    /// A message was edited, deleted or reacted to, and everybody here is told.
    pub(crate) fn revised(&self, community: &CommunityId, conversation: ConversationId, revision: Revision) {
        self.with(community, |gathered| gathered.revised(conversation, revision));
    }

    /// The newest edit, delete or reaction that everybody here was told of.
    pub(crate) fn told_revision(&self, community: &CommunityId, conversation: ConversationId) -> Revision {
        self.with(community, |gathered| gathered.told_revision(conversation))
    }

    /// The newest edit, delete or reaction in an open room that is known of.
    pub(crate) fn revision(&self, community: &CommunityId, conversation: ConversationId) -> Revision {
        self.with(community, |gathered| gathered.revision(conversation))
    }

    /// The newest message of an open room that was told.
    pub(crate) fn head(&self, community: &CommunityId, conversation: ConversationId) -> Seq {
        self.with(community, |gathered| gathered.head(conversation))
    }

    /// A person is to be told something: their topic, if a device of theirs is here.
    pub(crate) fn tell_person(
        &self,
        community: &CommunityId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Option<Arc<str>> {
        self.with(community, |gathered| gathered.tell_person(person, event, payload))
    }

    /// The others online in a conversation of few are to be told something: their topics.
    pub(crate) fn tell_others(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Vec<Arc<str>> {
        self.with(community, |gathered| gathered.tell_others(conversation, person, event, payload))
    }

    /// Whether a person online is in a conversation.
    pub(crate) fn is_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> bool {
        self.with(community, |gathered| gathered.is_in(conversation, person))
    }

    /// The topics of those online who share a conversation with a person, and of the rooms that they are in.
    pub(crate) fn acquaintances(&self, community: &CommunityId, person: &PersonId) -> Vec<Arc<str>> {
        self.with(community, |gathered| gathered.acquaintances(person))
    }

    /// The statuses of those who share a direct conversation or group with a person and are here.
    pub(crate) fn friends(&self, community: &CommunityId, person: &PersonId) -> Vec<Presence> {
        self.with(community, |gathered| gathered.friends(person))
    }

    /// Of the people of [`Audience::friends`], those whose presence is another than a client was shown.
    pub(crate) fn friends_since(
        &self,
        community: &CommunityId,
        person: &PersonId,
        shown: Shown,
    ) -> Vec<Presence> {
        self.with(community, |gathered| gathered.friends_since(person, shown))
    }

    /// Of the people of [`Audience::present_in`], those whose presence is another than a client was shown.
    pub(crate) fn present_since(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        shown: Shown,
    ) -> Vec<Presence> {
        self.with(community, |gathered| gathered.present_since(conversation, shown))
    }

    /// Who of a conversation is here: how many, and who they are unless they are too many.
    pub(crate) fn present_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> (usize, Option<Vec<Presence>>) {
        self.with(community, |gathered| gathered.present_in(conversation))
    }

    /// A person's presence, if they are here or were a moment ago. It says nothing of who may know that.
    pub(crate) fn presence(&self, community: &CommunityId, person: &PersonId) -> Option<Presence> {
        self.with(community, |gathered| gathered.presence(person))
    }

    /// A person's own status, as they chose it.
    pub(crate) fn own_status(&self, community: &CommunityId, person: &PersonId) -> Status {
        self.with(community, |gathered| gathered.own_status(person))
    }

    /// Ends what is over, and takes what is due: announcements, lines for conversations tabs, and what other nodes are to be
    /// told, if there are any.
    pub(crate) fn sweep(&self, now: Instant, moment: Moment, has_nodes: bool) -> Due {
        let mut due = Due { has_nodes, ..Due::default() };
        for part in &self.parts {
            let mut part = lock(part);
            part.retain(|community, gathered| {
                gathered.sweep(community, now, moment, &mut due);
                !gathered.is_empty()
            });
        }
        due
    }

    /// When everybody here was seen last: now, who wishes to be seen.
    pub(crate) fn everybody_seen(&self, now: Moment) -> Vec<(CommunityId, PersonId, Moment)> {
        let mut everybody = Vec::new();
        for part in &self.parts {
            for (community, gathered) in lock(part).iter_mut() {
                let seen = gathered.everybody_seen(now);
                everybody.extend(seen.into_iter().map(|(person, seen)| (community.clone(), person, seen)));
            }
        }
        everybody
    }

    /// Takes what has to be read again, for which the store is asked.
    pub(crate) fn overdue(&self) -> Overdue {
        let mut overdue = Overdue::default();
        for part in &self.parts {
            for (community, gathered) in lock(part).iter_mut() {
                gathered.overdue(community, &mut overdue);
            }
        }
        overdue.in_order()
    }

    /// Another node told of one of its people. Says what is to be announced here.
    pub(crate) fn hear(
        &self,
        community: &CommunityId,
        node: NodeId,
        told: Told,
        moved: Moved<'_>,
    ) -> Announcement {
        let mut part = self.part(community);
        if told.here.is_none() && !part.contains_key(community) {
            return Announcement::default();
        }
        let gathered = part.entry(community.clone()).or_default();
        let announcement =
            gathered.hear(node, told, &|person, has_device| moved(community, person, has_device));
        if gathered.is_empty() {
            part.remove(community);
        }
        announcement
    }

    /// What a node told of its people, or all did, is in doubt until it is told again.
    pub(crate) fn doubt_abroad(&self, node: Option<NodeId>) {
        for part in &self.parts {
            lock(part).values_mut().for_each(|gathered| gathered.abroad.doubt(node));
        }
    }

    /// The nodes that told of people who are there.
    pub(crate) fn abroad(&self) -> HashSet<NodeId> {
        let mut nodes = HashSet::new();
        for part in &self.parts {
            lock(part).values().for_each(|gathered| nodes.extend(gathered.abroad.nodes()));
        }
        nodes
    }

    /// The other nodes are to be told of everybody here, by the next rounds.
    pub(crate) fn tell_everybody(&self) {
        for part in &self.parts {
            let mut part = lock(part);
            let people = part.values_mut().flat_map(|gathered| gathered.people.values_mut());
            people.for_each(|present| present.is_news = true);
        }
    }

    /// Communities, people, devices and open rooms.
    pub(crate) fn counts(&self) -> [u64; 4] {
        let mut counts = [0; 4];
        for part in &self.parts {
            for gathered in lock(part).values() {
                let [people, devices, rooms] = gathered.counts();
                counts[0] += u64::from(gathered.is_active());
                counts[1] += people;
                counts[2] += devices;
                counts[3] += rooms;
            }
        }
        counts
    }

    /// People, devices and open rooms of a community, on this node.
    pub(crate) fn counts_in(&self, community: &CommunityId) -> [u64; 3] {
        self.part(community).get(community).map_or([0; 3], Gathered::counts)
    }

    /// The heads of all open rooms, for those who may have missed something.
    pub(crate) fn heads(&self) -> Vec<(Arc<str>, ConversationId, Seq)> {
        let mut heads = Vec::new();
        for part in &self.parts {
            for gathered in lock(part).values() {
                gathered.heads(&mut heads);
            }
        }
        heads.sort_unstable();
        heads
    }

    /// Nobody of a community is here: then the answer is that of an empty one.
    fn with<T: Default>(&self, community: &CommunityId, act: impl FnOnce(&mut Gathered) -> T) -> T {
        self.part(community).get_mut(community).map(act).unwrap_or_default()
    }

    fn part(&self, community: &CommunityId) -> MutexGuard<'_, HashMap<CommunityId, Gathered>> {
        let place = self.hasher.hash_one(community) as usize % PARTS;
        lock(&self.parts[place])
    }
}

/// A panic while it was held left a count wrong at worst; who is online must not depend on that.
fn lock(part: &Mutex<HashMap<CommunityId, Gathered>>) -> MutexGuard<'_, HashMap<CommunityId, Gathered>> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
