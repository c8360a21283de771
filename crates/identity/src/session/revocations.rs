//! Revocations, remembered for as long as the tokens would otherwise be valid.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use crate::authority::Community;
use crate::rules::Rules;
use crate::token::UnixSeconds;

/// Limits of what is remembered.
#[derive(Clone, Copy, Debug)]
pub struct SessionsLimits {
    /// Revocations in total. Beyond it new ones are refused: dropping one to make room would undo it.
    pub revocations_max: usize,
    /// Revocations of one community, so that none takes the room of the others.
    pub revocations_per_community_max: usize,
}

impl Default for SessionsLimits {
    fn default() -> Self {
        SessionsLimits { revocations_max: 1_000_000, revocations_per_community_max: 10_000 }
    }
}

/// A revocation of one person's tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revocation {
    /// The community.
    pub community: Community,
    /// The person: `sub`.
    pub subject: String,
    /// Which of their tokens.
    pub what: Revoked,
}

impl Revocation {
    /// When none of these tokens could be valid any more. A token that is valid now ends within the maximum lifetime
    /// plus the leeways of its clock and ours; after that it is refused as expired. The time up to which tokens are
    /// revoked may be in the future.
    pub fn ends(&self, rules: Rules, now: UnixSeconds) -> UnixSeconds {
        let last_issued = match self.what {
            Revoked::TokenId(_) => now,
            Revoked::IssuedUntil(until) => now.max(until),
        };
        let Rules { leeway, lifetime_max } = rules;
        last_issued.plus(lifetime_max).plus(leeway).plus(leeway).plus(Duration::from_secs(1))
    }
}

/// Which tokens of a person are revoked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revoked {
    /// The one with this `jti`.
    TokenId(String),
    /// All with an `iat` up to this time, by the host site's clock; and those without an `iat`, which might be among
    /// them.
    IssuedUntil(UnixSeconds),
}

/// A limit on revocations is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationsFull {
    /// The community has reached its limit.
    Community,
    /// The server has reached its limit.
    Server,
}

impl fmt::Display for RevocationsFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            RevocationsFull::Community => {
                "this community has reached the maximum number of revocations: revoke the key that signed the \
                 tokens instead"
            }
            RevocationsFull::Server => "the server has no room for more revocations",
        })
    }
}

impl std::error::Error for RevocationsFull {}

#[derive(Debug)]
pub(super) struct Revocations {
    rules: Rules,
    limits: SessionsLimits,
    communities: HashMap<Community, HashMap<Box<str>, OfPerson>>,
    counts: HashMap<Community, usize>,
    by_end: BTreeSet<(UnixSeconds, Revocation)>,
}

#[derive(Debug, Default)]
struct OfPerson {
    token_ids: HashSet<String>,
    issued_until: Option<IssuedUntil>,
}

/// The latest time up to which a person's tokens are revoked; an earlier one says nothing more.
#[derive(Clone, Copy, Debug)]
struct IssuedUntil {
    until: UnixSeconds,
    ends: UnixSeconds,
}

impl Revocations {
    pub(super) fn new(rules: Rules, limits: SessionsLimits) -> Self {
        Revocations {
            rules,
            limits,
            communities: HashMap::new(),
            counts: HashMap::new(),
            by_end: BTreeSet::new(),
        }
    }

    pub(super) fn remember(
        &mut self,
        revocation: &Revocation,
        now: UnixSeconds,
    ) -> Result<(), RevocationsFull> {
        if self.covers(revocation) {
            return Ok(());
        }
        let ends = revocation.ends(self.rules, now);
        if let Revoked::IssuedUntil(until) = revocation.what
            && self.postpone(revocation, IssuedUntil { until, ends })
        {
            return Ok(());
        }
        let of_community = self.counts.get(&revocation.community).copied().unwrap_or(0);
        if of_community >= self.limits.revocations_per_community_max {
            return Err(RevocationsFull::Community);
        }
        if self.by_end.len() >= self.limits.revocations_max {
            return Err(RevocationsFull::Server);
        }
        let people = self.communities.entry(revocation.community.clone()).or_default();
        let person = people.entry(revocation.subject.as_str().into()).or_default();
        match &revocation.what {
            Revoked::TokenId(token_id) => {
                person.token_ids.insert(token_id.clone());
            }
            Revoked::IssuedUntil(until) => person.issued_until = Some(IssuedUntil { until: *until, ends }),
        }
        *self.counts.entry(revocation.community.clone()).or_default() += 1;
        self.by_end.insert((ends, revocation.clone()));
        Ok(())
    }

    /// Puts a later time in the place of an earlier one, which needs no room. Returns whether there was one.
    fn postpone(&mut self, revocation: &Revocation, later: IssuedUntil) -> bool {
        let people = self.communities.get_mut(&revocation.community);
        let person = people.and_then(|people| people.get_mut(revocation.subject.as_str()));
        let Some(known) = person.and_then(|person| person.issued_until.as_mut()) else {
            return false;
        };
        let earlier = Revocation { what: Revoked::IssuedUntil(known.until), ..revocation.clone() };
        self.by_end.remove(&(known.ends, earlier));
        self.by_end.insert((later.ends, revocation.clone()));
        *known = later;
        true
    }

    /// Whether this is already revoked.
    fn covers(&self, revocation: &Revocation) -> bool {
        let person = self.person(&revocation.community, &revocation.subject);
        person.is_some_and(|person| match &revocation.what {
            Revoked::TokenId(token_id) => person.token_ids.contains(token_id),
            Revoked::IssuedUntil(until) => person.issued_until.is_some_and(|known| known.until >= *until),
        })
    }

    pub(super) fn cover(
        &self,
        community: &Community,
        subject: &str,
        token_id: Option<&str>,
        issued: Option<UnixSeconds>,
    ) -> bool {
        self.person(community, subject).is_some_and(|person| {
            person.issued_until.is_some_and(|known| issued.is_none_or(|issued| issued <= known.until))
                || token_id.is_some_and(|id| person.token_ids.contains(id))
        })
    }

    pub(super) fn forget(&mut self, now: UnixSeconds) {
        while self.by_end.first().is_some_and(|(ends, _)| *ends <= now) {
            if let Some((_, revocation)) = self.by_end.pop_first() {
                self.remove(&revocation);
            }
        }
    }

    fn remove(&mut self, revocation: &Revocation) {
        let Revocation { community, subject, what } = revocation;
        if let Some(count) = self.counts.get_mut(community) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(community);
            }
        }
        let Some(people) = self.communities.get_mut(community) else { return };
        if let Some(person) = people.get_mut(subject.as_str()) {
            match what {
                Revoked::TokenId(token_id) => {
                    person.token_ids.remove(token_id);
                }
                Revoked::IssuedUntil(_) => person.issued_until = None,
            }
            if person.token_ids.is_empty() && person.issued_until.is_none() {
                people.remove(subject.as_str());
            }
        }
        if people.is_empty() {
            self.communities.remove(community);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Revocation> {
        self.by_end.iter().map(|(_, revocation)| revocation.clone())
    }

    fn person(&self, community: &Community, subject: &str) -> Option<&OfPerson> {
        self.communities.get(community)?.get(subject)
    }
}
