//! How people come in: who a token says they are, whether the community takes them, and when their connections end.
//!
//! It owns what a community's keys make of a token, the guests' tokens, and the live connections by person. Whether
//! somebody is banned is a rule of `chat`'s, asked when they come in ([`Meet`](chat::verbs::Meet)).

mod admit;
mod allowed;
mod credentials;
mod directory;
mod keys;
mod live;
mod origins;
mod places;
mod revoking;
mod site;
#[cfg(test)]
mod tests;

pub use admit::{Admitted, Rejection};
pub use allowed::AllowedRooms;
pub use credentials::{Credentials, InstallationSecret};
pub use keys::{PublishedKeys, TokenKey};
pub use site::{AskedAction, AuthorizerKey, Unanswered};

pub(crate) use directory::Directory;
pub(crate) use live::SocketId;

use crate::audience::DeviceId;
use chat::{CommunityId, PersonId};
use identity::{
    CLOSE_TOKEN_REVOKED, Ended, GuestBook, GuestSecret, Outbound, Refusal, Revocation, RevocationsFull,
    Rules, UnixSeconds, Verified,
};
use live::Live;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a guest is the same guest without coming back; each connection begins it anew.
const GUEST_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// So many expired connections are closed in one second: those of one expiry do not all come back at once.
const EXPIRED_PER_SECOND_MAX: usize = 1_000;

/// See the module.
pub(crate) struct Entrance {
    rules: Rules,
    guests: GuestBook,
    published: keys::Published,
    sites: site::Sites,
    outbound: Option<Outbound>,
    live: Mutex<Live>,
}

impl Entrance {
    pub(crate) fn new(secret: InstallationSecret, outbound: Option<Outbound>) -> Self {
        let rules = Rules::default();
        Self {
            rules,
            guests: GuestBook::new(GuestSecret::new(secret.expose()), Vec::new(), GUEST_LIFETIME),
            published: keys::Published::default(),
            sites: site::Sites::default(),
            outbound,
            live: Mutex::new(Live::new(rules)),
        }
    }

    /// A number for one more connection, and its socket's id.
    pub(crate) fn socket(&self) -> SocketId {
        self.live().socket()
    }

    /// A connection stands on a verified token from now on, or on a newer one of the same person. Its person takes one of
    /// the community's places, unless they have one: it is theirs until their last connection has ended.
    ///
    /// # Errors
    /// [`Rejection::Full`]; [`Rejection::Token`] as [`identity::Sessions::open`] and [`identity::Sessions::refresh`] say.
    pub(crate) fn stand(
        &self,
        socket: SocketId,
        community: &CommunityId,
        person: &PersonId,
        verified: &Verified,
        people_max: Option<u32>,
    ) -> Result<(), Rejection> {
        self.live().stand(socket, community, person, verified, people_max, seconds())
    }

    /// Whether there is a place for somebody now, who does not take it yet.
    ///
    /// # Errors
    /// [`Rejection::Full`].
    pub(crate) fn require_place(
        &self,
        community: &CommunityId,
        person: &PersonId,
        people_max: Option<u32>,
    ) -> Result<(), Rejection> {
        self.live().require_place(community, person, people_max)
    }

    /// Somebody has a device on another node from now on, and with it a place in the community; or has none there any more.
    pub(crate) fn elsewhere(&self, community: &CommunityId, person: &PersonId, has_device: bool) {
        self.live().elsewhere(community, person, has_device);
    }

    /// A connection has ended that stood on a token of somebody's.
    pub(crate) fn ended(&self, socket: SocketId, community: &CommunityId, person: &PersonId) {
        self.live().ended(socket, community, person);
    }

    /// The connections of a person, by their sockets' ids.
    pub(crate) fn sockets_of(&self, community: &CommunityId, person: &PersonId) -> Vec<String> {
        self.live().of(community, person).map(|socket| socket.text()).collect()
    }

    /// Communities with connections that stand on a token.
    pub(crate) fn communities(&self) -> HashSet<CommunityId> {
        self.live().communities()
    }

    /// Connections whose tokens have expired or whose community is closed, with the code to close them with; a part of them,
    /// if they are many.
    pub(crate) fn expire(&self) -> Vec<(String, u16)> {
        let mut live = self.live();
        let mut ended = named(live.expire(seconds(), EXPIRED_PER_SECOND_MAX));
        let closed = live.closed(EXPIRED_PER_SECOND_MAX - ended.len());
        ended.extend(closed.map(|socket| (socket.text(), CLOSE_TOKEN_REVOKED)));
        ended
    }

    /// The connections of everybody in a community are to end.
    pub(crate) fn close_community(&self, community: &CommunityId) {
        self.live().close_community(community);
    }

    /// When nobody need remember a revocation any more.
    pub(crate) fn ends(&self, revocation: &Revocation) -> UnixSeconds {
        revocation.ends(self.rules, seconds())
    }

    /// Revokes tokens, and says which connections end.
    pub(crate) fn revoke(&self, revocation: &Revocation) -> Result<Vec<(String, u16)>, RevocationsFull> {
        Ok(named(self.live().revoke(revocation, seconds())?))
    }

    /// Whether a token counts now that was verified before.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub(crate) fn judge(&self, verified: &Verified) -> Result<(), Refusal> {
        self.live().judge(verified, seconds())
    }

    /// Whether somebody has a connection, on any node.
    pub(crate) fn is_connected(&self, community: &CommunityId, person: &PersonId) -> bool {
        self.live().is_connected(community, person)
    }

    /// How many people of a community have a connection, on all nodes.
    pub(crate) fn people_in(&self, community: &CommunityId) -> u64 {
        self.live().people_in(community)
    }

    /// How many connections stand on a token.
    pub(crate) fn sessions(&self) -> usize {
        self.live().len()
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(ended: Vec<Ended>) -> Vec<(String, u16)> {
    ended.into_iter().map(|ended| (SocketId(DeviceId(ended.session.0)).text(), ended.code)).collect()
}

/// The time, for tokens.
pub(crate) fn seconds() -> UnixSeconds {
    UnixSeconds(crate::clock::now().millis() / 1_000)
}
