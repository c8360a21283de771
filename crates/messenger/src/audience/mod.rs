//! Who is online, what they follow, and which rooms are open: whom news can reach.
//!
//! Everything is in memory and partitioned by community; a community with nobody online takes no memory. For a person
//! it keeps their devices, their status and the conversations they are in; for a conversation that somebody online is
//! in, or whose room is open, the people in it. Shards and the store's thread call it: each step under a lock is short,
//! and nothing is sent while a lock is held.

mod changes;
mod community;
mod doubting;
mod due;
mod everywhere;
mod joined;
mod joining;
mod limits;
mod live_conversation;
mod looks;
mod losing;
mod present;
mod remote_people;
mod shown;
mod status;
#[cfg(test)]
mod tests;

pub use status::{Presence, Status};

pub(crate) use changes::DoubtedChange;
pub(crate) use community::{Announcement, Changed, Followed, Gone, Newer, Reach, Reading};
pub(crate) use doubting::{OpenRoom, Untold};
pub(crate) use due::Due;
pub(crate) use joining::{ToldMeanwhile, TooMuchTold};
pub(crate) use limits::{DEVICES_MAX, Full, LEASE};
#[cfg(test)]
pub(crate) use limits::{DOUBTED_CHANGES_MAX, ERASED_REACTIONS_TOLD_MAX, UNTOLD_CHANGES_READ_MAX};
pub(crate) use present::DeviceId;
pub(crate) use remote_people::PersonReport;
pub(crate) use shown::Shown;
pub(crate) use status::{Activity, Choice};

use crate::topics::room_topic;
use chat::{CommunityId, ConversationId, Message, Moment, PersonId, Revision, RoomName, Seq};
use community::CommunityAudience;
use gateway::NodeId;
use losing::Losses;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Number of locks; communities are distributed over them.
const PARTS: usize = 64;

/// Called when a person's first device on another node appears (`true`) or their last one disappears (`false`), in that
/// order, with the community locked.
pub(crate) type Moved<'a> = &'a dyn Fn(&CommunityId, &PersonId, bool);

/// See the module.
pub(crate) struct Audience {
    parts: Box<[Mutex<HashMap<CommunityId, CommunityAudience>>]>,
    hasher: RandomState,
    losses: Losses,
}

impl Audience {
    pub(crate) fn new() -> Self {
        let parts = std::iter::repeat_with(Mutex::default).take(PARTS).collect();
        Self { parts, hasher: RandomState::new(), losses: Losses::default() }
    }

    /// Registers a device by its person's topic; its join is pending until [`Audience::end_joining`]. Returns what is
    /// to be announced.
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

    /// Ends a device's pending join, accepted or not, and returns what its person's topic was sent since the device
    /// arrived. For a person who is not online that is nothing.
    pub(crate) fn end_joining(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
    ) -> Result<ToldMeanwhile, TooMuchTold> {
        let mut part = self.part(community);
        let state = part.get_mut(community);
        state.map_or_else(|| Ok(ToldMeanwhile::new()), |state| state.end_joining(person, device))
    }

    /// Removes a device.
    pub(crate) fn depart(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
        now: Moment,
    ) -> Announcement {
        let mut part = self.part(community);
        let Some(state) = part.get_mut(community) else { return Announcement::default() };
        let announcement = state.depart(person, device, now, Instant::now() + LEASE);
        if state.is_empty() {
            part.remove(community);
        }
        announcement
    }

    /// Sets a device's activity, and its person's chosen status.
    pub(crate) fn set_status(
        &self,
        community: &CommunityId,
        person: &PersonId,
        device: DeviceId,
        activity: Option<Activity>,
        choice: Option<Choice>,
        now: Moment,
    ) -> Announcement {
        self.with(community, |state| state.set_status(person, device, activity, choice, now))
    }

