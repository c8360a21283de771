//! What is refused when there is too much of it in a minute, by whichever surface it came: messages, other requests,
//! new guests, invalid tokens.

use crate::fault::{ErrorCode, Fault};
use crate::message_permit::MessagePermit;
use crate::messenger::Messenger;
use chat::{By, CommunityId, CommunityLimits, Failure, PersonId};
use gateway::network;
use rates::{Budgets, Rate};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// What one person may request over channels beside messages, in the units of
/// [`EventRow::cost`](crate::EventRow::cost).
pub(crate) const UNITS: Rate = Rate::per_minute(6_000);
/// Invalid tokens that one address may present over channels: after a site changes its key, many clients behind one
/// address may present old tokens.
const TOKENS: Rate = Rate::per_minute(600);

/// What one address may do over channels in a minute, for all its people together; `None` means only the limits of each
/// person apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AddressLimits {
    /// Messages, edits and reactions.
    pub messages_per_minute: Option<u32>,
    /// New guests.
    pub guests_per_minute: Option<u32>,
}

/// See the module.
pub(crate) struct Limited {
    of_addresses: AddressLimits,
    people: Budgets<(CommunityId, PersonId)>,
    communities: Budgets<CommunityId>,
    requests: Budgets<(CommunityId, PersonId)>,
    addresses: Budgets<IpAddr>,
    guests: Budgets<IpAddr>,
    tokens: Budgets<IpAddr>,
    refused: [AtomicU64; Limit::ALL.len()],
}

/// The limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Messages,
    CommunityMessages,
    AddressMessages,
    Requests,
    Guests,
    Tokens,
}

impl Limit {
    const ALL: [Self; 6] = [
        Self::Messages,
        Self::CommunityMessages,
        Self::AddressMessages,
        Self::Requests,
        Self::Guests,
        Self::Tokens,
    ];

    /// Returns the name in metrics.
    const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::CommunityMessages => "community_messages",
            Self::AddressMessages => "address_messages",
            Self::Requests => "requests",
            Self::Guests => "guests",
            Self::Tokens => "tokens",
        }
    }
}

/// Too many messages in a minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyMessages {
    /// The name of the limit: one of the community's, or the server's for an address.
    pub limit: &'static str,
    /// Its value, in messages per minute.
    pub max: u32,
    /// How many milliseconds to wait.
    pub wait_ms: u64,
}

/// Who sends a message.
#[derive(Clone, Copy)]
struct Sender<'a> {
    /// `None`: an API key.
    person: Option<&'a PersonId>,
    /// The address, over channels.
    remote: Option<IpAddr>,
}

