//! One request of a long-polling client. The HTTP status is 200; the real one stands in the body.

use super::{body, cors};
use crate::control::{Control, OwnedHead, RemotePeer};
use crate::relay::Reply;
use crate::shard::{Mail, PollAnswer, PostAnswer, SessionSeed, SessionToken};
use axum::body::Body;
use bytes::Bytes;
use engine::ShardIndex;
use http_body_util::{BodyExt, Limited};
use hub::MountIndex;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use proto::handshake::parse_query;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const TOKEN_HEADER: &str = "x-phoenix-longpoll-token";

pub(crate) async fn respond(
    control: &Arc<Control>,
    mount: MountIndex,
    request: Request<Incoming>,
    peer: RemotePeer,
) -> Response<Body> {
    let head = OwnedHead::of(&request, peer);
    if !head.lend(|head| control.shared.handshakes.origin_allowed(mount, head)) {
        return status(403);
    }
    let token = token(&request);
    match *request.method() {
        Method::OPTIONS => cors::preflight(&request),
        Method::GET => get(control, mount, &head, token).await,
        Method::POST => post(control, mount, token, request).await,
        _ => bad_request(),
    }
}

/// The header wins over the query.
fn token<B>(request: &Request<B>) -> Option<String> {
    if let Some(token) = request.headers().get(TOKEN_HEADER) {
        return token.to_str().ok().map(str::to_owned);
    }
    let params = parse_query(request.uri().query().unwrap_or("")).ok()?;
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

async fn get(
    control: &Control,
    mount: MountIndex,
    head: &OwnedHead,
    token: Option<String>,
) -> Response<Body> {
    let Some(session) = session(control, token.as_deref()) else { return open(control, mount, head).await };
    let shard = ShardIndex(session.shard.0);
    match ask(control, shard, |reply| Mail::Poll { token: session, reply }).await {
        Some(PollAnswer::Messages(messages)) => {
            let messages = messages.iter().map(|message| String::from_utf8_lossy(message));
            let messages: Vec<Value> = messages.map(|message| Value::from(&*message)).collect();
            answer(json!({"status": 200, "token": token, "messages": messages}))
        }
        Some(PollAnswer::Nothing) => answer(json!({"status": 204, "token": token, "messages": []})),
        Some(PollAnswer::Gone) | None => open(control, mount, head).await,
    }
}

/// A new session is announced by 410: the client's word for it is "open".
async fn open(control: &Control, mount: MountIndex, head: &OwnedHead) -> Response<Body> {
    let handshakes = &control.shared.handshakes;
    let path_mount = |head: &crate::handshake::Head<'_>| {
        let variables = handshakes.find(head.path()).map(|(_, _, variables)| variables).unwrap_or_default();
        handshakes.longpoll(mount, &variables, head)
    };
    let (version, socket) = match head.lend(path_mount) {
        Ok(accepted) => accepted,
        Err(rejection) => {
            control.shared.metrics[0].reject(rejection.reason);
            return status(403);
        }
    };
    let mut secret = [0; 16];
    if let Err(error) = getrandom::fill(&mut secret) {
        tracing::error!(%error, "the system has no random numbers; no long-poll session can be opened");
        return status(500);
    }
    let seed = SessionSeed {
        mount,
        version,
        socket: socket.into(),
        window: handshakes.mount(mount).longpoll.unwrap_or(Duration::from_secs(10)),
        secret: u128::from_be_bytes(secret),
    };
    match ask(control, control.pick_shard(), |reply| Mail::SessionOpen { seed, reply }).await {
        Some(token) => answer(json!({"status": 410, "token": token, "messages": []})),
        // Clients throw at a status that they do not know; at this one they come back later.
        None => status(500),
    }
}

async fn post(
    control: &Control,
    mount: MountIndex,
    token: Option<String>,
    request: Request<Incoming>,
) -> Response<Body> {
    let Some(session) = session(control, token.as_deref()) else { return status(410) };
    let content_type =
        request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let window = control.shared.handshakes.mount(mount).longpoll.unwrap_or(Duration::from_secs(10));
    let body = Limited::new(request.into_body(), body::BODY_BYTES_MAX).collect();
    let body: Bytes = match tokio::time::timeout(window, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return bad_request(),
        Err(_) => return status(408),
    };
    let Ok(messages) = body::messages(content_type.as_deref(), body) else { return status(400) };
    let shard = ShardIndex(session.shard.0);
    let handled = ask(control, shard, |reply| Mail::Post { token: session, messages, reply });
    match tokio::time::timeout(window, handled).await {
        Ok(Some(PostAnswer::Taken)) => status(200),
        Ok(Some(PostAnswer::Undecodable)) => status(400),
        Ok(Some(PostAnswer::Gone) | None) => status(410),
        Err(_) => status(408),
    }
}

fn status(status: u16) -> Response<Body> {
    answer(json!({ "status": status }))
}

fn answer(body: Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    cors::allow_any_origin(headers);
    response
}

fn bad_request() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
