//! One WebSocket client connection, from opening to end.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use proto::handshake::{accept_key, client_key};
use proto::ws::{
    CloseCode, Decoder, Event, Inflater, Limits, Opcode, Pending, Role, Violation, encode_client_frame,
};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::chat::address::Address;

/// Timeout from the first packet to the end of the 101 response.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the system to accept written data.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
const READ_BYTES: usize = 16 * 1024;
/// Maximum size of a message that a server can make us buffer.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Why a connection could not be opened or has ended.
#[derive(Debug)]
pub(super) enum LinkError {
    /// The name cannot be resolved, or no address is reachable.
    Connect { authority: String, error: io::Error },
    /// The TLS handshake failed.
    Tls { authority: String, error: io::Error },
    /// The connection was not open within the timeout.
    OpenTimeout { authority: String },
    /// The upgrade was answered with a status other than 101.
    Status { code: u16, reason: String, location: Option<String> },
    /// The response is not a valid answer to an upgrade.
    BadHandshake(&'static str),
    /// An I/O error.
    Io(io::Error),
    /// The server violated the protocol.
    Violation(Violation),
    /// The server closed with this code and reason.
    Closed { code: Option<u16>, reason: String },
    /// The connection ended without a close frame.
    Ended,
    /// The system's random number generator failed.
    Random,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// An open WebSocket.
pub(super) struct Link {
    stream: Box<dyn Stream>,
    decoder: Decoder,
    pending: Pending,
    inflater: Inflater,
    /// Received data that has not been decoded yet.
    input: Vec<u8>,
}

impl Link {
    /// Connects, performs the TLS handshake and upgrades.
    pub(super) async fn open(
        address: &Address,
        tls: Option<Arc<rustls::ClientConfig>>,
    ) -> Result<Self, LinkError> {
        let opening = async {
            let mut stream = connect(address, tls).await?;
            let input = upgrade(stream.as_mut(), address).await?;
            Ok(Self {
                stream,
                decoder: Decoder { role: Role::Client, limits: limits(), deflate: false },
                pending: Pending::default(),
                inflater: Inflater::default(),
                input,
            })
        };
        match tokio::time::timeout(OPEN_TIMEOUT, opening).await {
            Ok(result) => result,
            Err(_) => Err(LinkError::OpenTimeout { authority: address.authority.clone() }),
        }
    }

    /// Returns the next text or binary message, the latter converted to text lossily. May be dropped and called again.
    pub(super) async fn receive(&mut self) -> Result<String, LinkError> {
        loop {
            match self.decode()? {
                Decoded::Message(text) => return Ok(text),
                Decoded::Answer(opcode, payload) => self.send(opcode, &payload).await?,
                Decoded::Nothing => {
                    let mut chunk = [0; READ_BYTES];
                    match self.stream.read(&mut chunk).await.map_err(LinkError::Io)? {
                        0 => return Err(LinkError::Ended),
                        read => self.input.extend_from_slice(&chunk[..read]),
                    }
                }
            }
        }
    }

    /// Sends a text message.
    pub(super) async fn say(&mut self, text: &str) -> Result<(), LinkError> {
        self.send(Opcode::Text, text.as_bytes()).await
    }

    /// Sends a close frame (RFC 6455 section 7.1.1). The server's answer is returned by [`Link::receive`].
    pub(super) async fn close(&mut self) -> Result<(), LinkError> {
        self.send(Opcode::Close, &CloseCode::NORMAL.to_be_bytes()).await
    }

    fn decode(&mut self) -> Result<Decoded, LinkError> {
        loop {
            let step = self
                .decoder
                .decode(&mut self.pending, &mut self.inflater, &mut self.input)
                .map_err(LinkError::Violation)?;
            let consumed = step.consumed;
            let decoded = match step.event {
                Some(Event::Text(text)) => Decoded::Message(text.into_owned()),
                Some(Event::Binary(bytes)) => Decoded::Message(String::from_utf8_lossy(&bytes).into_owned()),
                Some(Event::Ping(payload)) => Decoded::Answer(Opcode::Pong, payload.to_vec()),
                Some(Event::Close { code, reason }) => {
                    return Err(LinkError::Closed { code, reason: reason.to_owned() });
                }
                Some(Event::Pong(_)) => Decoded::Nothing,
                None if consumed == 0 => return Ok(Decoded::Nothing),
                None => Decoded::Nothing,
            };
            self.input.drain(..consumed);
            if !matches!(decoded, Decoded::Nothing) {
                return Ok(decoded);
            }
        }
    }

    async fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), LinkError> {
        let mut mask = [0; 4];
        getrandom::fill(&mut mask).map_err(|_| LinkError::Random)?;
        let mut frame = Vec::with_capacity(payload.len() + proto::ws::HEADER_BYTES_MAX);
        encode_client_frame(&mut frame, opcode, payload, mask);
        write(self.stream.as_mut(), &frame).await
    }
}

enum Decoded {
    Message(String),
    Answer(Opcode, Vec<u8>),
    Nothing,
}

fn limits() -> Limits {
    Limits { frame_bytes_max: MESSAGE_BYTES_MAX, message_bytes_max: MESSAGE_BYTES_MAX, ..Limits::default() }
}

async fn connect(
    address: &Address,
    tls: Option<Arc<rustls::ClientConfig>>,
) -> Result<Box<dyn Stream>, LinkError> {
    let authority = || address.authority.clone();
    let tcp = TcpStream::connect((address.host.as_str(), address.port))
        .await
        .map_err(|error| LinkError::Connect { authority: authority(), error })?;
    tcp.set_nodelay(true).map_err(LinkError::Io)?;
    let Some(tls) = tls else { return Ok(Box::new(tcp)) };
    let failed = |error| LinkError::Tls { authority: authority(), error };
    let name = ServerName::try_from(address.host.clone()).map_err(|error| failed(io::Error::other(error)))?;
    Ok(Box::new(TlsConnector::from(tls).connect(name, tcp).await.map_err(failed)?))
}

/// Performs the opening handshake (RFC 6455 section 4.1). Returns the data received after the response head.
async fn upgrade(stream: &mut dyn Stream, address: &Address) -> Result<Vec<u8>, LinkError> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(|_| LinkError::Random)?;
    let key = client_key(nonce);
    let scheme = if address.secure { "https" } else { "http" };
    let Address { target, authority, .. } = address;
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nOrigin: {scheme}://{authority}\r\n\
         User-Agent: stampede/{}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    write(stream, request.as_bytes()).await?;
    let mut input = Vec::new();
    loop {
        let mut chunk = [0; READ_BYTES];
        let read = stream.read(&mut chunk).await.map_err(LinkError::Io)?;
        if read == 0 {
            return Err(LinkError::Ended);
        }
        input.extend_from_slice(&chunk[..read]);
        if let Some(head_bytes) = judge(&input, &key)? {
            input.drain(..head_bytes);
            return Ok(input);
        }
        if input.len() > HEAD_BYTES_MAX {
            return Err(LinkError::BadHandshake("the response's head is longer than 16 KiB"));
        }
    }
}

