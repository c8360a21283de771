//! One HTTP/1.1 exchange per connection: the request goes out at once, the answer is read when asked for.
//!
//! That split is what lets a script hold a long-poll open while it does something else.

use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::PATIENCE;
use crate::failure::Failure;
use crate::wire::Wire;

/// The key of every upgrade, with the accept value that belongs to it (RFC 6455, section 1.3).
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
/// The only right `Sec-WebSocket-Accept` for [`KEY`].
pub(crate) const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Header lines in order; names may repeat.
pub(crate) type Headers = Vec<(String, String)>;

/// What to ask of the server; shown without the headers that every request has.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `GET`, `POST` …, sent as it is.
    pub(crate) method: String,
    /// Path and query, sent as they are.
    pub(crate) target: String,
    /// Headers of the script; each takes the place of a default one of the same name.
    pub(crate) headers: Headers,
    /// Empty for none; then no `Content-Length` is sent on methods that have no body.
    pub(crate) body: Vec<u8>,
    is_upgrade: bool,
}

impl Request {
    /// A plain request without a body.
    pub(crate) fn new(method: &str, target: &str, headers: Headers) -> Self {
        Self { method: method.into(), target: target.into(), headers, body: Vec::new(), is_upgrade: false }
    }

    /// The same request with the headers of a WebSocket handshake under those of the script.
    #[must_use]
    pub(crate) fn upgrade(mut self) -> Self {
        self.is_upgrade = true;
        self
    }

    /// The same request with a body.
    #[must_use]
    pub(crate) fn with_body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// RFC 6455, section 4.1.
    fn default_upgrade_headers(&mut self) {
        self.default_header("Connection", "Upgrade");
        self.default_header("Upgrade", "websocket");
        self.default_header("Sec-WebSocket-Key", KEY);
        self.default_header("Sec-WebSocket-Version", "13");
    }

    fn default_header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(present, _)| present.eq_ignore_ascii_case(name)) {
            self.headers.push((name.into(), value.into()));
        }
    }

    fn encode(mut self, address: SocketAddr) -> Vec<u8> {
        if self.is_upgrade {
            self.default_upgrade_headers();
        }
        self.default_header("Host", &address.to_string());
        self.default_header("Connection", "close");
        if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT") {
            self.default_header("Content-Length", &self.body.len().to_string());
        }
        let lines: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("{} {} HTTP/1.1\r\n{lines}\r\n", self.method, self.target);
        [head.into_bytes(), self.body].concat()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let upgrade = if self.is_upgrade { " (upgrade)" } else { "" };
        write!(f, "{} {}{upgrade}", self.method, self.target)?;
        self.headers.iter().try_for_each(|(name, value)| write!(f, " | {name}: {value}"))?;
        if self.body.is_empty() { Ok(()) } else { write!(f, " > {}", String::from_utf8_lossy(&self.body)) }
    }
}

/// What the server answered.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// The headers in order.
    pub(crate) headers: Headers,
    /// The body, its transfer encoding undone; bytes that are not UTF-8 are replaced.
    pub(crate) body: String,
    /// From the request to the last byte of the answer.
    pub(crate) took: Duration,
}

impl Response {
    /// The value of the first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(present, _)| present.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        self.headers.iter().try_for_each(|(name, value)| write!(f, " | {name}: {value}"))?;
        if self.body.is_empty() { Ok(()) } else { write!(f, " > {}", self.body) }
    }
}

/// A request that is on its way.
#[derive(Debug)]
pub(crate) struct Exchange {
    wire: Wire,
    bodiless: bool,
    sent: Instant,
}

impl Exchange {
    /// Connects and sends the request.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn send(address: SocketAddr, request: Request) -> Result<Self, Failure> {
        let mut wire = Wire::connect(address)?;
        let bodiless = request.method == "HEAD";
        wire.write(&request.encode(address))?;
        Ok(Self { wire, bodiless, sent: Instant::now() })
    }

    /// Waits for the answer; gives the connection back with it, for what follows a 101.
    ///
    /// # Errors
    /// No whole answer came in time, or it is not HTTP.
    pub(crate) fn receive(mut self) -> Result<(Response, Wire), Failure> {
        let deadline = Instant::now() + PATIENCE;
        let (status, headers) = read_head(&mut self.wire, deadline)?;
        let mut response = Response { status, headers, body: String::new(), took: Duration::ZERO };
        if !self.bodiless && status >= 200 && status != 204 {
            let body = read_body(&mut self.wire, &response, deadline)?;
            response.body = String::from_utf8_lossy(&body).into_owned();
        }
        response.took = self.sent.elapsed();
        Ok((response, self.wire))
    }
}

fn read_head(wire: &mut Wire, deadline: Instant) -> Result<(u16, Headers), Failure> {
    let head = read_until(wire, b"\r\n\r\n", deadline)?;
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.trim_end().split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| Failure::mismatch("a status line of HTTP/1.1", status_line))?;
    let parse = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    let headers = lines.map(|line| parse(line).ok_or_else(|| Failure::mismatch("a header line", line)));
    Ok((status, headers.collect::<Result<_, _>>()?))
}

fn read_body(wire: &mut Wire, head: &Response, deadline: Instant) -> Result<Vec<u8>, Failure> {
    if head.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunks(wire, deadline);
    }
    match head.header("content-length") {
        Some(length) => {
            let length = length.parse().map_err(|_| Failure::mismatch("a content-length", length))?;
            read_exactly(wire, length, deadline)
        }
        None => {
            while wire.fill(deadline)? {}
            Ok(wire.consume(wire.unread().len()))
        }
    }
}

fn read_chunks(wire: &mut Wire, deadline: Instant) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    loop {
        let line = read_until(wire, b"\r\n", deadline)?;
        let line = String::from_utf8_lossy(&line);
        let size =
            usize::from_str_radix(line.trim(), 16).map_err(|_| Failure::mismatch("a chunk's size", &line))?;
        body.extend(read_exactly(wire, size, deadline)?);
        read_until(wire, b"\r\n", deadline)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_until(wire: &mut Wire, end: &[u8], deadline: Instant) -> Result<Vec<u8>, Failure> {
    loop {
        if let Some(at) = wire.unread().windows(end.len()).position(|window| window == end) {
            return Ok(wire.consume(at + end.len()));
        }
        more(wire, deadline)?;
    }
}

fn read_exactly(wire: &mut Wire, count: usize, deadline: Instant) -> Result<Vec<u8>, Failure> {
    while wire.unread().len() < count {
        more(wire, deadline)?;
    }
    Ok(wire.consume(count))
}

fn more(wire: &mut Wire, deadline: Instant) -> Result<(), Failure> {
    if wire.fill(deadline)? {
        return Ok(());
    }
    Err(Failure::mismatch("the rest of an HTTP answer", format!("the end after {:?}", show_start(wire))))
}

fn show_start(wire: &Wire) -> String {
    String::from_utf8_lossy(wire.unread()).chars().take(200).collect()
}
