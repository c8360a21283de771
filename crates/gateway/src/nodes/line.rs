//! The connection to another node: shared by all requests, and established when the first of them needs it.

use super::address::NodeAddress;
use crate::longpoll::TOKEN_HEADER;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Time limit for establishing a connection.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// After a failed attempt nobody tries again for this long; otherwise all waiting requests would, one after the other.
const REST: Duration = Duration::from_secs(1);
/// Interval and timeout of keep-alive checks, also while the connection is idle: middleboxes may have dropped its
/// state, and the first request after that would not reach its session.
pub(super) const CONNECTION_CHECK: Duration = Duration::from_secs(5);
/// Time allowed for an answer beyond what the node itself may take: the network round trip.
const WAY_TIME_MAX: Duration = Duration::from_secs(3);

/// A client's request for a session of another node.
pub(crate) struct Forwarded {
    pub(crate) method: Method,
    /// The path without the query.
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Bytes,
    /// How long the other node itself may take to answer.
    pub(crate) time_max: Duration,
    /// The maximum size of its answer.
    pub(crate) bytes_max: usize,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Unanswered(pub(crate) String);

/// A node's address, and the connection to it.
pub(crate) struct Line {
    listening: NodeAddress,
    connection: Mutex<Connection>,
}

enum Connection {
    None,
    Open(SendRequest<Full<Bytes>>),
    /// It could not be established at this time.
    Failed(Instant),
}

impl Line {
    pub(crate) fn new(listening: NodeAddress) -> Line {
        Line { listening, connection: Mutex::new(Connection::None) }
    }

    pub(crate) fn listening(&self) -> &NodeAddress {
        &self.listening
    }

    /// Forwards a request. Returns the node's answer to the client (200 or 400), or 410 if the node does not know the
    /// session. One deadline covers everything: the connection, a retry, and the answer.
    pub(crate) async fn ask(&self, forwarded: Forwarded) -> Result<Response<Bytes>, Unanswered> {
        let (time_max, bytes_max) = (forwarded.time_max + WAY_TIME_MAX, forwarded.bytes_max);
        let request = self.request(forwarded)?;
        timeout(time_max, self.exchange(request, bytes_max))
            .await
            .map_err(|_| unanswered("the time limit was exceeded"))?
    }

    fn request(&self, forwarded: Forwarded) -> Result<Request<Full<Bytes>>, Unanswered> {
        let NodeAddress { address, secret } = &self.listening;
        let Forwarded { method, path, token, content_type, body, .. } = forwarded;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"))
            .header(AUTHORIZATION, format!("Bearer {secret}"))
            .header(TOKEN_HEADER, token);
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        request.body(Full::new(body)).map_err(unanswered)
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        bytes_max: usize,
    ) -> Result<Response<Bytes>, Unanswered> {
        let answer = self.send(request).await?;
        let (head, body) = answer.into_parts();
        if !matches!(head.status, StatusCode::OK | StatusCode::BAD_REQUEST | StatusCode::GONE) {
            return Err(unanswered(head.status));
        }
        let body = Limited::new(body, bytes_max).collect().await.map_err(unanswered)?;
        let mut answer = Response::new(body.to_bytes());
        *answer.status_mut() = head.status;
        Ok(answer)
    }

    /// A request that was not sent because the connection had ended is sent on a new one, once. A request that may have
    /// been sent is not retried: the node could answer it twice, and one of the answers would be lost.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        let mut unsent = match self.sender().await?.try_send_request(request).await {
            Ok(answer) => return Ok(answer),
            Err(unsent) => unsent,
        };
        let Some(request) = unsent.take_message() else { return Err(unanswered(unsent.into_error())) };
        self.sender().await?.send_request(request).await.map_err(unanswered)
    }

    async fn sender(&self) -> Result<SendRequest<Full<Bytes>>, Unanswered> {
        let mut connection = self.connection.lock().await;
        match &*connection {
            Connection::Open(sender) if !sender.is_closed() => return Ok(sender.clone()),
            Connection::Failed(at) if at.elapsed() < REST => {
                return Err(unanswered("the node could not be reached a moment ago"));
            }
            Connection::None | Connection::Open(_) | Connection::Failed(_) => {}
        }
        let late = |_| unanswered("the node did not accept a connection in time");
        let made = timeout(CONNECT_TIME_MAX, connect(self.listening.address)).await.map_err(late).flatten();
        *connection = match &made {
            Ok(sender) => Connection::Open(sender.clone()),
            Err(_) => Connection::Failed(Instant::now()),
        };
        made
    }
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, Unanswered> {
    let stream = TcpStream::connect(address).await.map_err(unanswered)?;
    // A failure here costs latency, not correctness.
    let _ = stream.set_nodelay(true);
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(CONNECTION_CHECK)
        .keep_alive_timeout(CONNECTION_CHECK)
        .keep_alive_while_idle(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(unanswered)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, %address, "the connection to a node ended");
        }
    });
    Ok(sender)
}

fn unanswered(why: impl ToString) -> Unanswered {
    Unanswered(why.to_string())
}
