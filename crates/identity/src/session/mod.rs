//! Which live connections stand on which tokens, and which must end: as pure state.
//!
//! It is told when connections open and close, learns of new tokens and of revocations, and answers with the
//! connections to close and the code to close them with. It closes none itself, and knows no clock. One connection is
//! one session; how many there may be is bounded by who accepts connections.

mod revocations;

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

use crate::authority::{Community, Verified};
use crate::rules::Rules;
use crate::token::{Refusal, UnixSeconds};

use revocations::Revocations;
pub use revocations::{Revocation, RevocationsFull, Revoked, SessionsLimits};

/// Closes a connection whose token has expired: get a new one and come back.
pub const CLOSE_TOKEN_EXPIRED: u16 = 4401;
/// Closes a connection whose token was revoked: come back only after a new sign-in.
pub const CLOSE_TOKEN_REVOKED: u16 = 4403;

/// A connection, by a number of the caller's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A connection that must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub session: SessionId,
    /// The code to close it with: [`CLOSE_TOKEN_EXPIRED`] or [`CLOSE_TOKEN_REVOKED`].
    pub code: u16,
}

/// The sessions of a server, or of a part of it.
#[derive(Debug)]
pub struct Sessions {
    sessions: HashMap<SessionId, Session>,
    by_end: BTreeSet<(UnixSeconds, SessionId)>,
    revocations: Revocations,
}

/// What is kept of a token: as little as will do, since each connection has one.
#[derive(Clone, Debug)]
struct Session {
    whose: Whose,
    token_id: Option<Box<str>>,
    /// The beginning of time where the token does not say: what revokes any time of issue revokes that, as it has to.
    issued: UnixSeconds,
    ends: UnixSeconds,
}

/// A person of a community, by a hash whose secret is its table's: who has connections knows whose they are, and this tells
/// that they were not mistaken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Whose(u64);

impl Sessions {
    /// No sessions and no revocations. `rules` must be those of the authorities: how long tokens may last says how long a
    /// revocation is remembered.
    pub fn new(rules: Rules, limits: SessionsLimits) -> Self {
        Sessions {
            sessions: HashMap::new(),
            by_end: BTreeSet::new(),
            revocations: Revocations::new(rules, limits),
        }
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// A connection begins to stand on a verified token. Who opens an id again means another connection.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn open(&mut self, id: SessionId, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        self.check(verified, now)?;
        self.closed(id);
        self.put(id, verified);
        Ok(())
    }

    /// Whether a verified token counts now, for what needs no connection.
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

    /// A live connection presents a newer token. It must be the same person's in the same community; whether it ends
    /// later does not matter. After an error the connection stands on its old token still.
    ///
    /// # Errors
    /// [`Refusal::AnotherPerson`], also for a connection that is not known; [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn refresh(&mut self, id: SessionId, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        let whose = self.whose(&verified.community, &verified.claims.subject);
        if self.sessions.get(&id).is_none_or(|old| old.whose != whose) {
            return Err(Refusal::AnotherPerson);
        }
        self.open(id, verified, now)
    }

    /// A connection has ended, for whatever reason. An unknown one is none of ours.
    pub fn closed(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id) {
            self.by_end.remove(&(session.ends, id));
        }
    }

    /// Revokes tokens, from now on and for live connections, which are forgotten here and returned. `theirs` are all sessions
    /// of the person: who has connections knows whose they are, and an index of its own would be most of what a session takes.
    /// Others among them stay.
    ///
    /// # Errors
    /// [`RevocationsFull`]: nothing is revoked then.
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
            *theirs == whose && self.revocations.cover(community, subject, token_id.as_deref(), Some(*issued))
        };
        let hit = theirs.into_iter().filter(|id| self.sessions.get(id).is_some_and(is_hit)).collect();
        Ok(self.end(hit, CLOSE_TOKEN_REVOKED))
    }

    /// Takes the sessions whose tokens have expired, the earliest first and at most `max` of them, so that a crowd with
    /// one expiry does not come back in one second; and forgets revocations of what would be expired anyway.
    pub fn expire(&mut self, now: UnixSeconds, max: usize) -> Vec<Ended> {
        self.revocations.forget(now);
        let expired = self.by_end.iter().take_while(|(ends, _)| *ends <= now).take(max);
        let expired: Vec<SessionId> = expired.map(|(_, id)| *id).collect();
        self.end(expired, CLOSE_TOKEN_EXPIRED)
    }

    /// When the next session expires, if there is one.
    pub fn next_expiry(&self) -> Option<UnixSeconds> {
        self.by_end.first().map(|(ends, _)| *ends)
    }

    /// What is revoked: to be kept through a restart, and to be told to other nodes.
    pub fn revocations(&self) -> impl Iterator<Item = Revocation> {
        self.revocations.iter()
    }

    fn whose(&self, community: &Community, subject: &str) -> Whose {
        Whose(self.sessions.hasher().hash_one((community, subject)))
    }

    fn put(&mut self, id: SessionId, verified: &Verified) {
        let Verified { community, claims, ends, .. } = verified;
        let session = Session {
            whose: self.whose(community, &claims.subject),
            token_id: claims.token_id.as_deref().map(Into::into),
            issued: claims.issued.unwrap_or_default(),
            ends: *ends,
        };
        self.by_end.insert((session.ends, id));
        self.sessions.insert(id, session);
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
        assert!(size_of::<(SessionId, Session)>() <= 48, "{} bytes", size_of::<(SessionId, Session)>());
    }
}
