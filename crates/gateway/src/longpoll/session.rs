//! Requests to a session: direct ones to its own node, and those that another node forwards.

use super::answer::{answer, bad_request, going_on, status};
use super::body::{self, BodyError};
use super::received::{self, Unreceived};
use super::respond::{COME_BACK_LATER, Place};
use crate::control::Control;
use crate::metrics::LONGPOLL_BODIES;
use crate::relay::Reply;
use crate::shard::{Mail, PollAnswer, PostAnswer, SessionToken};
use bytes::Bytes;
use engine::ShardIndex;
use hub::NodeId;
use hyper::Response;
use hyper::body::Body;
use serde_json::{Value, json};
use std::error::Error;
use tokio::sync::SemaphorePermit;

/// A request's body, whichever reader provides it.
pub(crate) trait PostBody:
    Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin
{
}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin> PostBody for B {}

/// The node on which a session lives.
pub(super) enum Home {
    Here(SessionToken),
    There(NodeId),
}

pub(super) fn home(control: &Control, token: &str) -> Option<Home> {
    let token = SessionToken::parse(token)?;
    if !control.nodes.is_own(token.node) {
        return Some(Home::There(token.node));
    }
    (usize::from(token.shard.0) < control.mailboxes.len()).then_some(Home::Here(token))
}

/// Returns the session that a token names, if it is on this node.
pub(crate) fn own_session(control: &Control, token: Option<&str>) -> Option<SessionToken> {
    match home(control, token?)? {
        Home::Here(session) => Some(session),
        Home::There(_) => None,
    }
}

/// Asks a shard and waits for its answer; `None` if it gives none.
pub(super) async fn ask<T: Send + 'static>(
    control: &Control,
    shard: ShardIndex,
    mail: impl FnOnce(Reply<T>) -> Mail,
) -> Option<T> {
    let (reply, answer) = control.relay.question();
    control.mailboxes.post(shard, mail(reply));
    answer.await.ok()
}

/// Waits for a session's messages, at most for the window. Returns `None` if there is no such session.
pub(crate) async fn poll(control: &Control, session: SessionToken) -> Option<Response<Bytes>> {
    let (shard, token) = (ShardIndex(session.shard.0), session.text());
    match ask(control, shard, |reply| Mail::Poll { token: session, reply }).await? {
        PollAnswer::Messages(messages) => {
            let messages = messages.iter().map(|message| String::from_utf8_lossy(message));
            let messages: Vec<Value> = messages.map(|message| Value::from(&*message)).collect();
            Some(going_on(answer(&json!({"status": 200, "token": token, "messages": messages}))))
        }
        PollAnswer::Nothing => {
            Some(going_on(answer(&json!({"status": 204, "token": token, "messages": []}))))
        }
        PollAnswer::Gone => None,
    }
}

/// Passes a client's messages to its session. Returns `None` if there is no such session.
pub(crate) async fn post(
    control: &Control,
    place: Place,
    session: SessionToken,
    content_type: Option<&str>,
    body: impl PostBody,
) -> Option<Response<Bytes>> {
    // The room for the body is held until its messages have been handled.
    let (_room, body) = match receive(control, place, body).await {
        Ok(received) => received,
        Err(refusal) => return Some(refusal),
    };
    hand_on(control, place, session, content_type, body).await
}

/// Waits for a request's body; returns a refusal if it does not come in time, or if there is no room for it.
pub(super) async fn receive(
    control: &Control,
    Place { window, .. }: Place,
    body: impl PostBody,
) -> Result<(SemaphorePermit<'_>, Bytes), Response<Bytes>> {
    match tokio::time::timeout(window, received::receive(&control.bodies, body)).await {
        Ok(Ok(received)) => Ok(received),
        Ok(Err(Unreceived::Invalid)) => Err(bad_request()),
        Ok(Err(Unreceived::NoRoom)) => {
            control.reject(LONGPOLL_BODIES);
            Err(status(COME_BACK_LATER))
        }
        Err(_) => Err(status(408)),
    }
}

/// Passes the messages of a complete body to a session of this node.
pub(super) async fn hand_on(
    control: &Control,
    Place { mount, window }: Place,
    session: SessionToken,
    content_type: Option<&str>,
    body: Bytes,
) -> Option<Response<Bytes>> {
    let message_bytes_max = control.shared.handshakes.mount(mount).message_bytes_max;
    let messages = match body::messages(content_type, body, message_bytes_max) {
        Ok(messages) => messages,
        Err(BodyError::Unreadable) => return Some(status(400)),
        Err(BodyError::MessageTooLarge) => return Some(bad_request()),
    };
    let shard = ShardIndex(session.shard.0);
    let handled = ask(control, shard, |reply| Mail::Post { token: session, messages, reply });
    match tokio::time::timeout(window, handled).await {
        Ok(answer) => match answer? {
            PostAnswer::Taken => Some(going_on(status(200))),
            PostAnswer::Undecodable => Some(status(400)),
            PostAnswer::Gone => None,
        },
        Err(_) => Some(status(408)),
    }
}
