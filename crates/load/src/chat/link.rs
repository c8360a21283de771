//! One WebSocket client connection, from opening to end.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use proto::handshake::client_key;
use proto::ws::{
    CloseCode, Decoder, Event, Inflater, Limits, Opcode, Pending, Role, Violation, encode_client_frame,
};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::chat::address::Address;
use crate::observe::Outcome;
use crate::upgrade::{self, Answer, Expected, Refusal, Request};

/// Timeout from the first packet to the end of the 101 response.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the system to accept written data.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
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
    /// The response does not open a WebSocket.
    Refused(Refusal),
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
    /// Frames that are not written yet. They are kept here so that whoever drops a future of [`Link`] never leaves half a
    /// frame behind: the next one writes the rest.
    output: Vec<u8>,
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
                output: Vec::new(),
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
            // Before anything is decoded: a message that has been decoded must not wait for the system to take a frame.
            self.flush().await?;
            match self.decode()? {
                Decoded::Message(text) => return Ok(text),
                Decoded::Answer(opcode, payload) => self.queue(opcode, &payload)?,
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
        self.queue(opcode, payload)?;
        self.flush().await
    }

    fn queue(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), LinkError> {
        let mut mask = [0; 4];
        getrandom::fill(&mut mask).map_err(|_| LinkError::Random)?;
        encode_client_frame(&mut self.output, opcode, payload, mask);
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), LinkError> {
        write(self.stream.as_mut(), &mut self.output).await
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
    let Address { target, authority, .. } = address;
    let origin = format!("{}://{authority}", if address.secure { "https" } else { "http" });
    let agent = ("User-Agent".to_owned(), concat!("stampede/", env!("CARGO_PKG_VERSION")).to_owned());
    let mut request = Vec::new();
    Request {
        path: target,
        host: authority,
        key: &key,
        subprotocols: &[],
        origin: Some(&origin),
        headers: &[agent],
        deflate: false,
    }
    .write(&mut request);
    write(stream, &mut request).await?;
    let expected = Expected { key: &key, subprotocols: &[], deflate: false };
    let mut input = Vec::new();
    loop {
        let mut chunk = [0; READ_BYTES];
        let read = stream.read(&mut chunk).await.map_err(LinkError::Io)?;
        if read == 0 {
            return Err(LinkError::Ended);
        }
        input.extend_from_slice(&chunk[..read]);
        match upgrade::judge(&input, &expected) {
            Answer::Partial => {}
            Answer::Open { head_bytes, .. } => {
                input.drain(..head_bytes);
                return Ok(input);
            }
            Answer::Refused(refusal) => return Err(LinkError::Refused(refusal)),
        }
    }
}

/// Writes all of `output` and empties it. May be dropped and called again: what was written is not in `output` any more.
async fn write(stream: &mut dyn Stream, output: &mut Vec<u8>) -> Result<(), LinkError> {
    if output.is_empty() {
        return Ok(());
    }
    let writing = async {
        while !output.is_empty() {
            let written = stream.write(output).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            output.drain(..written);
        }
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
            LinkError::Tls { authority, error } => {
                write!(f, "cannot establish a secure connection to {authority}: {error}")
            }
            LinkError::OpenTimeout { authority } => {
                write!(f, "{authority} did not answer within {} s", OPEN_TIMEOUT.as_secs())
            }
            LinkError::Refused(Refusal { outcome: Outcome::Status | Outcome::Redirect, text, .. }) => {
                write!(f, "the server refused the WebSocket upgrade: {text}")
            }
            LinkError::Refused(Refusal { text, .. }) => write!(f, "not a WebSocket server: {text}"),
            LinkError::Io(error) => write!(f, "the connection failed: {error}"),
            LinkError::Violation(violation) => write!(f, "the server violated the protocol: {violation}"),
            LinkError::Closed { code, reason } => {
                f.write_str("the server closed the connection")?;
                if let Some(code) = code {
                    write!(f, " (code {code})")?;
                }
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            LinkError::Ended => f.write_str("the server closed the connection without a close frame"),
            LinkError::Random => f.write_str("no random numbers from the operating system"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future as _;
    use std::task::{Context, Waker};

    /// A link whose other end takes only `room` bytes until they are read.
    fn link(room: usize) -> (Link, tokio::io::DuplexStream) {
        let (near, far) = tokio::io::duplex(room);
        let link = Link {
            stream: Box::new(near),
            decoder: Decoder { role: Role::Client, limits: limits(), deflate: false },
            pending: Pending::default(),
            inflater: Inflater::default(),
            input: Vec::new(),
            output: Vec::new(),
        };
        (link, far)
    }

    #[test]
    fn a_pong_whose_future_is_dropped_halfway_is_written_whole_by_the_next() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (mut link, mut far) = link(64);
            let said = "x".repeat(50);
            link.say(&said).await.expect("56 bytes fit");
            far.write_all(b"\x89\x0chello, there").await.expect("a ping fits");
            {
                let receiving = std::pin::pin!(link.receive());
                let polled = receiving.poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending(), "8 of the pong's 18 bytes fit");
            }
            far.write_all(b"\x81\x02hi").await.expect("a text fits");
            let mut written = [0; 56 + 18];
            let (received, read) = tokio::join!(link.receive(), far.read_exact(&mut written));
            assert_eq!(received.expect("a text"), "hi");
            read.expect("both frames");
            let (header, payload) = written[56..].split_at(6);
            assert_eq!(header[..2], [0x8a, 0x80 | 12], "a masked pong of 12 bytes");
            let unmasked: Vec<u8> =
                payload.iter().zip(header[2..].iter().cycle()).map(|(a, b)| a ^ b).collect();
            assert_eq!(unmasked, b"hello, there");
        });
    }
}
