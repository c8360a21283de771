//! One request of a long-polling client. The HTTP status is 200; the real one stands in the body.

use super::body::{self, BODY_BYTES_MAX, BodyError};
use super::cors;
use crate::admission::{Excess, Visit};
use crate::control::{Control, OwnedHead, RemotePeer};
use crate::handshake::Head;
use crate::metrics::MEMORY_BUDGET;
use crate::relay::Reply;
use crate::shard::{Mail, PollAnswer, PostAnswer, Seat, SessionSeed, SessionToken};
use bytes::Bytes;
use engine::ShardIndex;
use http_body_util::{BodyExt, Limited};
use hub::MountIndex;
use hyper::body::Body;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use proto::handshake::parse_query;
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::SemaphorePermit;

/// Clients throw at a status that they do not know; at this one they come back later.
const COME_BACK_LATER: u16 = 500;
const TOKEN_HEADER: &str = "x-phoenix-longpoll-token";

/// Where long-polling is served.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) mount: MountIndex,
    /// How long a poll waits for messages, and a post for its body and for being handled.
    pub(crate) window: Duration,
}

/// A request's body, whoever reads it.
pub(crate) trait PostBody:
    Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin
{
}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin> PostBody for B {}

/// Answers one request, whoever read it.
pub(crate) async fn respond(
    control: &Arc<Control>,
    place: Place,
    head: OwnedHead,
    body: impl PostBody,
) -> Response<Bytes> {
    if !head.lend(|head| control.shared.handshakes.origin_allowed(place.mount, head)) {
        return status(403);
    }
    match head.method() {
        "OPTIONS" => head.lend(cors::preflight),
        "GET" => get(control, place, head).await,
        "POST" => post(control, place, head, body).await,
        _ => bad_request(),
    }
}

/// The header wins over the query.
fn token(head: &Head<'_>) -> Option<String> {
    if let Some(token) = head.values(TOKEN_HEADER).next() {
        return std::str::from_utf8(token).ok().map(str::to_owned);
    }
    let params = parse_query(head.query()).ok()?;
    params.get("token")?.as_str().map(str::to_owned)
}

fn session(control: &Control, token: Option<&str>) -> Option<SessionToken> {
    let token = SessionToken::parse(token?)?;
    (usize::from(token.shard.0) < control.mailboxes.len()).then_some(token)
}

/// Asks a shard and waits; `None` when the shard has no answer to give.
async fn ask<T: Send + 'static>(
    control: &Control,
    shard: ShardIndex,
    mail: impl FnOnce(Reply<T>) -> Mail,
) -> Option<T> {
    let (reply, answer) = control.relay.question();
    control.mailboxes.post(shard, mail(reply));
    answer.await.ok()
}

async fn get(control: &Control, place: Place, head: OwnedHead) -> Response<Bytes> {
    let token = head.lend(token);
    let Some(session) = session(control, token.as_deref()) else {
        return open(control, place, &head).await;
    };
    let shard = ShardIndex(session.shard.0);
    match ask(control, shard, |reply| Mail::Poll { token: session, reply }).await {
        Some(PollAnswer::Messages(messages)) => {
            let messages = messages.iter().map(|message| String::from_utf8_lossy(message));
            let messages: Vec<Value> = messages.map(|message| Value::from(&*message)).collect();
            answer(json!({"status": 200, "token": token, "messages": messages}))
        }
        Some(PollAnswer::Nothing) => answer(json!({"status": 204, "token": token, "messages": []})),
        Some(PollAnswer::Gone) | None => open(control, place, &head).await,
    }
}