    /// Begins reading a person's conversations: those that they leave before [`Audience::follow_all`] are then not
    /// followed.
    pub(crate) fn begin_following(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |state| state.begin_following(person));
    }

    /// Sets the conversations a person is in to those read, plus those joined meanwhile. Returns what is to be
    /// announced.
    pub(crate) fn follow_all(
        &self,
        community: &CommunityId,
        person: &PersonId,
        reading: Reading<'_>,
    ) -> Changed {
        self.with(community, |state| state.follow_all(person, reading))
    }

    /// Returns the conversations that a person follows but that were not among those read: they may have left them, or
    /// a conversation moved between pages during the reading.
    pub(crate) fn unread(
        &self,
        community: &CommunityId,
        person: &PersonId,
        followed: &[Followed],
    ) -> Vec<ConversationId> {
        self.with(community, |state| state.unread(person, followed))
    }

    /// Gives up a reading of a person's conversations.
    pub(crate) fn abandon_following(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |state| state.abandon_following(person));
    }

    /// Returns which of the conversations read have newer messages, and whether the person is in others by now.
    pub(crate) fn newer(
        &self,
        community: &CommunityId,
        person: &PersonId,
        read: &[(ConversationId, Seq)],
    ) -> Newer {
        self.with(community, |state| state.newer(person, read))
    }

    /// Makes people who joined a conversation, and follow it, known to those who were there before, and the other way
    /// round. Returns what is to be announced.
    pub(crate) fn acquaint(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        newcomers: &[PersonId],
    ) -> Vec<Announcement> {
        self.with(community, |state| state.acquaint(conversation, newcomers))
    }

    /// Makes a person follow a conversation. Returns whether that is new.
    pub(crate) fn follow(&self, community: &CommunityId, person: &PersonId, followed: &Followed) -> bool {
        self.with(community, |state| state.follow(person, followed))
    }

    /// Makes a person follow a room that they have open and were found to be in. Returns what is to be announced.
    pub(crate) fn follow_joined(
        &self,
        community: &CommunityId,
        person: &PersonId,
        followed: &Followed,
        device: DeviceId,
    ) -> Vec<Announcement> {
        self.with(community, |state| state.follow_joined(person, followed, device))
    }

    /// Stops delivery of a conversation to a banned person, who stays a member, until the given time or for good.
    pub(crate) fn ban(
        &self,
        community: &CommunityId,
        person: &PersonId,
        conversation: ConversationId,
        until: Option<Moment>,
    ) {
        self.with(community, |state| state.ban(person, conversation, until));
    }

    /// Stops delivery of a conversation to a person.
    pub(crate) fn unfollow(&self, community: &CommunityId, person: &PersonId, conversation: ConversationId) {
        self.with(community, |state| state.unfollow(person, conversation));
    }

    /// A conversation is being erased: nobody follows it any more. Returns who is to be told, and the joins to end.
    pub(crate) fn erase(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &'static str,
        payload: &dyn Fn(&PersonId) -> String,
    ) -> Gone {
        self.with(community, |state| state.erase(conversation, event, payload))
    }

    /// Marks a person's conversations to be read again.
    pub(crate) fn follow_again(&self, community: &CommunityId, person: &PersonId) {
        self.with(community, |state| state.follow_again(person));
    }

    /// Registers a join of a room.
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

    /// Removes a join of a room.
    pub(crate) fn close_room(&self, community: &CommunityId, conversation: ConversationId, device: DeviceId) {
        let mut part = self.part(community);
        let Some(state) = part.get_mut(community) else { return };
        state.close_room(conversation, device);
        if state.is_empty() {
            part.remove(community);
        }
    }

    /// Marks a connection that has a room open as a visitor.
    pub(crate) fn visit(&self, community: &CommunityId, conversation: ConversationId, device: DeviceId) {
        self.with(community, |state| state.visit(conversation, device));
    }

    /// Evicts a person from an open room: returns the connections and the topic of the joins to end. A join that is
    /// still pending checks [`Audience::is_evicted`] when it is accepted.
    pub(crate) fn evict(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Vec<(DeviceId, Arc<str>)> {
        self.with(community, |state| state.evict(conversation, person))
    }

    /// Like [`Audience::evict`], but in the next round, so that a person who leaves gets the reply first.
    pub(crate) fn evict_later(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) {
        self.with(community, |state| state.evict_later(conversation, person));
    }

    /// Returns whether a connection has to leave an open room.
    pub(crate) fn is_evicted(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        device: DeviceId,
    ) -> bool {
        self.with(community, |state| state.is_evicted(conversation, device))
    }

    /// Marks everybody who has a room open to be checked again.
    pub(crate) fn judge_again(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |state| state.judge_again(conversation));
    }

    /// Records a stored message, and returns whom to notify.
    pub(crate) fn said(&self, community: &CommunityId, message: &Message, payload: &str) -> Reach {
        self.with(community, |state| state.said(message, payload))
    }

    /// Records that a conversation may have a message that was not announced.
    pub(crate) fn doubt(&self, community: &CommunityId, conversation: ConversationId) {
        self.with(community, |state| state.doubt(conversation));
    }

    /// Records that something about a conversation changed, and returns whom to notify.
    pub(crate) fn changed(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &'static str,
        payload: &str,
    ) -> Reach {
        self.with(community, |state| state.changed(conversation, event, payload))
    }

    /// Returns how often an open room's title, topic text or rules changed, to compare two snapshots.
    pub(crate) fn changes(&self, community: &CommunityId, conversation: ConversationId) -> u32 {
        self.with(community, |state| state.changes(conversation))
    }

    /// Records the revision that was read of an open room for a person who is sent it.
    pub(crate) fn note_revision(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        revision: Revision,
    ) {
        self.with(community, |state| state.note_revision(conversation, revision));
    }

    /// Records that a message was edited, deleted or reacted to, and that everybody here is notified.
    pub(crate) fn revised(&self, community: &CommunityId, conversation: ConversationId, revision: Revision) {
        self.with(community, |state| state.revised(conversation, revision));
    }

    /// Returns the newest revision that everybody here was notified of.
    pub(crate) fn told_revision(&self, community: &CommunityId, conversation: ConversationId) -> Revision {
        self.with(community, |state| state.told_revision(conversation))
    }

    /// Returns the newest known revision of an open room.
    pub(crate) fn revision(&self, community: &CommunityId, conversation: ConversationId) -> Revision {
        self.with(community, |state| state.revision(conversation))
    }

    /// Returns the newest announced message of an open room.
    pub(crate) fn head(&self, community: &CommunityId, conversation: ConversationId) -> Seq {
        self.with(community, |state| state.head(conversation))
    }

    /// Returns a person's topic, if they have a device on this node, for an event to be sent there.
    pub(crate) fn tell_person(
        &self,
        community: &CommunityId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Option<Arc<str>> {
        self.with(community, |state| state.tell_person(person, event, payload))
    }

    /// Returns the topics of the others online in a small conversation, for an event to be sent there.
    pub(crate) fn tell_others(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) -> Vec<Arc<str>> {
        self.with(community, |state| state.tell_others(conversation, person, event, payload))
    }

    /// Returns whether a person online is in a conversation.
    pub(crate) fn is_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> bool {
        self.with(community, |state| state.is_in(conversation, person))
    }

    /// Returns the topics of those online who share a conversation with a person, and of the rooms that the person is
    /// in.
    pub(crate) fn acquaintances(&self, community: &CommunityId, person: &PersonId) -> Vec<Arc<str>> {
        self.with(community, |state| state.acquaintances(person))
    }

    /// Returns the presence of those online who share a direct conversation or group with a person.
    pub(crate) fn friends(&self, community: &CommunityId, person: &PersonId) -> Vec<Presence> {
        self.with(community, |state| state.friends(person))
    }

    /// Like [`Audience::friends`], but only those whose presence differs from what a client was shown.
    pub(crate) fn friends_since(
        &self,
        community: &CommunityId,
        person: &PersonId,
        shown: Shown,
    ) -> Vec<Presence> {
        self.with(community, |state| state.friends_since(person, shown))
    }

    /// Like [`Audience::present_in`], but only those whose presence differs from what a client was shown.
    pub(crate) fn present_since(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        shown: Shown,
    ) -> Vec<Presence> {
        self.with(community, |state| state.present_since(conversation, shown))
    }

    /// Returns how many people in a conversation are online, and who they are unless they are too many.
    pub(crate) fn present_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> (usize, Option<Vec<Presence>>) {
        self.with(community, |state| state.present_in(conversation))
    }

    /// Returns a person's presence, if they are online or were a moment ago. It does not check who may know it.
    pub(crate) fn presence(&self, community: &CommunityId, person: &PersonId) -> Option<Presence> {
        self.with(community, |state| state.presence(person))
    }

    /// Returns a person's own status, as they chose it.
    pub(crate) fn own_status(&self, community: &CommunityId, person: &PersonId) -> Status {
        self.with(community, |state| state.own_status(person))
    }

    /// Applies another node's report of one of its people. Returns what is to be announced here.
    pub(crate) fn hear(
        &self,
        community: &CommunityId,
        node: NodeId,
        told: PersonReport,
        moved: Moved<'_>,
    ) -> Announcement {
        let mut part = self.part(community);
        if told.here.is_none() && !part.contains_key(community) {
            return Announcement::default();
        }
        let state = part.entry(community.clone()).or_default();
        let announcement = state.hear(node, told, &|person, has_device| moved(community, person, has_device));
        if state.is_empty() {
            part.remove(community);
        }
        announcement
    }

    /// Counts people, devices and open rooms of a community on this node.
    pub(crate) fn counts_in(&self, community: &CommunityId) -> [u64; 3] {
        self.part(community).get(community).map_or([0; 3], CommunityAudience::counts)
    }

    /// If nobody of the community is online, returns the default value.
    fn with<T: Default>(&self, community: &CommunityId, act: impl FnOnce(&mut CommunityAudience) -> T) -> T {
        self.part(community).get_mut(community).map(act).unwrap_or_default()
    }

    fn part(&self, community: &CommunityId) -> MutexGuard<'_, HashMap<CommunityId, CommunityAudience>> {
        let place = self.hasher.hash_one(community) as usize % PARTS;
        lock(&self.parts[place])
    }
}

/// A panic while the lock was held leaves a wrong count at worst; who is online must not depend on that.
fn lock(
    part: &Mutex<HashMap<CommunityId, CommunityAudience>>,
) -> MutexGuard<'_, HashMap<CommunityId, CommunityAudience>> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
