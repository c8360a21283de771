//! Live connections by person, and when they end; and the places that people take in their communities.

use super::Rejection;
use super::places::Places;
use crate::audience::DeviceId;
use chat::{CommunityId, PersonId};
use hashbrown::HashTable;
use identity::{
    Ended, Refusal, Revocation, RevocationsFull, Rules, SessionId, Sessions, SessionsLimits, UnixSeconds,
    Verified,
};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// A connection to the messenger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SocketId(pub(crate) DeviceId);

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl SocketId {
    /// Returns the id as the gateway knows it. The prefix keeps it apart from ids that clients choose. It is always
    /// short enough that the hub stores it without an allocation.
    pub(crate) fn text(self) -> String {
        let digits = (0..11).rev().map(|place| char::from(DIGITS[(self.0.0 >> (6 * place) & 63) as usize]));
        let mut text = String::from("~m:");
        text.extend(digits);
        text
    }

    fn session(self) -> SessionId {
        SessionId(self.0.0)
    }
}

pub(super) struct Live {
    sessions: Sessions,
    communities: HashMap<CommunityId, Connected>,
    /// Connections of closed communities that have not been closed yet.
    closing: HashSet<SocketId>,
    last: u64,
    hasher: RandomState,
}

/// The connected people of a community.
#[derive(Default)]
struct Connected {
    /// Their connections, found by person. A person with several has several entries: most have one, and a list for each
    /// of them would be half as large again.
    sockets: HashTable<(PersonId, SocketId)>,
    places: Places,
}

impl Connected {
    /// Returns the connections of a person, whose hash is `hash`.
    fn of(&self, hash: u64, person: &PersonId) -> impl Iterator<Item = SocketId> {
        let theirs = self.sockets.iter_hash(hash).filter(move |(whose, _)| whose == person);
        theirs.map(|(_, socket)| *socket)
    }

    fn has(&self, hash: u64, person: &PersonId) -> bool {
        self.of(hash, person).next().is_some()
    }
}

impl Live {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            sessions: Sessions::new(rules, SessionsLimits::default()),
            communities: HashMap::new(),
            closing: HashSet::new(),
            // Sockets to close are named to all nodes by these ids, so each node starts at a random number.
            last: RandomState::new().hash_one(()),
            hasher: RandomState::new(),
        }
    }

    pub(super) fn socket(&mut self) -> SocketId {
        self.last = self.last.wrapping_add(1);
        SocketId(DeviceId(self.last))
    }

    pub(super) fn open_session(
        &mut self,
        socket: SocketId,
        community: &CommunityId,
        person: &PersonId,
        verified: &Verified,
        people_max: Option<u32>,
        now: UnixSeconds,
    ) -> Result<(), Rejection> {
        if self.of(community, person).any(|standing| standing == socket) {
            return Ok(self.sessions.refresh(socket.session(), verified, now)?);
        }
        self.require_place(community, person, people_max)?;
        self.sessions.open(socket.session(), verified, now)?;
        let hash = self.hasher.hash_one(person);
        let connected = self.communities.entry(community.clone()).or_default();
        if !connected.has(hash, person) {
            connected.places.come(person);
        }
        let hash_of = |(person, _): &(PersonId, SocketId)| self.hasher.hash_one(person);
        connected.sockets.insert_unique(hash, (person.clone(), socket), hash_of);
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

    /// Records that a person's first device on another node appeared, or that their last one there disappeared.
    pub(super) fn elsewhere(&mut self, community: &CommunityId, person: &PersonId, has_device: bool) {
        let hash = self.hasher.hash_one(person);
        if has_device {
            let connected = self.communities.entry(community.clone()).or_default();
            return connected.places.come_elsewhere(person, connected.has(hash, person));
        }
        let Some(connected) = self.communities.get_mut(community) else { return };
        connected.places.go_elsewhere(person, connected.has(hash, person));
        if connected.places.is_empty() {
            self.communities.remove(community);
        }
    }

    /// Returns whether a person has a connection, on this node or another.
    pub(super) fn is_connected(&self, community: &CommunityId, person: &PersonId) -> bool {
        self.of(community, person).next().is_some()
            || self.communities.get(community).is_some_and(|connected| connected.places.is_elsewhere(person))
    }

    /// Records that a person's connection has ended.
    pub(super) fn ended(&mut self, socket: SocketId, community: &CommunityId, person: &PersonId) {
        self.sessions.closed(socket.session());
        self.closing.remove(&socket);
        let hash = self.hasher.hash_one(person);
        let Some(connected) = self.communities.get_mut(community) else { return };
        let Ok(entry) = connected.sockets.find_entry(hash, |(_, other)| *other == socket) else { return };
        entry.remove();
        if !connected.has(hash, person) {
            connected.places.go(person);
        }
        if connected.places.is_empty() {
            self.communities.remove(community);
        }
    }

    pub(super) fn of(&self, community: &CommunityId, person: &PersonId) -> impl Iterator<Item = SocketId> {
        let hash = self.hasher.hash_one(person);
        self.communities.get(community).into_iter().flat_map(move |connected| connected.of(hash, person))
    }

    pub(super) fn people_in(&self, community: &CommunityId) -> u64 {
        self.communities.get(community).map_or(0, |connected| connected.places.taken()) as u64
    }

    pub(super) fn communities(&self) -> HashSet<CommunityId> {
        let here = self.communities.iter().filter(|(_, connected)| connected.places.is_anybody_here());
        here.map(|(community, _)| community.clone()).collect()
    }

    pub(super) fn expire(&mut self, now: UnixSeconds, max: usize) -> Vec<Ended> {
        self.sessions.expire(now, max)
    }

    /// They keep their places until they have ended.
    pub(super) fn close_community(&mut self, community: &CommunityId) {
        let connected = self.communities.get(community);
        let sockets = connected.into_iter().flat_map(|connected| connected.sockets.iter());
        self.closing.extend(sockets.map(|(_, socket)| *socket));
    }

    /// Takes some connections of closed communities: each once, unless its community is closed again.
    pub(super) fn closed(&mut self, max: usize) -> impl Iterator<Item = SocketId> {
        let some: Vec<SocketId> = self.closing.iter().take(max).copied().collect();
        for socket in &some {
            self.closing.remove(socket);
        }
        if self.closing.is_empty() {
            // Frees the memory: the set had the size of a whole community, for this one time.
            self.closing = HashSet::new();
        }
        some.into_iter()
    }

    pub(super) fn revoke(
        &mut self,
        revocation: &Revocation,
        now: UnixSeconds,
    ) -> Result<Vec<Ended>, RevocationsFull> {
        let (community, person) = (revocation.community.as_str(), revocation.subject.as_str());
        let theirs: Vec<SessionId> = match (CommunityId::parse(community), PersonId::parse(person)) {
            (Ok(community), Ok(person)) => self.of(&community, &person).map(SocketId::session).collect(),
            _ => Vec::new(),
        };
        self.sessions.revoke(revocation, theirs, now)
    }

    pub(super) fn judge(&self, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        self.sessions.check(verified, now)
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_have_ids_of_their_own_that_take_no_block() {
        let texts = [0, 63, 64, u64::MAX].map(|number| SocketId(DeviceId(number)).text());
        let expected = ["~m:AAAAAAAAAAA", "~m:AAAAAAAAAA_", "~m:AAAAAAAAABA", "~m:P__________"];
        assert_eq!(texts, expected);
        assert!(texts.iter().all(|text| text.len() <= 14));
    }
}
