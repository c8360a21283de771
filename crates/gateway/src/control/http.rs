//! HTTP/1.1 on the control plane: upgrades that did not come as a connection's first request or came by TLS,
//! long-polling, and everything that the application's router answers.

use super::stream::ControlStream;
use super::{Control, RemotePeer, upgrade};
use crate::admission::Visit;
use crate::handshake::Head;
use crate::longpoll;
use crate::mount::Transport;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tower_service::Service;

pub(super) async fn serve(control: Arc<Control>, stream: ControlStream, peer: RemotePeer, visit: Visit) {
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
        // A peer's mistake or absence; its answer, where one was possible, has been given.
        tracing::debug!(%error, remote = %peer.address, "an HTTP connection ended early");
    }
}

async fn respond(
    control: Arc<Control>,
    mut request: Request<Incoming>,
    connection: RemotePeer,
    visit: Arc<Visit>,
) -> Result<Response<Body>, Infallible> {
    let peer = whose(&control, &request, connection);
    let path = request.uri().path().to_owned();
    let found = control.shared.handshakes.find(&path).map(|(mount, transport, _)| (mount, transport));
    let mut response = match found {
        Some((_, Transport::WebSocket)) => upgrade::respond(&control, request, peer, visit),
        Some((mount, Transport::LongPoll { window })) => {
            longpoll::respond(&control, longpoll::Place { mount, window }, request, peer).await
        }
        None => {
            request.extensions_mut().insert(peer);
            control.router.clone().call(request).await?
        }
    };
    if control.is_draining() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Whose request it is: a proxy's connection carries those of many.
fn whose(control: &Control, request: &Request<Incoming>, connection: RemotePeer) -> RemotePeer {
    let proxies = &control.shared.proxies;
    if !proxies.trusts(connection.address.ip()) {
        return connection;
    }
    let head = OwnedHead::of(request, connection);
    let origin = head.lend(|head| proxies.origin(connection.address, connection.secure, head));
    RemotePeer { address: origin.address, secure: origin.secure }
}

/// A request's head, owned, to lend out as a [`Head`].
pub(crate) struct OwnedHead {
    method: String,
    target: String,
    is_http11: bool,
    headers: Vec<(String, Vec<u8>)>,
    secure: bool,
    remote: SocketAddr,
}

impl OwnedHead {
    pub(crate) fn of<B>(request: &Request<B>, peer: RemotePeer) -> OwnedHead {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let headers = request.headers().iter();
        OwnedHead {
            method: request.method().as_str().to_owned(),
            target: target.to_owned(),
            is_http11: request.version() == Version::HTTP_11,
            headers: headers
                .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
                .collect(),
            secure: peer.secure,
            remote: peer.address,
        }
    }

    pub(crate) fn lend<T>(&self, look: impl FnOnce(&Head<'_>) -> T) -> T {
        let headers: Vec<(&str, &[u8])> =
            self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        look(&Head {
            method: &self.method,
            target: &self.target,
            is_http11: self.is_http11,
            headers: &headers,
            secure: self.secure,
            remote: Some(self.remote),
        })
    }
}
