//! A connection to the messenger, and who it is, from the first join on.

use crate::entrance::{Admitted, AllowedRooms, Credentials, Rejection, SocketId};
use crate::fault::{ErrorCode, Fault};
use crate::joins_at_once::{JoinTurn, WaitedTooLong};
use crate::known::Known;
use crate::messenger::Messenger;
use chat::{By, CommunityId, Conversation, PersonId};
use gateway::Context;
use identity::{Code, Refusal, Token};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::OnceCell;

/// See the module.
pub(super) struct Connection {
    pub(super) messenger: Messenger,
    pub(super) socket: SocketId,
    /// Who it is, once authenticated.
    me: OnceLock<Me>,
    /// What it authenticates with, until then.
    coming: Mutex<Option<Arc<Coming>>>,
}

/// A connection that has not been authenticated yet. Shared by the joins that wait for the result.
struct Coming {
    credentials: Credentials,
    /// The origin of its page.
    origin: Option<String>,
    /// Its remote address.
    remote: Remote,
    is_in: OnceCell<()>,
}

/// Who a connection is.
#[derive(Clone)]
pub(super) struct Me {
    pub(super) community: CommunityId,
    pub(super) person: Known,
    /// `None` for a person of the host site whose token is valid for all rooms, as most are.
    special: Option<Arc<Special>>,
    /// Their remote address.
    remote: Remote,
}

/// What makes a token different from most.
struct Special {
    /// The rooms that it is valid for.
    rooms: AllowedRooms,
    /// For a guest: the token to come back with.
    token: Option<Token>,
}

impl Special {
    fn of(rooms: AllowedRooms, token: Option<Token>) -> Option<Arc<Self>> {
        (token.is_some() || !rooms.are_all()).then(|| Arc::new(Self { rooms, token }))
    }
}

/// A remote address in sixteen bytes: IPv4 addresses are mapped to IPv6, and an unknown address is the unspecified one.
#[derive(Clone, Copy)]
struct Remote(Ipv6Addr);

impl From<Option<IpAddr>> for Remote {
    fn from(address: Option<IpAddr>) -> Self {
        Self(match address {
            Some(IpAddr::V4(address)) => address.to_ipv6_mapped(),
            Some(IpAddr::V6(address)) => address,
            None => Ipv6Addr::UNSPECIFIED,
        })
    }
}

impl Remote {
    fn address(self) -> Option<IpAddr> {
        Some(self.0.to_canonical()).filter(|address| !address.is_unspecified())
    }
}

impl Me {
    pub(super) fn id(&self) -> &PersonId {
        self.person.id()
    }

    pub(super) fn by(&self) -> By {
        By::Person(self.id().clone())
    }

    /// Returns their remote address.
    pub(super) fn remote(&self) -> Option<IpAddr> {
        self.remote.address()
    }

    /// Returns the rooms that their token is valid for.
    pub(super) fn rooms(&self) -> &AllowedRooms {
        static ALL: AllowedRooms = AllowedRooms::ALL;
        self.special.as_deref().map_or(&ALL, |special| &special.rooms)
    }

    /// Returns whether their token is valid for a conversation. Whether they may use it is up to the rules.
    pub(super) fn may_use(&self, conversation: &Conversation) -> bool {
        self.rooms().allow(conversation)
    }

    /// A person, without admission.
    #[cfg(test)]
    pub(super) fn somebody(community: &CommunityId, person: chat::Person, rooms: AllowedRooms) -> Arc<Self> {
        Arc::new(Self {
            community: community.clone(),
            person: Known::of(person),
            special: Special::of(rooms, None),
            remote: None.into(),
        })
    }

    /// Returns it as the reply to a join has it.
    pub(super) fn json(&self) -> Value {
        let mut me = json!({ "id": self.id(), "profile": self.person.profile() });
        if let Some(token) = self.special.as_deref().and_then(|special| special.token.as_ref()) {
            me["token"] = token.expose().into();
        }
        me
    }
}

impl Connection {
    pub(super) fn new(
        messenger: Messenger,
        credentials: Credentials,
        origin: Option<String>,
        remote: Option<IpAddr>,
    ) -> Self {
        let socket = messenger.inner.entrance.socket();
        // Share the cached community's id, if there is one, among all its connections and what is kept of their people.
        let known = messenger.inner.cache.known_community(&credentials.community);
        let community =
            known.map_or_else(|| credentials.community.clone(), |known| known.community.id.clone());
        let credentials = Credentials { community, ..credentials };
        let coming = Coming { credentials, origin, remote: remote.into(), is_in: OnceCell::new() };
        let coming = Mutex::new(Some(Arc::new(coming)));
        Self { messenger, socket, me: OnceLock::new(), coming }
    }

    /// Returns the connection that a join belongs to.
    pub(super) fn of(cx: &Context<'_>) -> Option<Arc<Self>> {
        cx.shared_assigns()
    }

