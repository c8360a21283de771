//! Tracks which live connections depend on which tokens, and which must end: pure state.
//!
//! It learns when connections open and close, and of new tokens and revocations, and returns the connections to close
//! with their close codes. It closes none itself, and reads no clock. One connection is one session; how many there may
//! be is bounded where connections are accepted.

mod revocations;

use hashbrown::HashTable;
use slab::Slab;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::iter::successors;
use std::num::NonZeroU32;

use crate::authority::{Community, Verified};
use crate::rules::Rules;
use crate::token::{CompactSeconds, Refusal, UnixSeconds};

use revocations::Revocations;
pub use revocations::{Revocation, RevocationsFull, Revoked, SessionsLimits};

/// Closes a connection whose token has expired: the client should get a new one and reconnect.
pub const CLOSE_TOKEN_EXPIRED: u16 = 4401;
/// Closes a connection whose token was revoked: the client should reconnect only after a new sign-in.
pub const CLOSE_TOKEN_REVOKED: u16 = 4403;

/// A connection, by a number that the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A connection that must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The connection.
    pub session: SessionId,
    /// The code to close it with: [`CLOSE_TOKEN_EXPIRED`] or [`CLOSE_TOKEN_REVOKED`].
    pub code: u16,
}

/// The sessions of a server, or of one part of it.
#[derive(Debug)]
pub struct Sessions {
    sessions: Slab<Session>,
    /// The place of each session, by its id. Only places, because a table has up to twice as many buckets as entries.
    by_id: HashTable<Place>,
    /// The first session of each list of those that end in the same second.
    by_end: BTreeMap<CompactSeconds, Place>,
    hasher: RandomState,
    revocations: Revocations,
}

/// What is stored about a token: as little as possible, since each connection has one.
#[derive(Clone, Debug)]
struct Session {
    id: SessionId,
    whose: Whose,
    // Behind a thin pointer, as few tokens have one.
    #[allow(clippy::redundant_allocation, reason = "see above")]
    token_id: Option<Box<Box<str>>>,
    /// 0 if the token does not say. Any revocation by time of issue then covers it, as it must.
    issued: CompactSeconds,
    ends: CompactSeconds,
    /// The neighbours in the list of those that end in the same second.
    before: Option<Place>,
    after: Option<Place>,
}

/// Identifies a person of a community by a keyed hash, with a key of [`Sessions`]. The exact owner of a connection is
/// known to whoever holds the connections; this only guards against mistakes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Whose(u64);

/// A session's place in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place(NonZeroU32);

