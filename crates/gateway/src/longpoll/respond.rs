//! Handles one request of a long-polling client: for a session of this node, of another node, or for a new one.

use super::answer::{answer, awaited, bad_request, status, written};
use super::cors;
use super::session::{self, Home, PostBody, ask, home};
use crate::admission::{Excess, Visit};
use crate::control::{Control, OwnedHead, RemotePeer};
use crate::handshake::Head;
use crate::metrics::MEMORY_BUDGET;
use crate::nodes::Forwarded;
use crate::shard::{Mail, Seat, SessionSeed};
use bytes::Bytes;
use hub::{MountIndex, NodeId};
use hyper::{Method, Response, StatusCode};
use proto::handshake::parse_query;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Clients throw an exception at an unknown status; after this one they retry later.
pub(super) const COME_BACK_LATER: u16 = 500;
pub(crate) const TOKEN_HEADER: &str = "x-phoenix-longpoll-token";
/// An answer of another node may exceed the messages in a session's outbox by this factor and this many bytes, since it
/// is JSON in JSON.
const ESCAPED_FACTOR: usize = 4;
const BESIDE_BYTES: usize = 64 << 10;

/// The mount of a long-polling request.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) mount: MountIndex,
    /// How long a poll waits for messages, and a post for its body and again for its handling.
    pub(crate) window: Duration,
}

/// Answers one request, whichever reader parsed it.
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

/// Returns the session token; the header takes precedence over the query.
fn token(head: &Head<'_>) -> Option<String> {
    if let Some(token) = head.values(TOKEN_HEADER).next() {
        return std::str::from_utf8(token).ok().map(str::to_owned);
    }
    let params = parse_query(head.query()).ok()?;
    params.get("token")?.as_str().map(str::to_owned)
}

async fn get(control: &Control, place: Place, head: OwnedHead) -> Response<Bytes> {
    let token = head.lend(token);
    let home = token.as_deref().and_then(|token| home(control, token));
    if let (Some(Home::There(node)), Some(token)) = (&home, token) {
        // Boxed: otherwise each waiting poll would reserve room for the HTTP library's state.
        let asked = Box::pin(forward(control, place, &head, *node, (Method::GET, token, Bytes::new())));
        if let Some(answer) = asked.await {
            return answer;
        }
    }
    // Counted before the session can end, and before the check whether the gateway is draining.
    let transit = control.shared.transits.begin();
    let answered = match home {
        Some(Home::Here(session)) => session::poll(control, session).await,
        Some(Home::There(_)) | None => None,
    };
    let answer = match answered {
        Some(answer) => answer,
        None => open(control, place, &head).await,
    };
    awaited(answer, transit)
}

/// Forwards a request to the node of its session. Returns `None` if that node gives no answer.
async fn forward(
    control: &Control,
    Place { window, .. }: Place,
    head: &OwnedHead,
    node: NodeId,
    (method, token, body): (Method, String, Bytes),
) -> Option<Response<Bytes>> {
    let (path, content_type) =
        head.lend(|head| (head.path().to_owned(), head.first("content-type").map(str::to_owned)));
    // As long as the other node itself may take: one window for a poll; for a post one for the body and one for its
    // handling.
    let time_max = if method == Method::GET { window } else { window * 2 };
    let outbox_bytes_max = control.shared.limits.outbox_bytes_max;
    let bytes_max = outbox_bytes_max.saturating_mul(ESCAPED_FACTOR).saturating_add(BESIDE_BYTES);
    let request = Forwarded { method, path, token, content_type, body, time_max, bytes_max };
    let answer = control.nodes.forward(node, request).await?;
    Some(if answer.status() == StatusCode::OK { written(answer.into_body()) } else { bad_request() })
}

/// Opens a session. Status 410 announces it: to the client it means "open".
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
        tracing::error!(%error, "the system provides no random numbers; no long-polling session can be opened");
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
        Some(token) => answer(&json!({"status": 410, "token": token, "messages": []})),
        None => status(COME_BACK_LATER),
    }
}

/// Reserves the counts for a new session; the error is the reason for a refusal.
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

async fn post(control: &Control, place: Place, head: OwnedHead, body: impl PostBody) -> Response<Bytes> {
    let Some(token) = head.lend(token) else { return gone() };
    let Some(home) = home(control, &token) else { return gone() };
    // The room for the body is held until its messages have been handled.
    let (_room, body) = match session::receive(control, place, body).await {
        Ok(received) => received,
        Err(refusal) => return refusal,
    };
    match home {
        Home::Here(session) => {
            let content_type = head.lend(|head| head.first("content-type").map(str::to_owned));
            let transit = control.shared.transits.begin();
            let answered = session::hand_on(control, place, session, content_type.as_deref(), body).await;
            awaited(answered.unwrap_or_else(gone), transit)
        }
        Home::There(node) => {
            let asked = Box::pin(forward(control, place, &head, node, (Method::POST, token, body)));
            asked.await.unwrap_or_else(gone)
        }
    }
}

fn gone() -> Response<Bytes> {
    status(410)
}
