//! WebSocket upgrades through the HTTP server: the socket moves to a shard, with its TLS state.

use super::owned_head::OwnedHead;
use super::stream::{ControlStream, Socket};
use super::{Control, RemotePeer};
use crate::admission::{Excess, Visit};
use crate::handshake::{Accepted, Decision, Protocol, RETRY_AFTER_SECONDS, Rejection};
use crate::shard::{Seed, Transit};
use axum::body::Body;
use engine::Adoption;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use proto::handshake::accept_key;
use std::sync::Arc;

pub(super) fn respond(
    control: &Arc<Control>,
    mut request: Request<Incoming>,
    head: &OwnedHead,
    visit: Arc<Visit>,
) -> Response<Body> {
    let peer = head.peer();
    match head.lend(|head| control.shared.handshakes.websocket(head)) {
        Decision::Accept(accepted) => {
            // Begun before the flag is checked, so that a drain that begins after the check waits for this socket.
            let transit = control.shared.transits.begin();
            if control.is_draining() {
                return refuse(control, &Rejection::draining());
            }
            if control.shared.allowance.is_used_up() {
                return refuse(control, &Rejection::memory());
            }
            if control.is_full() {
                return refuse(control, &Rejection::full());
            }
            let visit = match counted(control, peer, visit) {
                Ok(visit) => visit,
                Err(excess) => return refuse(control, &Rejection::excess(excess)),
            };
            let response = switching_protocols(&accepted);
            let control = control.clone();
            let upgrade = hyper::upgrade::on(&mut request);
            tokio::spawn(async move {
                // An error means that the client disconnected before its answer was written.
                let Ok(upgraded) = upgrade.await else { return };
                move_to_shard(&control, upgraded, accepted, peer, (visit, transit));
            });
            response
        }
        Decision::Reject(rejection) => refuse(control, &rejection),
        Decision::NotAWebSocket => plain(StatusCode::NOT_FOUND, String::new()),
    }
}

/// A proxy's connection is not counted until it becomes one client's.
fn counted(control: &Control, peer: RemotePeer, visit: Arc<Visit>) -> Result<Arc<Visit>, Excess> {
    if visit.is_counted() {
        return Ok(visit);
    }
    let admission = &control.shared.admission;
    Ok(Arc::new(Visit::new(admission.clone(), admission.enter(peer.address)?)))
}

fn switching_protocols(accepted: &Accepted) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let mut set = |name: &'static str, value: &str| {
        // The values are ours, or the client's own and came in a header, so they are valid.
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    };
    set("connection", "Upgrade");
    set("upgrade", "websocket");
    set("sec-websocket-accept", &accept_key(&accepted.key));
    if let Some(subprotocol) = &accepted.subprotocol {
        set("sec-websocket-protocol", subprotocol);
    }
    if let Some(agreed) = &accepted.deflate {
        set("sec-websocket-extensions", &agreed.response_header());
    }
    response
}

fn refuse(control: &Control, rejection: &Rejection) -> Response<Body> {
    control.reject(rejection.reason);
    let status = StatusCode::from_u16(rejection.status).unwrap_or(StatusCode::FORBIDDEN);
    let mut response = plain(status, rejection.body.clone());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if rejection.is_temporary() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
    }
    response
}

fn plain(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

fn move_to_shard(
    control: &Control,
    upgraded: Upgraded,
    accepted: Accepted,
    peer: RemotePeer,
    (visit, transit): (Arc<Visit>, Transit),
) {
    let Ok(parts) = upgraded.downcast::<TokioIo<ControlStream>>() else {
        return tracing::error!("internal error: an upgraded connection has an unexpected type");
    };
    let (socket, mut unread) = parts.io.into_inner().into_parts();
    let (stream, tls) = match socket {
        Socket::Plain(stream) => (stream.into_inner(), None),
        Socket::Tls(stream) => {
            let (stream, session) = stream.into_inner();
            (stream.into_inner(), Some(Box::new(session)))
        }
    };
    // What the HTTP server read precedes what it did not.
    unread.splice(0..0, parts.read_buf);
    let stream = match stream.into_std() {
        Ok(stream) => stream,
        Err(error) => {
            return tracing::warn!(%error, "an upgraded connection could not be taken over from the HTTP \
             server");
        }
    };
    let (mount, deflate, remote) = (accepted.mount, accepted.deflate, peer.address);
    let socket = match accepted.protocol {
        Protocol::Channels { version, socket } => Some((version, socket.into())),
        Protocol::Echo => None,
    };
    let seed = Seed { mount, deflate, visit, socket, transit };
    if let Some(engine) = control.engine.get() {
        engine.adopt(control.pick_shard(), Adoption { stream, tls, remote, unread, seed });
    }
}