/// Returns the length of a response head that accepts the upgrade; `None` while it is incomplete.
fn judge(input: &[u8], key: &str) -> Result<Option<usize>, LinkError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let head_bytes = match response.parse(input) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(LinkError::BadHandshake("the response is no HTTP")),
    };
    let header = |name: &str| {
        let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).trim().to_owned())
    };
    let code = response.code.unwrap_or_default();
    if code != 101 {
        let reason = response.reason.unwrap_or_default().to_owned();
        return Err(LinkError::Status { code, reason, location: header("location") });
    }
    if header("sec-websocket-accept") != Some(accept_key(key)) {
        return Err(LinkError::BadHandshake("the key of the response is not the one for this request"));
    }
    if !header("upgrade").is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket")) {
        return Err(LinkError::BadHandshake("the response upgrades to something else than a WebSocket"));
    }
    Ok(Some(head_bytes))
}

async fn write(stream: &mut dyn Stream, bytes: &[u8]) -> Result<(), LinkError> {
    let writing = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    match tokio::time::timeout(WRITE_TIMEOUT, writing).await {
        Ok(result) => result.map_err(LinkError::Io),
        Err(_) => Err(LinkError::Io(io::ErrorKind::TimedOut.into())),
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Connect { authority, error } => write!(f, "cannot connect to {authority}: {error}"),
            LinkError::Tls { authority, error } => write!(f, "no secure connection to {authority}: {error}"),
            LinkError::OpenTimeout { authority } => {
                write!(f, "{authority} did not answer within {} s", OPEN_TIMEOUT.as_secs())
            }
            LinkError::Status { code, reason, location: None } => {
                write!(f, "the server answered {code} {reason} instead of opening a WebSocket")
            }
            LinkError::Status { code, reason, location: Some(location) } => {
                write!(f, "the server answered {code} {reason} and points to {location}")
            }
            LinkError::BadHandshake(problem) => write!(f, "this is no WebSocket server: {problem}"),
            LinkError::Io(error) => write!(f, "the connection broke: {error}"),
            LinkError::Violation(violation) => write!(f, "the server broke the protocol: {violation}"),
            LinkError::Closed { code, reason } => {
                f.write_str("the server closed the connection")?;
                if let Some(code) = code {
                    write!(f, " with {code}")?;
                }
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            LinkError::Ended => f.write_str("the server ended the connection"),
            LinkError::Random => f.write_str("the system gives no random numbers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_right_101_opens_a_websocket() {
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        let accept = accept_key(key);
        let right = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        let input = format!("{right}\u{1}");
        assert_eq!(judge(input.as_bytes(), key).ok(), Some(Some(right.len())));
        assert_eq!(judge(&right.as_bytes()[..40], key).ok(), Some(None));
        for (response, part) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found"),
            ("HTTP/1.1 301 Moved\r\nLocation: ws://b/\r\n\r\n", "points to ws://b/"),
            ("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAA\r\n\r\n", "key"),
            ("SSH-2.0-x\r\n\r\n", "no HTTP"),
        ] {
            let error = judge(response.as_bytes(), key).expect_err(response).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
