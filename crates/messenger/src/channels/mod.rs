//! The channels `room:COMMUNITY/ROOM` and `person:COMMUNITY/PERSON`, and the connections that they are joined on.
//!
//! A channel owns one join: what it waits for, and what only that client may know. What can be asked through it is one
//! table for both ([`EVENTS`]); rules are asked of the store, which decides again with each event.

mod connection;
mod payload;
mod person;
mod request;
mod room;
mod throttle;
mod turns;
mod voice;
mod waiting;
mod within;

pub use request::{EVENTS, EventRow, Surface};

use crate::messenger::Messenger;
use crate::topics::{PERSON, ROOM};
use connection::Connection;
use gateway::{Channel, ConnectRequest, Mount, Refusal, Socket};
use identity::{TOKEN_BYTES_MAX, Token};
use std::any::Any;
use std::sync::Arc;

/// The connect parameter that names the community.
const COMMUNITY_PARAMETER: &str = "community";
/// The connect parameter with a person's token, where the client has no other way to give it.
const TOKEN_PARAMETER: &str = "token";
/// The connect parameter by which a guest who comes for the first time says how they want to be called.
const NAME_PARAMETER: &str = "name";
const NAME_BYTES_MAX: usize = 256;

impl Messenger {
    /// Serves the messenger's topics on a mount, beside those that are there. The mount's connect callback must hand on
    /// what [`Messenger::socket`] makes.
    #[must_use]
    pub fn channels(&self, mount: Mount) -> Mount {
        mount
            .channel(&format!("{ROOM}*"), room::RoomChannel::default)
            .channel(&format!("{PERSON}*"), person::PersonChannel::default)
    }

    /// The socket of a client that names a community; none for one that does not, which is no business of the
    /// messenger's. Who they are is found out with the first join, where the answer can say what is wrong: a refused
    /// handshake tells a browser nothing.
    ///
    /// # Errors
    /// A parameter that cannot be one.
    pub fn socket(&self, request: &ConnectRequest<'_>) -> Result<Option<Socket>, Refusal> {
        let Some(community) = request.param(COMMUNITY_PARAMETER) else { return Ok(None) };
        let refuse = |why: &str| Refusal::with(400, why);
        let community =
            chat::CommunityId::parse(community).map_err(|_| refuse("the community is not an id"))?;
        let token = request.auth_token().or(request.param(TOKEN_PARAMETER)).filter(|token| !token.is_empty());
        if token.is_some_and(|token| token.len() > TOKEN_BYTES_MAX) {
            return Err(refuse("the token is too long"));
        }
        let name = request.param(NAME_PARAMETER).filter(|name| !name.is_empty());
        if name.is_some_and(|name| name.len() > NAME_BYTES_MAX) {
            return Err(refuse("the name is too long"));
        }
        let credentials =
            crate::Credentials { community, token: token.map(Token::new), name: name.map(str::to_owned) };
        let origin = request.header("origin").map(str::to_owned);
        let remote = request.remote().map(|remote| remote.ip());
        let connection = Connection::new(self.clone(), credentials, origin).coming_from(remote);
        Ok(Some(Socket::new().id(&connection.socket_id()).assign(connection)))
    }

    /// A connection without a gateway around it, as the simulation makes them, of a new guest or of whom the token names:
    /// its socket's id, and what its channels find as the socket's assigns.
    pub fn connect(
        &self,
        community: chat::CommunityId,
        token: Option<&str>,
    ) -> (String, Arc<dyn Any + Send + Sync>) {
        let token = token.map(|token| Token::new(token.to_owned()));
        let credentials = crate::Credentials { community, token, name: None };
        let connection = Connection::new(self.clone(), credentials, None);
        (connection.socket_id(), Arc::new(connection))
    }

    /// A channel for a room's topic, for a hub without a gateway around it.
    pub fn room_channel() -> impl Channel {
        room::RoomChannel::default()
    }
}
