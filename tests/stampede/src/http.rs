//! A request and its answer, for what Stampede serves while it runs.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use crate::PATIENCE;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    /// What came until the server closed.
    pub body: String,
}

/// Gets a path of `HOST:PORT`.
///
/// # Errors
/// Nobody answers there.
pub fn get(address: &str, path: &str) -> io::Result<Answer> {
    ask(address, "GET", path, "")
}

/// Posts nothing to a path of `HOST:PORT`, with more header lines, each with its CRLF.
///
/// # Errors
/// Nobody answers there.
pub fn post(address: &str, path: &str, more: &str) -> io::Result<Answer> {
    ask(address, "POST", path, more)
}

fn ask(address: &str, method: &str, path: &str, more: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{length}{more}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
}
