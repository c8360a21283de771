//! The channels `room:COMMUNITY/ROOM` and `person:COMMUNITY/PERSON`, and the connections on which they are joined.
//!
//! A channel owns one join: the requests it waits for, and what only that client may know. The requests that it accepts
//! are in one table for both ([`EVENTS`]); the rules are the store's, which applies them to every request.

mod connection;
mod payload;
mod person;
mod request;
mod room;
mod sending;
mod throttle;
mod turns;
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

/// The connect parameter with the community's id.
const COMMUNITY_PARAMETER: &str = "community";
/// The connect parameter with a person's token, for clients that have no other way to send it.
const TOKEN_PARAMETER: &str = "token";
/// The connect parameter with the name that a new guest asks for.
const NAME_PARAMETER: &str = "name";
const NAME_BYTES_MAX: usize = 256;

impl Messenger {
    /// Adds the messenger's topics to a mount, beside its other channels. The mount's connect callback must return the
    /// socket that [`Messenger::socket`] creates.
    #[must_use]
    pub fn channels(&self, mount: Mount) -> Mount {
        mount
            .channel(&format!("{ROOM}*"), room::RoomChannel::default)
            .channel(&format!("{PERSON}*"), person::PersonChannel::default)
    }

    /// Creates the socket of a client that names a community; `None` if it names none, and is not the messenger's. Who
    /// it is is determined at the first join, whose reply can carry an error: a browser does not see why a handshake
    /// was refused.
    ///
    /// # Errors
    /// A parameter is malformed.
    pub fn socket(&self, request: &ConnectRequest<'_>) -> Result<Option<Socket>, Refusal> {
        let Some(community) = request.param(COMMUNITY_PARAMETER) else { return Ok(None) };
        let refuse = |why: &str| Refusal::with(400, why);
        let community = chat::CommunityId::parse(community)
            .map_err(|_| refuse("the parameter `community` is not a valid id"))?;
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
        let connection = Connection::new(self.clone(), credentials, origin, remote);
        Ok(Some(Socket::new().id(&connection.socket_id()).assign(connection)))
    }

    /// Creates a connection without a gateway, as the simulation does, for a new guest or the person of the token.
    /// Returns its socket's id, and the socket's assigns for its channels.
    pub fn connect(
        &self,
        community: chat::CommunityId,
        token: Option<&str>,
    ) -> (String, Arc<dyn Any + Send + Sync>) {
        let token = token.map(|token| Token::new(token.to_owned()));
        let credentials = crate::Credentials { community, token, name: None };
        let connection = Connection::new(self.clone(), credentials, None, None);
        (connection.socket_id(), Arc::new(connection))
    }

    /// Creates a channel for a room's topic, for a hub without a gateway.
    pub fn room_channel() -> impl Channel {
        room::RoomChannel::default()
    }
}
