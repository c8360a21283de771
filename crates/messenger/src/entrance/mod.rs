//! Admission: who a token says a person is, whether the community admits them, and when their connections end.
//!
//! It owns the verification of tokens by a community's keys, the guests' tokens, and the live connections by person.
//! Whether a person is banned is a rule of `chat`, checked when they come in ([`Meet`](chat::verbs::Meet)).

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
    CLOSE_TOKEN_REVOKED, Ended, GuestSecret, GuestSigner, Outbound, Refusal, Revocation, RevocationsFull,
    Rules, UnixSeconds, Verified,
};
use live::Live;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a guest can stay away and still be the same guest; each connection starts it anew.
const GUEST_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Expired connections that are closed per second, so that those with one expiry do not all come back at once.
const EXPIRED_PER_SECOND_MAX: usize = 1_000;

/// See the module.
pub(crate) struct Entrance {
    rules: Rules,
    guests: GuestSigner,
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
            guests: GuestSigner::new(GuestSecret::new(secret.expose()), Vec::new(), GUEST_LIFETIME),
            published: keys::Published::default(),
            sites: site::Sites::default(),
            outbound,
            live: Mutex::new(Live::new(rules)),
        }
    }

    /// Allocates a number for a new connection, and with it the socket's id.
    pub(crate) fn socket(&self) -> SocketId {
        self.live().socket()
    }

    /// Opens a connection's session with a verified token, or renews it with a newer token of the same person. The
    /// person takes one of the community's places, unless they have one already; they keep it until their last
    /// connection has ended.
    ///
    /// # Errors
    /// [`Rejection::Full`]; [`Rejection::Token`] as documented for [`identity::Sessions::open`] and
    /// [`identity::Sessions::refresh`].
    pub(crate) fn open_session(
        &self,
        socket: SocketId,
        community: &CommunityId,
        person: &PersonId,
        verified: &Verified,
        people_max: Option<u32>,
    ) -> Result<(), Rejection> {
        self.live().open_session(socket, community, person, verified, people_max, seconds())
    }

    /// Checks that there is a place for a person, without taking it.
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

    /// Records that a person's first device on another node appeared, which takes a place in the community, or that
    /// their last one disappeared.
    pub(crate) fn elsewhere(&self, community: &CommunityId, person: &PersonId, has_device: bool) {
        self.live().elsewhere(community, person, has_device);
    }

    /// Records that a connection with a session has ended.
    pub(crate) fn ended(&self, socket: SocketId, community: &CommunityId, person: &PersonId) {
        self.live().ended(socket, community, person);
    }

    /// Returns the socket ids of a person's connections.
    pub(crate) fn sockets_of(&self, community: &CommunityId, person: &PersonId) -> Vec<String> {
        self.live().of(community, person).map(|socket| socket.text()).collect()
    }

    /// Returns the communities that have connections with a session.
    pub(crate) fn communities(&self) -> HashSet<CommunityId> {
        self.live().communities()
    }

    /// Takes connections whose token has expired or whose community is closed, with their close code; if there are
    /// many, only a part of them.
    pub(crate) fn expire(&self) -> Vec<(String, u16)> {
        let mut live = self.live();
        let mut ended = named(live.expire(seconds(), EXPIRED_PER_SECOND_MAX));
        let closed = live.closed(EXPIRED_PER_SECOND_MAX - ended.len());
        ended.extend(closed.map(|socket| (socket.text(), CLOSE_TOKEN_REVOKED)));
        ended
    }

    /// Marks the connections of everybody in a community to be closed.
    pub(crate) fn close_community(&self, community: &CommunityId) {
        self.live().close_community(community);
    }

    /// Returns when a revocation no longer has to be remembered.
    pub(crate) fn ends(&self, revocation: &Revocation) -> UnixSeconds {
        revocation.ends(self.rules, seconds())
    }

    /// Revokes tokens. Returns the connections to close, with their close code.
    pub(crate) fn revoke(&self, revocation: &Revocation) -> Result<Vec<(String, u16)>, RevocationsFull> {
        Ok(named(self.live().revoke(revocation, seconds())?))
    }

    /// Checks that a token that was verified before is still valid.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Expired`].
    pub(crate) fn judge(&self, verified: &Verified) -> Result<(), Refusal> {
        self.live().judge(verified, seconds())
    }

    /// Returns whether a person has a connection, on any node.
    pub(crate) fn is_connected(&self, community: &CommunityId, person: &PersonId) -> bool {
        self.live().is_connected(community, person)
    }

    /// Returns how many people of a community have a connection, on all nodes.
    pub(crate) fn people_in(&self, community: &CommunityId) -> u64 {
        self.live().people_in(community)
    }

    /// Returns how many connections have a session.
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

/// Returns the current time for tokens.
pub(crate) fn seconds() -> UnixSeconds {
    UnixSeconds(crate::clock::now().millis() / 1_000)
}
