//! A connection to the messenger, and who it is, from the first join on.

use crate::entrance::{Admitted, AllowedRooms, Credentials, Rejection, SocketId};
use crate::fault::{ErrorCode, Fault};
use crate::messenger::Messenger;
use chat::{By, CommunityId, Conversation, Person, PersonId};
use gateway::Context;
use identity::{Code, Refusal, Token};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

/// See the module.
pub(super) struct Connection {
    pub(super) messenger: Messenger,
    pub(super) community: CommunityId,
    pub(super) socket: SocketId,
    who: Mutex<Who>,
}

/// Who a connection is, as far as known.
enum Who {
    /// Shared by the joins that wait for the result; replaced when there is one.
    Coming(Arc<Coming>),
    Here(Arc<Me>),
}

/// A connection that has not been authenticated yet.
struct Coming {
    credentials: Credentials,
    /// The origin of its page.
    origin: Option<String>,
    /// Its remote address.
    remote: Option<IpAddr>,
    me: OnceCell<Arc<Me>>,
}

/// Who a connection is.
pub(super) struct Me {
    pub(super) community: CommunityId,
    pub(super) person: Arc<Person>,
    /// The rooms that their token is valid for.
    pub(super) rooms: AllowedRooms,
    /// For a guest: the token to come back with.
    token: Option<Box<Token>>,
    /// Their remote address.
    pub(super) remote: Option<IpAddr>,
}

impl Me {
    pub(super) fn id(&self) -> &PersonId {
        &self.person.id
    }

    pub(super) fn by(&self) -> By {
        By::Person(self.person.id.clone())
    }

    /// Returns whether their token is valid for a conversation. Whether they may use it is up to the rules.
    pub(super) fn may_use(&self, conversation: &Conversation) -> bool {
        self.rooms.allow(conversation)
    }

    /// A person, without admission.
    #[cfg(test)]
    pub(super) fn somebody(community: &CommunityId, person: Person, rooms: AllowedRooms) -> Arc<Self> {
        let person = Arc::new(person);
        Arc::new(Self { community: community.clone(), person, rooms, token: None, remote: None })
    }

    /// Returns it as the reply to a join has it.
    pub(super) fn json(&self) -> Value {
        let mut me = json!({ "id": self.person.id, "profile": self.person.profile });
        if let Some(token) = &self.token {
            me["token"] = token.expose().into();
        }
        me
    }
}

impl Connection {
    pub(super) fn new(messenger: Messenger, credentials: Credentials, origin: Option<String>) -> Self {
        let socket = messenger.inner.entrance.socket();
        // Share the cached community's id, if there is one, among all its connections and what is kept of their people.
        let known = messenger.inner.cache.known_community(&credentials.community);
        let community =
            known.map_or_else(|| credentials.community.clone(), |known| known.community.id.clone());
        let credentials = Credentials { community: community.clone(), ..credentials };
        let coming = Coming { credentials, origin, remote: None, me: OnceCell::new() };
        Self { messenger, community, socket, who: Mutex::new(Who::Coming(Arc::new(coming))) }
    }

    /// Returns the connection that a join belongs to.
    pub(super) fn of(cx: &Context<'_>) -> Option<Arc<Self>> {
        cx.shared_assigns()
    }

    /// Sets the remote address.
    pub(super) fn coming_from(mut self, remote: Option<IpAddr>) -> Self {
        if let Who::Coming(coming) = self.who.get_mut().unwrap_or_else(PoisonError::into_inner)
            && let Some(coming) = Arc::get_mut(coming)
        {
            coming.remote = remote;
        }
        self
    }

    pub(super) fn socket_id(&self) -> String {
        self.socket.text()
    }

    /// Returns who it is. The first join authenticates; concurrent ones wait for the same result. After a failure the
    /// next one tries again.
    pub(super) async fn me(&self) -> Result<Arc<Me>, Fault> {
        let coming = match &*self.who() {
            Who::Here(me) => return Ok(me.clone()),
            Who::Coming(coming) => coming.clone(),
        };
        let me = coming.me.get_or_try_init(|| self.come_in(&coming)).await?.clone();
        *self.who() = Who::Here(me.clone());
        Ok(me)
    }

    fn who(&self) -> MutexGuard<'_, Who> {
        self.who.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn come_in(&self, coming: &Coming) -> Result<Arc<Me>, Fault> {
        let Coming { credentials, origin, remote, .. } = coming;
        self.messenger.inner.limited.admit_token(*remote)?;
        self.check_origin(origin.as_deref()).await?;
        if credentials.token.is_none() {
            self.messenger.inner.limited.guest(*remote)?;
        }
        let admitted = self.admit(credentials, *remote).await?;
        // Nothing is awaited after this, so that the session is recorded, and closed when the connection ends.
        self.stand(&admitted).await?;
        Ok(Arc::new(Me {
            community: self.community.clone(),
            person: admitted.person,
            rooms: admitted.rooms,
            token: admitted.token.map(Box::new),
            remote: *remote,
        }))
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
    async fn stand(&self, admitted: &Admitted) -> Result<(), Fault> {
        let directory = self.messenger.directory(&self.community).await?;
        let people_max = directory.community.settings.limits.people_online;
        let entrance = &self.messenger.inner.entrance;
        let (person, verified) = (&admitted.person.id, &admitted.verified);
        entrance.stand(self.socket, &self.community, person, verified, people_max).map_err(Fault::from)
    }

    /// A page of another site must not use the community; clients other than browsers send no origin.
    async fn check_origin(&self, origin: Option<&str>) -> Result<(), Fault> {
        let directory = self.messenger.directory(&self.community).await?;
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
        self.messenger.inner.limited.admit_token(me.remote)?;
        let credentials = Credentials { community: self.community.clone(), token: Some(token), name: None };
        let admitted = self.admit(&credentials, me.remote).await?;
        fits(&me, &admitted).map_err(|refusal| {
            tracing::info!(community = %self.community, %refusal, "a renewed token of a connection was refused");
            Fault::from(Rejection::Token(refusal))
        })?;
        self.stand(&admitted).await?;
        let mut answer = json!({ "expires_s": admitted.verified.ends.0 });
        if let Some(token) = &admitted.token {
            answer["token"] = token.expose().into();
        }
        Ok(answer)
    }
}

/// Checks that a connection can go on with a newer token.
fn fits(me: &Me, newer: &Admitted) -> Result<(), Refusal> {
    if newer.person.id != *me.id() {
        Err(Refusal::AnotherPerson)
    } else if newer.rooms != me.rooms {
        Err(Refusal::OtherRooms)
    } else {
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let me = match self.who.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Who::Here(me) => Some(&*me),
            Who::Coming(coming) => coming.me.get(),
        };
        if let Some(me) = me {
            self.messenger.inner.entrance.ended(self.socket, &me.community, me.id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, claims, id, run, token};

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
                let connection = Connection::new(messenger.clone(), credentials, None);
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
                let connection = Connection::new(messenger.clone(), credentials, None);
                let came = connection.coming_from(from.parse().ok()).me().await.map(drop);
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
                let connection = Connection::new(messenger.clone(), credentials, None);
                let connection = connection.coming_from(from.parse().ok());
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
