//! A connection to the messenger: who it is, from the first join on.

use crate::entrance::{Credentials, SocketId};
use crate::fault::{ErrorCode, Fault};
use crate::messenger::Messenger;
use chat::{By, CommunityId, Person, PersonId, RoomName};
use identity::Token;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// See the module.
pub(super) struct Connection {
    pub(super) messenger: Messenger,
    pub(super) community: CommunityId,
    pub(super) socket: SocketId,
    /// Until it is known who it is.
    credentials: Mutex<Option<Box<(Credentials, Option<String>)>>>,
    me: OnceCell<Arc<Me>>,
}

/// Who a connection is.
pub(super) struct Me {
    pub(super) community: CommunityId,
    pub(super) person: Arc<Person>,
    /// The only rooms that they may be in.
    pub(super) rooms: Option<Vec<RoomName>>,
    /// For a guest: what to come back with.
    token: Option<Token>,
}

impl Me {
    pub(super) fn id(&self) -> &PersonId {
        &self.person.id
    }

    pub(super) fn by(&self) -> By {
        By::Person(self.person.id.clone())
    }

    pub(super) fn may_enter(&self, room: &RoomName) -> bool {
        self.rooms.as_ref().is_none_or(|rooms| rooms.contains(room))
    }

    /// Somebody, without their having come in.
    #[cfg(test)]
    pub(super) fn somebody(community: &CommunityId, person: Person) -> Arc<Self> {
        Arc::new(Self { community: community.clone(), person: Arc::new(person), rooms: None, token: None })
    }

    /// As each join tells it.
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
        let community = credentials.community.clone();
        let credentials = Mutex::new(Some(Box::new((credentials, origin))));
        Self { messenger, community, socket, credentials, me: OnceCell::new() }
    }

    pub(super) fn socket_id(&self) -> String {
        self.socket.text()
    }

    /// Who it is. The first join finds out, others that come meanwhile wait for the same answer; after a failure the next
    /// one tries again.
    pub(super) async fn me(&self) -> Result<Arc<Me>, Fault> {
        self.me.get_or_try_init(|| self.come_in()).await.cloned()
    }

    async fn come_in(&self) -> Result<Arc<Me>, Fault> {
        let shown = self.credentials.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (credentials, origin) =
            *shown.ok_or_else(|| Fault::new(ErrorCode::Internal, "the connection is over"))?;
        self.check_origin(origin.as_deref()).await?;
        let admitted = self.messenger.admit(&credentials).await.map_err(Fault::from)?;
        let entrance = &self.messenger.inner.entrance;
        let stood = entrance.stand(self.socket, &self.community, &admitted.person.id, &admitted.verified);
        stood.map_err(|refusal| Fault::from(crate::Rejection::Token(refusal)))?;
        *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(Arc::new(Me {
            community: self.community.clone(),
            person: admitted.person,
            rooms: admitted.rooms,
            token: admitted.token,
        }))
    }

    /// A page of another site must not use the community; what is no page of a browser sends no origin.
    async fn check_origin(&self, origin: Option<&str>) -> Result<(), Fault> {
        let directory = self.messenger.directory(&self.community).await?;
        let allowed = &directory.community.settings.origins;
        let fits = |origin: &str| allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
        if allowed.is_empty() || origin.is_none_or(fits) {
            return Ok(());
        }
        Err(Fault::new(ErrorCode::OriginRefused, "this community does not take connections from this page"))
    }

    /// A newer token of the same person; for a guest without one, theirs is renewed.
    pub(super) async fn refresh(&self, token: Token) -> Result<Value, Fault> {
        let me = self.me().await?;
        let credentials = Credentials { community: self.community.clone(), token: Some(token), name: None };
        let admitted = self.messenger.admit(&credentials).await.map_err(Fault::from)?;
        if admitted.person.id != *me.id() {
            return Err(crate::Rejection::Token(identity::Refusal::AnotherPerson).into());
        }
        let entrance = &self.messenger.inner.entrance;
        let stood = entrance.stand(self.socket, &self.community, me.id(), &admitted.verified);
        stood.map_err(|refusal| Fault::from(crate::Rejection::Token(refusal)))?;
        let mut answer = json!({ "expires_s": admitted.verified.ends.0 });
        if let Some(token) = &admitted.token {
            answer["token"] = token.expose().into();
        }
        Ok(answer)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.messenger.inner.entrance.ended(self.socket);
    }
}