impl fmt::Display for TooManyMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, max, wait_ms } = self;
        write!(f, "too many messages per minute (`{limit}` is {max}): wait {wait_ms} ms")
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
    pub(crate) fn new(of_addresses: AddressLimits) -> Self {
        Self {
            of_addresses,
            people: Budgets::default(),
            communities: Budgets::default(),
            requests: Budgets::default(),
            addresses: Budgets::default(),
            guests: Budgets::default(),
            tokens: Budgets::default(),
            refused: Default::default(),
        }
    }

    /// Returns how many requests each limit has refused since the start.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Limit::ALL.iter().map(|limit| (limit.name(), self.refused[*limit as usize].load(Relaxed)))
    }

    /// Takes one message from the limits of the community, of the person if a person sends it, and of the address if it
    /// is known. Returns the community's limit, if it has one.
    fn message(
        &self,
        community: &CommunityId,
        Sender { person, remote }: Sender<'_>,
        limits: &CommunityLimits,
        now: Instant,
    ) -> Result<Option<u32>, TooManyMessages> {
        let CommunityLimits { messages_per_minute, community_messages_per_minute, .. } = *limits;
        // Checked first, so that a sender who has to wait for the others loses none of their own share.
        if let Some(max) = community_messages_per_minute
            && let Some(wait_ms) = self.communities.wait(community.clone(), Rate::per_minute(max), now)
        {
            return Err(self.too_many_of_all(max, wait_ms));
        }
        let address = remote.map(network).zip(self.of_addresses.messages_per_minute);
        if let Some((address, max)) = address
            && let Some(wait_ms) = self.addresses.wait(address, Rate::per_minute(max), now)
        {
            return Err(self.too_many_of_address(max, wait_ms));
        }
        if let Some(person) = person {
            let key = (community.clone(), person.clone());
            self.people.spend(key, 1, Rate::per_minute(messages_per_minute), now).map_err(|wait_ms| {
                self.refuse(Limit::Messages);
                TooManyMessages { limit: "messages_per_minute", max: messages_per_minute, wait_ms }
            })?;
        }
        if let Some((address, max)) = address {
            let spent = self.addresses.spend(address, 1, Rate::per_minute(max), now);
            spent.map_err(|wait_ms| self.too_many_of_address(max, wait_ms))?;
        }
        let Some(max) = community_messages_per_minute else {
            return Ok(None);
        };
        let spent = self.communities.spend(community.clone(), 1, Rate::per_minute(max), now);
        spent.map(|()| Some(max)).map_err(|wait_ms| self.too_many_of_all(max, wait_ms))
    }

    /// Gives back a message taken from a community's limit at that time, because the verb was refused.
    pub(crate) fn give_message_back(&self, community: &CommunityId, max: u32, taken_at: Instant) {
        self.communities.give_back(community.clone(), 1, Rate::per_minute(max), taken_at);
    }

    fn too_many_of_all(&self, max: u32, wait_ms: u64) -> TooManyMessages {
        self.refuse(Limit::CommunityMessages);
        TooManyMessages { limit: "community_messages_per_minute", max, wait_ms }
    }

    fn too_many_of_address(&self, max: u32, wait_ms: u64) -> TooManyMessages {
        self.refuse(Limit::AddressMessages);
        TooManyMessages { limit: "messages_per_minute_per_ip", max, wait_ms }
    }

    /// Takes one new guest from an address's limit, if the address is known.
    ///
    /// # Errors
    /// The address has reached its limit.
    pub(crate) fn guest(&self, remote: Option<IpAddr>) -> Result<(), Fault> {
        let Some((remote, max)) = remote.zip(self.of_addresses.guests_per_minute) else { return Ok(()) };
        self.guests.spend(network(remote), 1, Rate::per_minute(max), Instant::now()).map_err(|wait_ms| {
            self.refuse(Limit::Guests);
            too_soon("too many new guests per minute from this address", wait_ms)
                .with("limit", "guests_per_minute_per_ip")
                .with("max", max)
        })
    }

    /// Takes `cost` units from a person's limit.
    ///
    /// # Errors
    /// The person has reached their limit.
    pub(crate) fn request(&self, community: &CommunityId, person: &PersonId, cost: u32) -> Result<(), Fault> {
        let key = (community.clone(), person.clone());
        self.requests.spend(key, cost, UNITS, Instant::now()).map_err(|wait_ms| {
            self.refuse(Limit::Requests);
            too_soon("too many requests per minute", wait_ms)
        })
    }

    /// Checks whether an address may present another token. An unknown address is not limited.
    ///
    /// # Errors
    /// It has presented too many invalid ones.
    pub(crate) fn admit_token(&self, remote: Option<IpAddr>) -> Result<(), Fault> {
        let wait = remote.and_then(|remote| self.tokens.wait(network(remote), TOKENS, Instant::now()));
        wait.map_or(Ok(()), |wait_ms| {
            self.refuse(Limit::Tokens);
            Err(too_soon("too many invalid tokens from this address", wait_ms))
        })
    }

    /// Counts an invalid token from an address.
    pub(crate) fn count_token(&self, remote: Option<IpAddr>) {
        if let Some(remote) = remote {
            // Concurrent ones may exceed the limit; the next one waits.
            let _ = self.tokens.spend(network(remote), 1, TOKENS, Instant::now());
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
    /// Takes a message from the limits of a person and of the community; if a limit is reached, returns which one, and
    /// how long to wait. The community's share is given back if nothing is sent with it.
    ///
    /// # Errors
    /// There is no such community, or the store is unavailable.
    pub async fn spend_message(
        &self,
        community: &CommunityId,
        by: &By,
    ) -> Result<Result<MessagePermit, TooManyMessages>, Failure> {
        let limits = self.directory(community).await?.community.settings.limits;
        let person = match by {
            By::Person(person) => Some(person),
            By::Service => None,
        };
        Ok(self.spend_of(community, Sender { person, remote: None }, &limits))
    }

    /// Like [`Self::spend_message`], for a person over channels and their address, if the community's limits are
    /// cached. Otherwise nothing is taken, and [`spend_message_from`](Self::spend_message_from) has to be awaited.
    pub(crate) fn spend_message_now(
        &self,
        community: &CommunityId,
        person: &PersonId,
        remote: Option<IpAddr>,
    ) -> Result<Option<MessagePermit>, TooManyMessages> {
        let Some(known) = self.inner.cache.known_community(community) else { return Ok(None) };
        let limits = known.community.settings.limits;
        self.spend_of(community, Sender { person: Some(person), remote }, &limits).map(Some)
    }

    /// Like [`Self::spend_message_now`], after reading the community's limits.
    pub(crate) async fn spend_message_from(
        &self,
        community: &CommunityId,
        person: &PersonId,
        remote: Option<IpAddr>,
    ) -> Result<MessagePermit, Fault> {
        let limits = self.directory(community).await?.community.settings.limits;
        Ok(self.spend_of(community, Sender { person: Some(person), remote }, &limits)?)
    }

    fn spend_of(
        &self,
        community: &CommunityId,
        sender: Sender<'_>,
        limits: &CommunityLimits,
    ) -> Result<MessagePermit, TooManyMessages> {
        let now = Instant::now();
        let max = self.inner.limited.message(community, sender, limits, now)?;
        Ok(MessagePermit::new(self, community, max, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{id, somebody};

    #[test]
    fn a_community_says_as_much_as_it_may_whoever_says_it_and_others_do_not_notice() {
        let (limited, now) = (Limited::new(AddressLimits::default()), Instant::now());
        let limits = CommunityLimits { community_messages_per_minute: Some(3), ..CommunityLimits::default() };
        let say = |community, person: Option<&str>| {
            let person = person.map(somebody);
            let sender = Sender { person: person.as_ref(), remote: None };
            let said = limited.message(&id(community), sender, &limits, now);
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
        let (limited, now) = (Limited::new(AddressLimits::default()), Instant::now());
        let say = |person, own, all| {
            let limits = CommunityLimits {
                messages_per_minute: own,
                community_messages_per_minute: all,
                ..CommunityLimits::default()
            };
            let person = somebody(person);
            let sender = Sender { person: Some(&person), remote: None };
            let said = limited.message(&id("one"), sender, &limits, now);
            said.map(drop).map_err(|refused| refused.limit)
        };
        assert_eq!(say("ann", 1, Some(2)), Ok(()));
        assert_eq!(say("ann", 1, Some(2)), Err("messages_per_minute"));
        assert_eq!(say("bob", 1, Some(2)), Ok(()));
        assert_eq!(say("cat", 1, Some(2)), Err("community_messages_per_minute"));
        assert_eq!(say("cat", 1, None), Ok(()), "Cat has hers still");
    }

    #[test]
    fn the_people_of_an_address_say_as_much_as_it_may_and_lose_none_of_their_own_when_it_waits() {
        let of_addresses = AddressLimits { messages_per_minute: Some(2), guests_per_minute: None };
        let (limited, now) = (Limited::new(of_addresses), Instant::now());
        let say = |person, remote: Option<&str>| {
            let limits = CommunityLimits { messages_per_minute: 1, ..CommunityLimits::default() };
            let (person, remote) = (somebody(person), remote.map(|text| text.parse().expect("an address")));
            let said = limited.message(&id("one"), Sender { person: Some(&person), remote }, &limits, now);
            said.map(drop).map_err(|refused| refused.limit)
        };
        let (here, there) = (Some("2001:db8::1"), Some("2001:db8:0:1::1"));
        assert_eq!([say("ann", here), say("bob", Some("2001:db8::2"))], [Ok(()); 2]);
        assert_eq!(say("cat", here), Err("messages_per_minute_per_ip"));
        assert_eq!(say("cat", there), Ok(()), "she has hers still");
        assert_eq!(say("dan", None), Ok(()), "nobody knows from where");
        let counts: Vec<_> = limited.counts().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counts, [("address_messages", 1)]);
    }

    #[test]
    fn so_many_new_guests_come_from_an_address() {
        let of_addresses = AddressLimits { messages_per_minute: None, guests_per_minute: Some(1) };
        let limited = Limited::new(of_addresses);
        let from = |text: &str| Some(text.parse().expect("an address"));
        assert!(limited.guest(from("192.0.2.1")).is_ok() && limited.guest(from("192.0.2.2")).is_ok());
        let refused = limited.guest(from("::ffff:192.0.2.1")).expect_err("it is the second");
        assert_eq!(
            (refused.code, &refused.details["limit"]),
            ("rate_limited", &"guests_per_minute_per_ip".into())
        );
        assert!(refused.details["retry_after_ms"].as_u64().is_some_and(|wait_ms| wait_ms > 0));
        assert!(limited.guest(None).is_ok());
    }

    #[test]
    fn an_address_that_shows_too_many_tokens_that_are_none_waits_and_others_do_not() {
        let limited = Limited::new(AddressLimits::default());
        let from = |text: &str| Some(text.parse().expect("an address"));
        let mut shown = 0;
        // The share that refills meanwhile comes on top.
        let refused = loop {
            match limited.admit_token(from("192.0.2.1")) {
                Ok(()) => limited.count_token(from("192.0.2.1")),
                Err(fault) => break fault,
            }
            shown += 1;
            assert!(shown < 1_000_000, "there is an end");
        };
        assert!(shown >= TOKENS.burst, "{shown}");
        assert_eq!(refused.code, "rate_limited");
        assert!(refused.details["retry_after_ms"].as_u64().is_some_and(|wait_ms| wait_ms > 0));
        assert!(limited.admit_token(from("192.0.2.2")).is_ok() && limited.admit_token(None).is_ok());
    }
}
