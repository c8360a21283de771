//! Live connections by person, and when they end; and the places that their people take in their communities.

use super::Rejection;
use super::places::Places;
use crate::audience::DeviceId;
use chat::{CommunityId, PersonId};
use identity::{
    Ended, Refusal, Revocation, RevocationsFull, Rules, SessionId, Sessions, SessionsLimits, UnixSeconds,
    Verified,
};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// A connection to the messenger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SocketId(pub(crate) DeviceId);

impl SocketId {
    /// As the gateway knows it. The prefix keeps it apart from names that clients choose, which have none of ours.
    pub(crate) fn text(self) -> String {
        format!("~messenger:{}", self.0.0)
    }

    fn session(self) -> SessionId {
        SessionId(self.0.0)
    }
}

pub(super) struct Live {
    sessions: Sessions,
    people: HashMap<SocketId, (CommunityId, PersonId)>,
    sockets: HashMap<(CommunityId, PersonId), Vec<SocketId>>,
    places: HashMap<CommunityId, Places>,
    /// Those whose community is closed, and who were not told yet.
    closing: HashSet<SocketId>,
    last: u64,
}

impl Live {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            sessions: Sessions::new(rules, SessionsLimits::default()),
            people: HashMap::new(),
            sockets: HashMap::new(),
            places: HashMap::new(),
            closing: HashSet::new(),
            // What is to be closed is told to all nodes by these ids: another node's are others.
            last: RandomState::new().hash_one(()),
        }
    }

    pub(super) fn socket(&mut self) -> SocketId {
        self.last = self.last.wrapping_add(1);
        SocketId(DeviceId(self.last))
    }

    pub(super) fn stand(
        &mut self,
        socket: SocketId,
        community: &CommunityId,
        person: &PersonId,
        verified: &Verified,
        people_max: Option<u32>,
        now: UnixSeconds,
    ) -> Result<(), Rejection> {
        if self.people.contains_key(&socket) {
            return Ok(self.sessions.refresh(socket.session(), verified, now)?);
        }
        self.require_place(community, person, people_max)?;
        self.sessions.open(socket.session(), verified, now)?;
        let key = (community.clone(), person.clone());
        self.people.insert(socket, key.clone());
        let sockets = self.sockets.entry(key).or_insert_with(|| Vec::with_capacity(1));
        if sockets.is_empty() {
            self.places.entry(community.clone()).or_default().come(person);
        }
        sockets.push(socket);
        Ok(())
    }

    pub(super) fn require_place(
        &self,
        community: &CommunityId,
        person: &PersonId,
        people_max: Option<u32>,
    ) -> Result<(), Rejection> {
        let Some(max) = people_max else { return Ok(()) };
        let has_room = self.people_in(community) < u64::from(max);
        if has_room || self.is_connected(community, person) { Ok(()) } else { Err(Rejection::Full { max }) }
    }

    /// Somebody has a device on another node from now on, or has none there any more.
    pub(super) fn elsewhere(&mut self, community: &CommunityId, person: &PersonId, has_device: bool) {
        let is_here = self.is_here(community, person);
        if has_device {
            return self.places.entry(community.clone()).or_default().come_elsewhere(person, is_here);
        }
        let Some(places) = self.places.get_mut(community) else { return };
        places.go_elsewhere(person, is_here);
        if places.is_empty() {
            self.places.remove(community);
        }
    }

    /// Whether somebody has a connection, on this node or on another.
    pub(super) fn is_connected(&self, community: &CommunityId, person: &PersonId) -> bool {
        let is_elsewhere = self.places.get(community).is_some_and(|places| places.is_elsewhere(person));
        is_elsewhere || self.is_here(community, person)
    }

    fn is_here(&self, community: &CommunityId, person: &PersonId) -> bool {
        self.sockets.contains_key(&(community.clone(), person.clone()))
    }

    pub(super) fn ended(&mut self, socket: SocketId) {
        self.sessions.closed(socket.session());
        let Some(key) = self.people.remove(&socket) else { return };
        if let Some(sockets) = self.sockets.get_mut(&key) {
            sockets.retain(|other| *other != socket);
            if sockets.is_empty() {
                self.sockets.remove(&key);
                self.give_back(&key.0, &key.1);
            }
        }
    }

    fn give_back(&mut self, community: &CommunityId, person: &PersonId) {
        let Some(places) = self.places.get_mut(community) else { return };
        places.go(person);
        if places.is_empty() {
            self.places.remove(community);
        }
    }

    pub(super) fn of(&self, community: &CommunityId, person: &PersonId) -> impl Iterator<Item = SocketId> {
        self.sockets.get(&(community.clone(), person.clone())).into_iter().flatten().copied()
    }

    pub(super) fn people_in(&self, community: &CommunityId) -> u64 {
        self.places.get(community).map_or(0, Places::taken) as u64
    }

    pub(super) fn communities(&self) -> HashSet<CommunityId> {
        let here = self.places.iter().filter(|(_, places)| places.is_anybody_here());
        here.map(|(community, _)| community.clone()).collect()
    }

    pub(super) fn expire(&mut self, now: UnixSeconds, max: usize) -> Vec<Ended> {
        self.sessions.expire(now, max)
    }

    /// Their places are taken until they have ended.
    pub(super) fn close_community(&mut self, community: &CommunityId) {
        let of_it = self.people.iter().filter(|(_, (of, _))| of == community);
        self.closing.extend(of_it.map(|(socket, _)| *socket));
    }

    /// Some of those whose community is closed: each is named once, unless it is closed once more.
    pub(super) fn closed(&mut self, max: usize) -> impl Iterator<Item = SocketId> {
        let some: Vec<SocketId> = self.closing.iter().take(max).copied().collect();
        for socket in &some {
            self.closing.remove(socket);
        }
        if self.closing.is_empty() {
            // As large as a community was, for the one time.
            self.closing = HashSet::new();
        }
        some.into_iter().filter(|socket| self.people.contains_key(socket))
    }

    pub(super) fn revoke(
        &mut self,
        revocation: &Revocation,
        now: UnixSeconds,
    ) -> Result<Vec<Ended>, RevocationsFull> {
        self.sessions.revoke(revocation, now)
    }

    pub(super) fn judge(&self, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        self.sessions.check(verified, now)
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }
}