impl Place {
    fn of(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Place(number.expect("there are fewer connections than descriptors"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Sessions {
    /// Starts without sessions and revocations. `rules` must be those of the authorities: the maximum lifetime of
    /// tokens determines how long a revocation is remembered.
    pub fn new(rules: Rules, limits: SessionsLimits) -> Self {
        Sessions {
            sessions: Slab::new(),
            by_id: HashTable::new(),
            by_end: BTreeMap::new(),
            hasher: RandomState::new(),
            revocations: Revocations::new(rules, limits),
        }
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Starts a session on a verified token. Opening an id that is in use replaces its session.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn open(&mut self, id: SessionId, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        self.check(verified, now)?;
        self.closed(id);
        self.put(id, verified);
        Ok(())
    }

    /// Checks whether a verified token is valid now, for requests without a connection.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn check(&self, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        let Verified { community, claims, ends, .. } = verified;
        if self.revocations.cover(community, &claims.subject, claims.token_id.as_deref(), claims.issued) {
            Err(Refusal::Revoked)
        } else if *ends <= now {
            Err(Refusal::Expired { at: claims.expires })
        } else {
            Ok(())
        }
    }

    /// Handles a newer token on a live connection. It must be of the same person in the same community; whether it
    /// expires later does not matter. After an error the session keeps its old token.
    ///
    /// # Errors
    /// [`Refusal::AnotherPerson`], also for an unknown connection; [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn refresh(&mut self, id: SessionId, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        let whose = self.whose(&verified.community, &verified.claims.subject);
        if self.find(id).is_none_or(|old| old.whose != whose) {
            return Err(Refusal::AnotherPerson);
        }
        self.open(id, verified, now)
    }

    /// Ends a session, because its connection closed for whatever reason. Ignores unknown ids.
    pub fn closed(&mut self, id: SessionId) {
        let has_id = |place: &Place| self.sessions[place.index()].id == id;
        let Ok(entry) = self.by_id.find_entry(self.hasher.hash_one(id), has_id) else { return };
        let Session { ends, before, after, .. } = self.sessions.remove(entry.remove().0.index());
        match (before, after) {
            (Some(before), _) => self.sessions[before.index()].after = after,
            (None, Some(after)) => drop(self.by_end.insert(ends, after)),
            (None, None) => drop(self.by_end.remove(&ends)),
        }
        if let Some(after) = after {
            self.sessions[after.index()].before = before;
        }
    }

    /// Revokes tokens from now on. Live sessions on them are removed and returned. `theirs` are all sessions of the
    /// person: the caller knows whose connections they are, and an index here would take most of a session's memory.
    /// Sessions in `theirs` that are not affected stay.
    ///
    /// # Errors
    /// [`RevocationsFull`]: then nothing is revoked.
    pub fn revoke(
        &mut self,
        revocation: &Revocation,
        theirs: impl IntoIterator<Item = SessionId>,
        now: UnixSeconds,
    ) -> Result<Vec<Ended>, RevocationsFull> {
        self.revocations.remember(revocation, now)?;
        let (community, subject) = (&revocation.community, &revocation.subject);
        let whose = self.whose(community, subject);
        let is_hit = |Session { whose: theirs, token_id, issued, .. }: &Session| {
            let token_id = token_id.as_ref().map(|id| &***id);
            *theirs == whose && self.revocations.cover(community, subject, token_id, Some((*issued).into()))
        };
        let hit = theirs.into_iter().filter(|id| self.find(*id).is_some_and(is_hit)).collect();
        Ok(self.end(hit, CLOSE_TOKEN_REVOKED))
    }

    /// Removes and returns sessions whose tokens have expired, earliest first and at most `max`, so that a crowd with
    /// the same expiry does not reconnect within one second. Also drops revocations of tokens that would have expired
    /// anyway.
    pub fn expire(&mut self, now: UnixSeconds, max: usize) -> Vec<Ended> {
        self.revocations.forget(now);
        let lists = self.by_end.range(..=CompactSeconds::from(now)).map(|(_, first)| *first);
        let after = |place: &Place| self.sessions[place.index()].after;
        let expired = lists.flat_map(|first| successors(Some(first), after)).take(max);
        let expired: Vec<SessionId> = expired.map(|place| self.sessions[place.index()].id).collect();
        self.end(expired, CLOSE_TOKEN_EXPIRED)
    }

    /// When the next session expires, if there is one.
    pub fn next_expiry(&self) -> Option<UnixSeconds> {
        self.by_end.first_key_value().map(|(ends, _)| (*ends).into())
    }

    /// All current revocations, to be persisted across a restart and sent to other nodes.
    pub fn revocations(&self) -> impl Iterator<Item = Revocation> {
        self.revocations.iter()
    }

    fn whose(&self, community: &Community, subject: &str) -> Whose {
        Whose(self.hasher.hash_one((community, subject)))
    }

    fn find(&self, id: SessionId) -> Option<&Session> {
        let has_id = |place: &Place| self.sessions[place.index()].id == id;
        let place = self.by_id.find(self.hasher.hash_one(id), has_id)?;
        self.sessions.get(place.index())
    }

    fn put(&mut self, id: SessionId, verified: &Verified) {
        let Verified { community, claims, ends, .. } = verified;
        let ends = CompactSeconds::from(*ends);
        let after = self.by_end.get(&ends).copied();
        let place = Place::of(self.sessions.insert(Session {
            id,
            whose: self.whose(community, &claims.subject),
            token_id: claims.token_id.as_deref().map(|id| Box::new(id.into())),
            issued: claims.issued.unwrap_or_default().into(),
            ends,
            before: None,
            after,
        }));
        if let Some(after) = after {
            self.sessions[after.index()].before = Some(place);
        }
        self.by_end.insert(ends, place);
        let (sessions, hasher) = (&self.sessions, &self.hasher);
        let hash_of = |place: &Place| hasher.hash_one(sessions[place.index()].id);
        self.by_id.insert_unique(hasher.hash_one(id), place, hash_of);
    }

    fn end(&mut self, sessions: Vec<SessionId>, code: u16) -> Vec<Ended> {
        for id in &sessions {
            self.closed(*id);
        }
        sessions.into_iter().map(|session| Ended { session, code }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_stays_within_its_bytes() {
        assert!(size_of::<Option<Session>>() <= 40, "{} bytes", size_of::<Option<Session>>());
    }
}
