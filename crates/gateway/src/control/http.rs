//! HTTP/1.1 on the control plane: upgrades over TLS or as a later request of a connection, long-polling requests that
//! our own reader leaves to the library, and everything that the application's router answers.

use super::owned_head::OwnedHead;
use super::stream::ControlStream;
use super::{Control, RemotePeer, upgrade};
use crate::admission::Visit;
use crate::longpoll;
use crate::mount::Transport;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use tower_service::Service;

/// Serves a connection to its end. It begins with our own reader, in which a waiting poll takes little memory, and
/// switches to the HTTP library with the first request that this reader does not handle.
pub(super) async fn serve(control: Arc<Control>, stream: ControlStream, peer: RemotePeer, visit: Visit) {
    if let Some(stream) = longpoll::serve(&control, stream, peer).await {
        // Boxed: otherwise each waiting poll would reserve room for the library's state.
        Box::pin(serve_anything(control, stream, peer, visit)).await;
    }
}

async fn serve_anything(control: Arc<Control>, stream: ControlStream, peer: RemotePeer, visit: Visit) {
    let visit = Arc::new(visit);
    let limits = &control.shared.limits;
    let mut http = http1::Builder::new();
    http.title_case_headers(true)
        .timer(TokioTimer::new())
        .header_read_timeout(limits.handshake_time_max)
        .max_buf_size(limits.header_bytes_max.max(8192));
    let service = service_fn(|request| respond(control.clone(), request, peer, visit.clone()));
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = connection.await {
        // The peer made a mistake or disconnected; if an answer was possible, it has been sent.
        tracing::debug!(%error, remote = %peer.address, "an HTTP connection ended with an error");
    }
}

async fn respond(
    control: Arc<Control>,
    mut request: Request<Incoming>,
    connection: RemotePeer,
    visit: Arc<Visit>,
) -> Result<Response<Body>, Infallible> {
    let proxies = &control.shared.proxies;
    let path = request.uri().path().to_owned();
    let found = control.shared.handshakes.find(&path).map(|(mount, transport, _)| (mount, transport));
    let mut response = match found {
        Some((_, Transport::WebSocket)) => {
            let head = OwnedHead::of(&request, connection, proxies);
            upgrade::respond(&control, request, &head, visit)
        }
        Some((mount, Transport::LongPoll { window })) => {
            let head = OwnedHead::of(&request, connection, proxies);
            let place = longpoll::Place { mount, window };
            longpoll::respond(&control, place, head, request.into_body()).await.map(Body::from)
        }
        None => {
            // The router has the head already; it is copied only for what a proxy wrote into it.
            let is_proxy = proxies.trusts(connection.address.ip());
            let peer =
                if is_proxy { OwnedHead::of(&request, connection, proxies).peer() } else { connection };
            request.extensions_mut().insert(peer);
            control.router.clone().call(request).await?
        }
    };
    let stays = response.status() == StatusCode::SWITCHING_PROTOCOLS || longpoll::goes_on(&response);
    if control.is_draining() && !stays {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}