    /// Returns its community.
    pub(super) fn community(&self) -> CommunityId {
        let coming = self.coming().as_ref().map(|coming| coming.credentials.community.clone());
        coming.unwrap_or_else(|| self.here().community.clone())
    }

    pub(super) fn socket_id(&self) -> String {
        self.socket.text()
    }

    /// Waits until one more join of its community may be under way. A join that waits does not keep its connection:
    /// whoever disconnects meanwhile is not admitted in vain.
    ///
    /// # Errors
    /// It took too long, or the client has disconnected.
    pub(super) async fn in_turn(self: Arc<Self>) -> Result<(Arc<Self>, JoinTurn), Fault> {
        let turn = self.messenger.inner.joins.clone().turn(self.community());
        let waiting = Arc::downgrade(&self);
        drop(self);
        let too_long =
            |WaitedTooLong| Fault::busy("too many people of this community are joining: try again later");
        let turn = turn.await.map_err(too_long)?;
        let gone = || Fault::new(ErrorCode::Internal, "the client disconnected before it could join");
        Ok((waiting.upgrade().ok_or_else(gone)?, turn))
    }

    /// Returns who it is. The first join authenticates; concurrent ones wait for the same result. After a failure the
    /// next one tries again.
    pub(super) async fn me(&self) -> Result<&Me, Fault> {
        let coming = self.coming().clone();
        if let Some(coming) = coming {
            // Boxed: every request begins with this, and only the first join has to come in.
            coming.is_in.get_or_try_init(|| Box::pin(self.come_in(&coming))).await?;
            *self.coming() = None;
        }
        Ok(self.here())
    }

    /// Returns who it is, for what has joined on it.
    ///
    /// # Panics
    /// If it is not authenticated.
    pub(super) fn here(&self) -> &Me {
        self.me.get().expect("it is authenticated")
    }

    fn coming(&self) -> MutexGuard<'_, Option<Arc<Coming>>> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn come_in(&self, coming: &Coming) -> Result<(), Fault> {
        let Coming { credentials, origin, remote, .. } = coming;
        let address = remote.address();
        self.messenger.inner.limited.admit_token(address)?;
        self.check_origin(&credentials.community, origin.as_deref()).await?;
        if credentials.token.is_none() {
            self.messenger.inner.limited.guest(address)?;
        }
        let admitted = self.admit(credentials, address).await?;
        // Nothing is awaited after this, so that the session is recorded, and closed when the connection ends.
        self.open_session(&credentials.community, &admitted).await?;
        let Admitted { person, rooms, token, .. } = admitted;
        let (community, special) = (credentials.community.clone(), Special::of(rooms, token));
        let _ = self.me.set(Me { community, person, special, remote: *remote });
        Ok(())
    }

    /// Admits whoever presents valid credentials; an invalid token counts against the address.
    async fn admit(&self, credentials: &Credentials, remote: Option<IpAddr>) -> Result<Admitted, Fault> {
        self.messenger.admit(credentials).await.map_err(|rejection| {
            // A token that expired, or that cannot be verified now, is no guess.
            if matches!(&rejection, Rejection::Token(refusal) if refusal.code() == Code::TokenInvalid) {
                self.messenger.inner.limited.count_token(remote);
            }
            Fault::from(rejection)
        })
    }

    /// Opens the connection's session with a verified token, or renews it with a newer one.
    async fn open_session(&self, community: &CommunityId, admitted: &Admitted) -> Result<(), Fault> {
        let directory = self.messenger.directory(community).await?;
        let people_max = directory.community.settings.limits.people_online;
        let entrance = &self.messenger.inner.entrance;
        let (person, verified) = (admitted.person.id(), &admitted.verified);
        entrance.open_session(self.socket, community, person, verified, people_max).map_err(Fault::from)
    }

    /// A page of another site must not use the community; clients other than browsers send no origin.
    async fn check_origin(&self, community: &CommunityId, origin: Option<&str>) -> Result<(), Fault> {
        let directory = self.messenger.directory(community).await?;
        // If the community has no list, the server has admitted the page by its own rule.
        if origin.is_none_or(|origin| directory.lets_in(origin).unwrap_or(true)) {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::OriginRefused,
            "this community does not accept connections from pages of this \
             origin: add the origin to its list",
        ))
    }

    /// Accepts a newer token of the same person, for the same rooms, because the rooms joined so far were decided by
    /// them. A guest's token is renewed.
    pub(super) async fn refresh(&self, token: Token) -> Result<Value, Fault> {
        let me = self.me().await?;
        self.messenger.inner.limited.admit_token(me.remote())?;
        let credentials = Credentials { community: me.community.clone(), token: Some(token), name: None };
        let admitted = self.admit(&credentials, me.remote()).await?;
        fits(me, &admitted).map_err(|refusal| {
            tracing::info!(community = %me.community, %refusal, "a renewed token of a connection was refused");
            Fault::from(Rejection::Token(refusal))
        })?;
        self.open_session(&me.community, &admitted).await?;
        let mut answer = json!({ "expires_s": admitted.verified.ends.0 });
        if let Some(token) = &admitted.token {
            answer["token"] = token.expose().into();
        }
        Ok(answer)
    }
}

