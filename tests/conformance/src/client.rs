//! One client of a script: whatever it has open, a plain exchange, a WebSocket or a long-poll session.

use std::net::SocketAddr;
use std::time::Duration;

use crate::failure::Failure;
use crate::http::{ACCEPT, Exchange, Headers, Request, Response};
use crate::longpoll::LongPoll;
use crate::websocket::{Incoming, Shape, WebSocket, opcode};

/// The serializer that the client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Objects.
    V1,
    /// Arrays.
    V2,
}

/// What a client has open.
#[derive(Debug, Default)]
enum Connection {
    #[default]
    None,
    /// A request is out and its answer not read yet.
    Asked(Box<Exchange>),
    Socket(WebSocket),
    Session(LongPoll),
}

/// A client; a new connection takes the place of the former one.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    version: Version,
    connection: Connection,
    answer: Option<Response>,
}

impl Client {
    /// A client that has nothing open.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, version: Version::V1, connection: Connection::None, answer: None }
    }

    /// Sends a request and reads nothing yet.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn ask(&mut self, request: Request) -> Result<(), Failure> {
        self.answer = None;
        self.version = if request.target.contains("vsn=2") { Version::V2 } else { Version::V1 };
        self.connection = Connection::Asked(Box::new(Exchange::send(self.address, request)?));
        Ok(())
    }

    /// Creates a long-poll session.
    ///
    /// # Errors
    /// The server does not answer with a new session.
    pub(crate) fn open_session(&mut self, target: &str, headers: Headers) -> Result<&LongPoll, Failure> {
        self.version = if target.contains("vsn=2") { Version::V2 } else { Version::V1 };
        self.connection = Connection::Session(LongPoll::open(self.address, target, headers)?);
        self.session().map(|session| &*session)
    }

    /// Whether the answer to the last request has not been read yet.
    pub(crate) fn awaits_answer(&self) -> bool {
        matches!(self.connection, Connection::Asked(_))
    }

    /// The answer to the last request, waited for if need be. After a 101 the client has a WebSocket.
    ///
    /// # Errors
    /// No answer came, or a 101 that no client would accept (RFC 6455, section 4.1).
    pub(crate) fn answer(&mut self) -> Result<&Response, Failure> {
        if matches!(self.connection, Connection::Asked(_))
            && let Connection::Asked(exchange) = std::mem::take(&mut self.connection)
        {
            let (answer, wire) = exchange.receive()?;
            if answer.status == 101 {
                check_switch(&answer)?;
                self.connection = Connection::Socket(WebSocket::new(wire));
            }
            self.answer = Some(answer);
        }
        self.answer.as_ref().ok_or_else(|| Failure::script("nothing was asked"))
    }

    /// Sends a message of the protocol as text.
    ///
    /// # Errors
    /// The connection is gone, or the session does not take it.
    pub(crate) fn send(&mut self, text: &str) -> Result<(), Failure> {
        if let Connection::Session(session) = &mut self.connection {
            let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
            return session.post(200, headers, text.into());
        }
        self.send_frame(Shape::whole(opcode::TEXT), text.as_bytes())
    }

    /// Sends one WebSocket frame.
    ///
    /// # Errors
    /// The connection is gone.
    pub(crate) fn send_frame(&mut self, shape: Shape, payload: &[u8]) -> Result<(), Failure> {
        self.socket()?.send(shape, payload)
    }

    /// The next frame or message.
    ///
    /// # Errors
    /// None came in time.
    pub(crate) fn receive(&mut self) -> Result<Incoming, Failure> {
        if let Connection::Session(session) = &mut self.connection {
            return session.receive();
        }
        self.socket()?.receive()
    }

    /// A heartbeat with this ref, and its reply as a pattern.
    pub(crate) fn heartbeat(&self, reference: &str) -> (String, String) {
        match self.version {
            Version::V1 => (
                format!(r#"{{"topic":"phoenix","event":"heartbeat","payload":{{}},"ref":"{reference}"}}"#),
                format!(
                    r#"{{"topic":"phoenix","event":"phx_reply","ref":"{reference}","payload":ok({{}})}}"#
                ),
            ),
            Version::V2 => (
                format!(r#"[null,"{reference}","phoenix","heartbeat",{{}}]"#),
                format!(r#"[null,"{reference}","phoenix","phx_reply",ok({{}})]"#),
            ),
        }
    }

    /// A join of `topic` with both refs `"1"`, and the reply that accepts it as a pattern.
    pub(crate) fn join(&self, topic: &str, payload: &str) -> (String, String) {
        match self.version {
            Version::V1 => (
                format!(r#"{{"topic":"{topic}","event":"phx_join","payload":{payload},"ref":"1"}}"#),
                format!(r#"{{"topic":"{topic}","event":"phx_reply","ref":"1","payload":ok({{}})}}"#),
            ),
            Version::V2 => (
                format!(r#"["1","1","{topic}","phx_join",{payload}]"#),
                format!(r#"["1","1","{topic}","phx_reply",ok({{}})]"#),
            ),
        }
    }

    /// How long the server took for what was last received.
    pub(crate) fn took(&self) -> Duration {
        match &self.connection {
            Connection::Session(session) => session.took(),
            Connection::Socket(socket) => socket.took(),
            Connection::None | Connection::Asked(_) => {
                self.answer.as_ref().map_or(Duration::ZERO, |answer| answer.took)
            }
        }
    }

    /// The long-poll session.
    ///
    /// # Errors
    /// The script opened none.
    pub(crate) fn session(&mut self) -> Result<&mut LongPoll, Failure> {
        match &mut self.connection {
            Connection::Session(session) => Ok(session),
            _ => Err(Failure::script("there is no long-poll session")),
        }
    }

    /// Cuts the connection, without a Close.
    pub(crate) fn cut(&mut self) {
        if let Connection::Socket(socket) = std::mem::take(&mut self.connection) {
            socket.cut();
        }
    }

    fn socket(&mut self) -> Result<&mut WebSocket, Failure> {
        match &mut self.connection {
            Connection::Socket(socket) => Ok(socket),
            _ => Err(Failure::script("there is no WebSocket")),
        }
    }
}

fn check_switch(answer: &Response) -> Result<(), Failure> {
    let is = |name, value: &str| answer.header(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
    if is("upgrade", "websocket")
        && is("connection", "upgrade")
        && answer.header("sec-websocket-accept") == Some(ACCEPT)
    {
        return Ok(());
    }
    let expected = format!("upgrade: websocket, connection: Upgrade, sec-websocket-accept: {ACCEPT}");
    Err(Failure::mismatch(expected, format!("{:?}", answer.headers)))
}
