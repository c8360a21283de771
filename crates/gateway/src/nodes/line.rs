//! The way to one node: a connection that all requests share, made when the first of them needs it.

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

/// How long a node may take to accept a connection.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// After a node could not be reached nobody tries again for so long, or all who wait would, one after the other.
const REST: Duration = Duration::from_secs(1);
/// How often a node is asked whether it is there, and how long it may take to say so. Also while it owes no answers: what lies
/// between may have forgotten a connection, and the first who needs it then would not find their session.
pub(super) const CONNECTION_CHECK: Duration = Duration::from_secs(5);
/// What a node may take for its answer beyond the time that it may take for it by itself: the way there and back.
const WAY_TIME_MAX: Duration = Duration::from_secs(3);

/// A client's request for a session of another node.
pub(crate) struct Forwarded {
    pub(crate) method: Method,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Bytes,
    /// How long the other node may take for an answer.
    pub(crate) time_max: Duration,
    /// How long its answer may be.
    pub(crate) bytes_max: usize,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Unanswered(pub(crate) String);

/// Where a node listens, and the connection to it.
pub(crate) struct Line {
    listening: NodeAddress,
    connection: Mutex<Connection>,
}

enum Connection {
    None,
    Open(SendRequest<Full<Bytes>>),
    /// It could not be made, at this time.
    Failed(Instant),
}

impl Line {
    pub(crate) fn new(listening: NodeAddress) -> Line {
        Line { listening, connection: Mutex::new(Connection::None) }
    }

    pub(crate) fn listening(&self) -> &NodeAddress {
        &self.listening
    }

    /// Asks the node, and returns what it has to say to the client (200 or 400), or that it knows no such session (410). One
    /// deadline holds for all of it: for making a connection, for asking once more, and for the answer.
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

    /// A request that did not leave, since the connection had ended, goes by another one, once. One that may have left does
    /// not: a node that has answered it twice would have said something to nobody.
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