/// Checks that a connection can go on with a newer token.
fn fits(me: &Me, newer: &Admitted) -> Result<(), Refusal> {
    if newer.person.id() != me.id() {
        Err(Refusal::AnotherPerson)
    } else if newer.rooms != *me.rooms() {
        Err(Refusal::OtherRooms)
    } else {
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(me) = self.me.get() {
            self.messenger.inner.entrance.ended(self.socket, &me.community, me.id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, claims, id, run, token};

    #[test]
    fn a_connection_stays_within_its_bytes() {
        // With the two counts of the `Arc` that it is in, within one of the allocator's sizes, 128 bytes.
        assert!(size_of::<Connection>() <= 112, "{} bytes", size_of::<Connection>());
    }

    #[test]
    fn a_newer_token_is_of_the_same_person_and_for_the_same_rooms() {
        run(async {
            let (messenger, _) = scene::messenger();
            scene::community(&messenger, "one").await;
            scene::trust_site(&messenger, "one").await;
            let of = |person: &str, rooms: Option<&[&str]>| {
                let mut claims = claims("one", person);
                if let Some(rooms) = rooms {
                    claims["rooms"] = json!(rooms);
                }
                token(&claims)
            };
            for (first, newer, comes) in [
                (None, of("ann", None), "in"),
                (None, of("bob", None), "token_invalid"),
                (None, of("ann", Some(&["lobby"])), "token_invalid"),
                (Some(["lobby", "den"]), of("ann", Some(&["den", "lobby"])), "in"),
                (Some(["lobby", "den"]), of("ann", Some(&["lobby"])), "token_invalid"),
                (Some(["lobby", "den"]), of("ann", Some(&[])), "token_invalid"),
                (Some(["lobby", "den"]), of("ann", None), "token_invalid"),
            ] {
                let shown = of("ann", first.as_ref().map(|rooms| rooms.as_slice()));
                let credentials = Credentials { community: id("one"), token: Some(shown), name: None };
                let connection = Connection::new(messenger.clone(), credentials, None, None);
                connection.me().await.expect("Ann is in");
                let found = connection.refresh(newer).await.map_or_else(|fault| fault.code, |_| "in");
                assert_eq!(found, comes, "a newer token of one for {first:?}");
            }
        });
    }

    #[test]
    fn an_address_that_guesses_tokens_waits_whatever_it_shows_then() {
        run(async {
            let (messenger, _) = scene::messenger();
            scene::community(&messenger, "one").await;
            scene::trust_site(&messenger, "one").await;
            let come = async |shown: Token, from: &str| {
                let credentials = Credentials { community: id("one"), token: Some(shown), name: None };
                let connection = Connection::new(messenger.clone(), credentials, None, from.parse().ok());
                let came = connection.me().await.map(drop);
                came.map_err(|fault| fault.code)
            };
            let (good, guess) = (|| token(&claims("one", "ann")), || Token::new("e30.e30.x"));
            let mut waits = false;
            // One more is admitted every tenth of a second.
            for _ in 0..100_000 {
                waits = come(guess(), "192.0.2.1").await == Err("rate_limited")
                    && come(good(), "192.0.2.1").await == Err("rate_limited");
                if waits {
                    break;
                }
            }
            assert!(waits, "guessing has no end");
            assert_eq!(come(good(), "192.0.2.2").await, Ok(()));
        });
    }

    #[test]
    fn who_is_in_guesses_no_newer_tokens_past_their_addresss_share() {
        run(async {
            let (messenger, _) = scene::messenger();
            scene::community(&messenger, "one").await;
            scene::trust_site(&messenger, "one").await;
            let ann = || token(&claims("one", "ann"));
            let come = async |from: &str| {
                let credentials = Credentials { community: id("one"), token: Some(ann()), name: None };
                let connection = Connection::new(messenger.clone(), credentials, None, from.parse().ok());
                connection.me().await.map_err(|fault| fault.code)?;
                Ok(connection)
            };
            let (Ok(one), Ok(other)) = (come("192.0.2.1").await, come("192.0.2.2").await) else {
                panic!("Ann may come in");
            };
            let refresh = async |connection: &Connection, newer: Token| {
                connection.refresh(newer).await.map(drop).map_err(|fault| fault.code)
            };
            let mut waits = false;
            // One more is admitted every tenth of a second.
            for _ in 0..100_000 {
                waits = refresh(&one, Token::new("e30.e30.x")).await == Err("rate_limited")
                    && refresh(&one, ann()).await == Err("rate_limited");
                if waits {
                    break;
                }
            }
            assert!(waits, "guessing has no end");
            assert!(matches!(come("192.0.2.1").await, Err("rate_limited")), "it is the address's share");
            assert_eq!(refresh(&other, ann()).await, Ok(()));
        });
    }
}