/// A new session is announced by 410: the client's word for it is "open".
async fn open(control: &Control, place: Place, head: &OwnedHead) -> Response<Bytes> {
    let Place { mount, window } = place;
    let handshakes = &control.shared.handshakes;
    let path_mount = |head: &Head<'_>| {
        let variables = handshakes.find(head.path()).map(|(_, _, variables)| variables).unwrap_or_default();
        handshakes.longpoll(mount, &variables, head)
    };
    let (version, socket) = match head.lend(path_mount) {
        Ok(accepted) => accepted,
        Err(rejection) => {
            control.reject(rejection.reason);
            return status(403);
        }
    };
    let seat = match seat(control, head.peer()) {
        Ok(seat) => seat,
        Err(reason) => {
            control.reject(reason);
            return status(COME_BACK_LATER);
        }
    };
    let mut secret = [0; 16];
    if let Err(error) = getrandom::fill(&mut secret) {
        tracing::error!(%error, "the system has no random numbers; no long-poll session can be opened");
        return status(COME_BACK_LATER);
    }
    let seed = SessionSeed {
        mount,
        version,
        socket: socket.into(),
        window,
        secret: u128::from_be_bytes(secret),
        seat,
    };
    match ask(control, control.pick_shard(), |reply| Mail::SessionOpen { seed, reply }).await {
        Some(token) => answer(json!({"status": 410, "token": token, "messages": []})),
        None => status(COME_BACK_LATER),
    }
}

/// Counts a session to be, or says why there is none to have.
fn seat(control: &Control, peer: RemotePeer) -> Result<Seat, &'static str> {
    if control.is_draining() {
        return Err("draining");
    }
    if control.shared.allowance.is_used_up() {
        return Err(MEMORY_BUDGET);
    }
    let place = control.sessions.clone().try_acquire_owned().map_err(|_| "longpoll_sessions")?;
    let admission = &control.shared.admission;
    let address = admission.enter(peer.address).map_err(Excess::reason)?;
    Ok(Seat { _visit: Visit::new(admission.clone(), address), _place: place })
}

async fn post(
    control: &Control,
    Place { mount, window }: Place,
    head: OwnedHead,
    body: impl PostBody,
) -> Response<Bytes> {
    let token = head.lend(token);
    let Some(session) = session(control, token.as_deref()) else { return status(410) };
    let content_type = head.lend(|head| head.first("content-type").map(str::to_owned));
    // The room for the body is held until its messages have been handled.
    let (_room, body) = match tokio::time::timeout(window, receive(control, body)).await {
        Ok(Some(received)) => received,
        Ok(None) => return bad_request(),
        Err(_) => return status(408),
    };
    let message_bytes_max = control.shared.handshakes.mount(mount).message_bytes_max;
    let messages = match body::messages(content_type.as_deref(), body, message_bytes_max) {
        Ok(messages) => messages,
        Err(BodyError::Unreadable) => return status(400),
        Err(BodyError::MessageTooLarge) => return bad_request(),
    };
    let shard = ShardIndex(session.shard.0);
    let handled = ask(control, shard, |reply| Mail::Post { token: session, messages, reply });
    match tokio::time::timeout(window, handled).await {
        Ok(Some(PostAnswer::Taken)) => status(200),
        Ok(Some(PostAnswer::Undecodable)) => status(400),
        Ok(Some(PostAnswer::Gone) | None) => status(410),
        Err(_) => status(408),
    }
}

/// Waits for room for a request's body, and then for the body. `None` if it is too large or ends early.
async fn receive(control: &Control, body: impl PostBody) -> Option<(SemaphorePermit<'_>, Bytes)> {
    let announced = body.size_hint().upper().unwrap_or(BODY_BYTES_MAX as u64);
    if announced > BODY_BYTES_MAX as u64 {
        return None;
    }
    let room = control.bodies.acquire_many(announced.div_ceil(1 << 10) as u32).await.ok()?;
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.ok()?;
    Some((room, body.to_bytes()))
}

fn status(status: u16) -> Response<Bytes> {
    answer(json!({ "status": status }))
}

fn answer(body: Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    cors::allow_any_origin(headers);
    response
}

fn bad_request() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
