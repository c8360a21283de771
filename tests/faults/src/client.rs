//! A client on a blocking socket. It does what it is told and nothing else.

use crate::tls::Trust;
use crate::wire::{Frame, Opcode, frame};
use rustls::{ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a test waits for an event before it gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a client connects.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connecting<'t> {
    /// Its own address, where the system shall not choose.
    pub from: Option<[u8; 4]>,
    /// Bytes that its kernel may hold for it, so that a client that does not read is found out soon.
    pub receive_buffer_bytes: Option<usize>,
    /// Speaks TLS with whom it trusts.
    pub tls: Option<&'t Trust>,
}

/// One connection.
pub struct Client {
    stream: BufReader<Stream>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A whole answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    /// As long as its content-length says.
    pub body: String,
}

/// The request for a WebSocket, with more header lines, each with its CRLF.
#[must_use]
pub fn upgrade_request(target: &str, more: &str) -> Vec<u8> {
    format!(
        "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
    )
    .into_bytes()
}

impl Connecting<'_> {
    /// Connects, without a word of HTTP.
    #[must_use]
    pub fn connect(self, server: SocketAddr) -> Client {
        let stream = self.tcp(server).expect("the kernel takes a connection");
        let stream = match self.tls {
            Some(trust) => Stream::Tls(Box::new(StreamOwned::new(trust.client(), stream))),
            None => Stream::Plain(stream),
        };
        Client { stream: BufReader::new(stream) }
    }

    /// Connects and upgrades.
    #[must_use]
    pub fn open(self, server: SocketAddr, target: &str) -> Client {
        let mut client = self.connect(server);
        client.send(&upgrade_request(target, ""));
        assert_eq!(client.answer().status, 101);
        client
    }

    fn tcp(self, server: SocketAddr) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(server), Type::STREAM, None)?;
        if let Some(bytes) = self.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(ip) = self.from {
            socket.bind(&SocketAddr::from((ip, 0)).into())?;
        }
        socket.connect_timeout(&server.into(), PATIENCE)?;
        socket.set_tcp_nodelay(true)?;
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

impl Client {
    /// A plain connection, without a word of HTTP.
    #[must_use]
    pub fn connect(server: SocketAddr) -> Client {
        Connecting::default().connect(server)
    }

    /// A WebSocket.
    #[must_use]
    pub fn open(server: SocketAddr, target: &str) -> Client {
        Connecting::default().open(server, target)
    }

    /// Sends raw bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).expect("the server takes what it is sent");
    }

    /// Sends raw bytes to a server that may have closed.
    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.stream.get_mut() {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// Sends raw bytes on the TCP connection that TLS runs on.
    pub fn send_beneath_tls(&mut self, bytes: &[u8]) {
        let mut socket = self.socket();
        socket.write_all(bytes).expect("the server takes what it is sent");
    }

    /// Sends a text message.
    pub fn text(&mut self, text: &str) {
        self.send(&frame(Opcode::Text, text.as_bytes()));
    }

    /// Reads one answer to a request.
    pub fn answer(&mut self) -> Answer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut head).expect("the server answers in time");
            assert!(read > 0, "the server closed after {head:?}");
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status line");
        let mut body = vec![0; content_length(&head)];
        self.stream.read_exact(&mut body).expect("a body as long as announced");
        Answer { status, head, body: String::from_utf8(body).expect("text") }
    }

    /// The next frame.
    pub fn frame(&mut self) -> Frame {
        Frame::read(&mut self.stream).expect("the server sends a frame in time")
    }

    /// The next frame, which is a text message.
    pub fn message(&mut self) -> String {
        let frame = self.frame();
        assert_eq!(frame.opcode, Opcode::Text, "{frame:?}");
        String::from_utf8(frame.payload).expect("UTF-8")
    }

    /// Reads on to the close frame, and to the end of the connection behind it. The code, if the frame has one.
    pub fn close_code(&mut self) -> Option<u16> {
        loop {
            let frame = self.frame();
            if frame.opcode == Opcode::Close {
                self.end();
                return frame.close_code();
            }
        }
    }

    /// Reads on to the end of the connection, however it ends.
    pub fn end(&mut self) {
        match io::copy(&mut self.stream, &mut io::sink()) {
            Ok(_) => {}
            Err(error) => assert!(is_end(&error), "the connection does not end: {error}"),
        }
    }

    /// Whether nothing comes within `patience`. For what must not happen.
    pub fn hears_nothing(&mut self, patience: Duration) -> bool {
        self.socket().set_read_timeout(Some(patience)).expect("a socket has timeouts");
        let outcome = self.stream.fill_buf().map(<[u8]>::len);
        self.socket().set_read_timeout(Some(PATIENCE)).expect("a socket has timeouts");
        outcome.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// Says that nothing more will be sent.
    pub fn shut_sending_side(&self) {
        self.socket().shutdown(Shutdown::Write).expect("a connected socket");
    }

    /// Goes away with a reset.
    pub fn reset(self) {
        let socket = socket2::SockRef::from(self.socket());
        socket.set_linger(Some(Duration::ZERO)).expect("a socket may linger");
    }

    fn socket(&self) -> &TcpStream {
        match self.stream.get_ref() {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

/// A server that closes in haste resets; one that speaks TLS may leave without its notice, or with an alert, which is
/// invalid data to the client.
fn is_end(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, InvalidData, UnexpectedEof};
    matches!(error.kind(), ConnectionReset | BrokenPipe | UnexpectedEof | InvalidData)
}

fn content_length(head: &str) -> usize {
    let mut lengths = head.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().expect("a length"))
    });
    lengths.next().unwrap_or(0)
}
