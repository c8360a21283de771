//! What is refused because there was too much of it in a minute, by whatever way it came: messages, other requests, tokens
//! that are none.

use crate::address::network;
use crate::budgets::Budgets;
use crate::fault::{ErrorCode, Fault};
use crate::messenger::Messenger;
use crate::spent::Spent;
use chat::{By, CommunityId, CommunityLimits, Failure, PersonId};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// What one person may ask by channels in a minute beside messages, in the units of
/// [`EventRow::cost`](crate::EventRow::cost), all at once or evenly.
pub(crate) const UNITS_PER_MINUTE: u32 = 6_000;
/// Tokens that are none which one address may show in a minute to come in by channels: a site that changes its key has
/// clients with old ones behind one address.
const TOKENS_PER_MINUTE: u32 = 600;

/// See the module.
pub(crate) struct Limited {
    people: Budgets<(CommunityId, PersonId)>,
    communities: Budgets<CommunityId>,
    requests: Budgets<(CommunityId, PersonId)>,
    tokens: Budgets<IpAddr>,
    refused: [AtomicU64; Limit::ALL.len()],
}

/// Of what there was too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Messages,
    CommunityMessages,
    Requests,
    Tokens,
}

impl Limit {
    const ALL: [Self; 4] = [Self::Messages, Self::CommunityMessages, Self::Requests, Self::Tokens];

    /// As metrics call it.
    const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::CommunityMessages => "community_messages",
            Self::Requests => "requests",
            Self::Tokens => "tokens",
        }
    }
}

/// Too many messages in a minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyMessages {
    /// The name of the limit, among the community's.
    pub limit: &'static str,
    /// Its value, in messages a minute.
    pub max: u32,
    /// How many milliseconds to wait.
    pub wait_ms: u64,
}

impl fmt::Display for TooManyMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, max, wait_ms } = self;
        write!(f, "too many messages in a minute (`{limit}` is {max}): wait {wait_ms} ms")
    }
}

impl From<TooManyMessages> for Fault {
    fn from(too_many: TooManyMessages) -> Self {
        let TooManyMessages { limit, max, wait_ms } = too_many;
        let fault = Self::new(ErrorCode::RateLimited, too_many.to_string());
        fault.with("retry_after_ms", wait_ms).with("limit", limit).with("max", max)
    }
}

impl Limited {
    pub(crate) fn new() -> Self {
        Self {
            people: Budgets::new(),
            communities: Budgets::new(),
            requests: Budgets::new(),
            tokens: Budgets::new(),
            refused: Default::default(),
        }
    }

    /// What was refused since the start, by its limit.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Limit::ALL.iter().map(|limit| (limit.name(), self.refused[*limit as usize].load(Relaxed)))
    }

    /// Takes one message of this minute's: of the community's, and of a person's where a person sends it. Says how many the
    /// community may send, if that is limited.
    fn message(
        &self,
        community: &CommunityId,
        person: Option<&PersonId>,
        limits: &CommunityLimits,
        now: Instant,
    ) -> Result<Option<u32>, TooManyMessages> {
        let CommunityLimits { messages_per_minute, community_messages_per_minute, .. } = *limits;
        // Looked at before, so that who waits for the others loses none of their own.
        if let Some(max) = community_messages_per_minute
            && let Some(wait_ms) = self.communities.wait(community.clone(), max, now)
        {
            return Err(self.too_many_of_all(max, wait_ms));
        }
        if let Some(person) = person {
            let key = (community.clone(), person.clone());
            self.people.spend(key, 1, messages_per_minute, now).map_err(|wait_ms| {
                self.refuse(Limit::Messages);
                TooManyMessages { limit: "messages_per_minute", max: messages_per_minute, wait_ms }
            })?;
        }
        let Some(max) = community_messages_per_minute else {
            return Ok(None);
        };
        let spent = self.communities.spend(community.clone(), 1, max, now);
        spent.map(|()| Some(max)).map_err(|wait_ms| self.too_many_of_all(max, wait_ms))
    }

    /// A message that was taken of a community's at that time was refused.
    pub(crate) fn give_message_back(&self, community: &CommunityId, max: u32, taken_at: Instant) {
        self.communities.give_back(community.clone(), 1, max, taken_at);
    }

    fn too_many_of_all(&self, max: u32, wait_ms: u64) -> TooManyMessages {
        self.refuse(Limit::CommunityMessages);
        TooManyMessages { limit: "community_messages_per_minute", max, wait_ms }
    }

    /// Takes so many units of a person's minute.
    ///
    /// # Errors
    /// They have asked as much as they may.
    pub(crate) fn request(&self, community: &CommunityId, person: &PersonId, cost: u32) -> Result<(), Fault> {
        let key = (community.clone(), person.clone());
        self.requests.spend(key, cost, UNITS_PER_MINUTE, Instant::now()).map_err(|wait_ms| {
            self.refuse(Limit::Requests);
            too_soon("too much was asked in a minute", wait_ms)
        })
    }

    /// Lets pass who comes from an address that may show another token. Nothing is counted of whom that is not known.
    ///
    /// # Errors
    /// It has shown too many that are none.
    pub(crate) fn admit_token(&self, remote: Option<IpAddr>) -> Result<(), Fault> {
        let wait =
            remote.and_then(|remote| self.tokens.wait(network(remote), TOKENS_PER_MINUTE, Instant::now()));
        wait.map_or(Ok(()), |wait_ms| {
            self.refuse(Limit::Tokens);
            Err(too_soon("too many tokens of this address are none", wait_ms))
        })
    }

    /// A token from there is none.
    pub(crate) fn count_token(&self, remote: Option<IpAddr>) {
        if let Some(remote) = remote {
            // Those that come at once may be more than are left; the next one waits.
            let _ = self.tokens.spend(network(remote), 1, TOKENS_PER_MINUTE, Instant::now());
        }
    }

    fn refuse(&self, limit: Limit) {
        self.refused[limit as usize].fetch_add(1, Relaxed);
    }
}

