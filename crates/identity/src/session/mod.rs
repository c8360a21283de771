//! Which live connections stand on which tokens, and which must end: as pure state.
//!
//! It is told when connections open and close, learns of new tokens and of revocations, and answers with the
//! connections to close and the code to close them with. It closes none itself, and knows no clock. One connection is
//! one session; how many there may be is bounded by who accepts connections.

mod revocations;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

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

/// What is kept of a token.
#[derive(Clone, Debug)]
struct Session {
    community: Community,
    subject: Arc<str>,
    token_id: Option<Box<str>>,
    issued: Option<UnixSeconds>,
    ends: UnixSeconds,
}

impl Session {
    fn of(verified: &Verified) -> Self {
        Self::of_subject(verified, verified.claims.subject.as_str().into())
    }

    fn of_subject(verified: &Verified, subject: Arc<str>) -> Self {
        Session {
            community: verified.community.clone(),
            subject,
            token_id: verified.claims.token_id.as_deref().map(Into::into),
            issued: verified.claims.issued,
            ends: verified.ends,
        }
    }
}

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
        self.open_sharing(id, verified, verified.claims.subject.as_str().into(), now)
    }

    /// As [`Sessions::open`], for who keeps the token's subject, too: no second copy of it is made.
    ///
    /// # Errors
    /// As [`Sessions::open`].
    pub fn open_sharing(
        &mut self,
        id: SessionId,
        verified: &Verified,
        subject: Arc<str>,
        now: UnixSeconds,
    ) -> Result<(), Refusal> {
        debug_assert_eq!(*subject, *verified.claims.subject, "the subject is the token's");
        let session = Session::of_subject(verified, subject);
        self.judge(&session, verified, now)?;
        self.closed(id);
        self.put(id, session);
        Ok(())
    }

    /// Whether a verified token counts now, for what needs no connection.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn check(&self, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        self.judge(&Session::of(verified), verified, now)
    }

    /// A live connection presents a newer token. It must be the same person's in the same community; whether it ends
    /// later does not matter. After an error the connection stands on its old token still.
    ///
    /// # Errors
    /// [`Refusal::AnotherPerson`], also for a connection that is not known; [`Refusal::Revoked`], [`Refusal::Expired`].
    pub fn refresh(&mut self, id: SessionId, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        let same_person =
            |old: &&Session| old.community == verified.community && *old.subject == *verified.claims.subject;
        let old = self.sessions.get(&id).filter(same_person).ok_or(Refusal::AnotherPerson)?;
        let newer = Session::of_subject(verified, old.subject.clone());
        self.judge(&newer, verified, now)?;
        self.closed(id);
        self.put(id, newer);
        Ok(())
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
        let is_hit = |session: &Session| {
            session.community == *community && *session.subject == **subject && self.is_revoked(session)
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

    fn judge(&self, session: &Session, verified: &Verified, now: UnixSeconds) -> Result<(), Refusal> {
        if self.is_revoked(session) {
            Err(Refusal::Revoked)
        } else if session.ends <= now {
            Err(Refusal::Expired { at: verified.claims.expires })
        } else {
            Ok(())
        }
    }

    fn is_revoked(&self, session: &Session) -> bool {
        let Session { community, subject, token_id, issued, .. } = session;
        self.revocations.cover(community, subject, token_id.as_deref(), *issued)
    }

    fn put(&mut self, id: SessionId, session: Session) {
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
