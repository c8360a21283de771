//! The listener for other nodes: it answers requests for this node's sessions, and never forwards.

use super::line::CONNECTION_CHECK;
use crate::control::Control;
use crate::life::Stage;
use crate::longpoll::{self, Place, TOKEN_HEADER};
use crate::mount::Transport;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Connections of other nodes; each has one. Beyond it the next one waits in the kernel.
const CONNECTIONS_MAX: usize = 1024;
/// Maximum total size of a forwarded request's headers.
const HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long accepting pauses when descriptors have run out.
const EXHAUSTED_REST: Duration = Duration::from_millis(100);

/// Accepts until the gateway stops: during a drain, clients still get their answers.
pub(crate) async fn accept(control: Arc<Control>, listener: std::net::TcpListener) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the listener for other nodes cannot be used"),
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = control.life.reached(Stage::Stopped) => return,
        };
        match accepted {
            Ok((stream, remote)) => {
                let control = control.clone();
                tokio::spawn(async move {
                    serve(control, stream, remote).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a node's connection could not be accepted");
                tokio::time::sleep(EXHAUSTED_REST).await;
            }
        }
    }
}

/// Serves a connection to its end. It is cut if no request with the right secret has arrived within the handshake time.
async fn serve(control: Arc<Control>, stream: TcpStream, remote: SocketAddr) {
    // A failure here costs latency, not correctness.
    let _ = stream.set_nodelay(true);
    let limits = &control.shared.limits;
    let (time_max, streams_max) = (limits.handshake_time_max, limits.http_connections_max);
    let is_known = Arc::new(AtomicBool::new(false));
    let service = {
        let is_known = is_known.clone();
        service_fn(move |request| respond(control.clone(), request, is_known.clone()))
    };
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(CONNECTION_CHECK)
        .keep_alive_timeout(CONNECTION_CHECK)
        .max_concurrent_streams(u32::try_from(streams_max).unwrap_or(u32::MAX))
        .max_header_list_size(HEADER_BYTES_MAX);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let stranger = async {
        tokio::time::sleep(time_max).await;
        if is_known.load(Relaxed) {
            std::future::pending().await
        }
    };
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, %remote, "the connection of a node ended with an error");
            }
        }
        () = stranger => tracing::warn!(%remote, "a client that is not a node connected to the listener for nodes, \
             and was disconnected"),
    }
}

async fn respond(
    control: Arc<Control>,
    request: Request<Incoming>,
    is_known: Arc<AtomicBool>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if !control.nodes.are_shown(shown(request.headers())) {
        return Ok(bare(StatusCode::UNAUTHORIZED));
    }
    is_known.store(true, Relaxed);
    let found = control.shared.handshakes.find(request.uri().path());
    let Some((mount, Transport::LongPoll { window }, _)) = found else {
        return Ok(bare(StatusCode::NOT_FOUND));
    };
    Ok(answer(&control, Place { mount, window }, request).await)
}

async fn answer(control: &Control, place: Place, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let header =
        |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (token, content_type) = (header(TOKEN_HEADER), header(CONTENT_TYPE.as_str()));
    // Sessions of other nodes are not forwarded again: only their own node is asked, directly.
    let Some(session) = longpoll::own_session(control, token.as_deref()) else {
        return bare(StatusCode::GONE);
    };
    let answered = match *request.method() {
        Method::GET => longpoll::poll(control, session).await,
        Method::POST => {
            longpoll::post(control, place, session, content_type.as_deref(), request.into_body()).await
        }
        _ => return bare(StatusCode::METHOD_NOT_ALLOWED),
    };
    answered.map_or_else(|| bare(StatusCode::GONE), |answer| answer.map(Full::new))
}

/// Returns the secret in `Authorization: Bearer`.
fn shown(headers: &HeaderMap) -> &[u8] {
    let value = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
    value.and_then(|value| value.strip_prefix(b"Bearer ")).unwrap_or_default()
}

fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