fn too_soon(message: &str, wait_ms: u64) -> Fault {
    Fault::new(ErrorCode::RateLimited, message).with("retry_after_ms", wait_ms)
}

impl Messenger {
    /// Takes one of this minute's messages, of a person and of the whole community; if there were as many as there may be, says
    /// of whom, and how long to wait. The community has its own back if nothing is said with it.
    ///
    /// # Errors
    /// There is no such community, or the store cannot be asked.
    pub async fn spend_message(
        &self,
        community: &CommunityId,
        by: &By,
    ) -> Result<Result<Spent, TooManyMessages>, Failure> {
        let limits = self.directory(community).await?.community.settings.limits;
        let person = match by {
            By::Person(person) => Some(person),
            By::Service => None,
        };
        Ok(self.spend_of(community, person, &limits))
    }

    /// The same for a person, with the limits as far as they are known without asking.
    pub(crate) fn spend_message_now(
        &self,
        community: &CommunityId,
        person: &PersonId,
    ) -> Result<Spent, TooManyMessages> {
        let known = self.inner.cache.known_community(community);
        let limits = known.map_or_else(CommunityLimits::default, |known| known.community.settings.limits);
        self.spend_of(community, Some(person), &limits)
    }

    fn spend_of(
        &self,
        community: &CommunityId,
        person: Option<&PersonId>,
        limits: &CommunityLimits,
    ) -> Result<Spent, TooManyMessages> {
        let now = Instant::now();
        let max = self.inner.limited.message(community, person, limits, now)?;
        Ok(Spent::new(self, community, max, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{id, somebody};

    #[test]
    fn a_community_says_as_much_as_it_may_whoever_says_it_and_others_do_not_notice() {
        let (limited, now) = (Limited::new(), Instant::now());
        let limits = CommunityLimits { community_messages_per_minute: Some(3), ..CommunityLimits::default() };
        let say = |community, person: Option<&str>| {
            let person = person.map(somebody);
            let said = limited.message(&id(community), person.as_ref(), &limits, now);
            said.map(drop).map_err(|refused| refused.limit)
        };
        assert_eq!([say("one", Some("ann")), say("one", Some("bob")), say("one", None)], [Ok(()); 3]);
        assert_eq!(say("one", Some("cat")), Err("community_messages_per_minute"));
        assert_eq!(say("one", None), Err("community_messages_per_minute"));
        assert_eq!(say("two", Some("ann")), Ok(()));
        let counts: Vec<_> = limited.counts().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counts, [("community_messages", 2)]);
    }

    #[test]
    fn who_waits_for_the_community_loses_none_of_their_own_and_who_waits_alone_takes_none_of_its() {
        let (limited, now) = (Limited::new(), Instant::now());
        let say = |person, own, all| {
            let limits = CommunityLimits {
                messages_per_minute: own,
                community_messages_per_minute: all,
                ..CommunityLimits::default()
            };
            let said = limited.message(&id("one"), Some(&somebody(person)), &limits, now);
            said.map(drop).map_err(|refused| refused.limit)
        };
        assert_eq!(say("ann", 1, Some(2)), Ok(()));
        assert_eq!(say("ann", 1, Some(2)), Err("messages_per_minute"));
        assert_eq!(say("bob", 1, Some(2)), Ok(()));
        assert_eq!(say("cat", 1, Some(2)), Err("community_messages_per_minute"));
        assert_eq!(say("cat", 1, None), Ok(()), "Cat has hers still");
    }

    #[test]
    fn an_address_that_shows_too_many_tokens_that_are_none_waits_and_others_do_not() {
        let limited = Limited::new();
        let from = |text: &str| Some(text.parse().expect("an address"));
        let mut shown = 0;
        // What the minute brings meanwhile comes on top.
        let refused = loop {
            match limited.admit_token(from("192.0.2.1")) {
                Ok(()) => limited.count_token(from("192.0.2.1")),
                Err(fault) => break fault,
            }
            shown += 1;
            assert!(shown < 1_000_000, "there is an end");
        };
        assert!(shown >= TOKENS_PER_MINUTE, "{shown}");
        assert_eq!(refused.code, "rate_limited");
        assert!(refused.details["retry_after_ms"].as_u64().is_some_and(|wait_ms| wait_ms > 0));
        assert!(limited.admit_token(from("192.0.2.2")).is_ok() && limited.admit_token(None).is_ok());
    }
}
