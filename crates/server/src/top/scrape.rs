//! Asks a server's administration listener for its status.

use crate::status::Status;
use axum::body::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpStream;

/// How long one answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 4 << 20;
const TOKEN_BYTES_MAX: u64 = 4096;
const PORT_DEFAULT: u16 = 4001;

/// How many of the largest are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) topics: usize,
    pub(super) readers: usize,
}

impl Asked {
    /// As many as a screen shows.
    pub(super) const ALL: Asked = Asked { topics: 20, readers: 20 };
}

/// Why there is no status.
#[derive(Debug)]
pub(crate) enum ScrapeError {
    /// This is not the URL of an administration listener.
    Url(String),
    /// The file with the token cannot be read.
    Token { path: PathBuf, error: io::Error },
    /// There is no runtime to ask with.
    Runtime(io::Error),
    /// Nobody listens there.
    Connect { authority: String, error: io::Error },
    /// What came was no answer.
    Http { authority: String, error: String },
    /// The token is another server's.
    Unauthorized { path: PathBuf },
    /// It answered something else.
    Status { authority: String, status: StatusCode },
    /// It took too long.
    Timeout { authority: String },
}

impl fmt::Display for ScrapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScrapeError::Url(url) => {
                write!(f, "{url}: write the administration's address as http://127.0.0.1:{PORT_DEFAULT}")
            }
            ScrapeError::Token { path, error } => {
                write!(f, "{}: {error}: give the server's own with --token-file", path.display())
            }
            ScrapeError::Runtime(error) => write!(f, "cannot ask anybody: {error}"),
            ScrapeError::Connect { authority, error } => {
                write!(f, "{authority}: {error}: start the server, or give its administration's URL")
            }
            ScrapeError::Http { authority, error } => write!(f, "{authority}: no proper answer: {error}"),
            ScrapeError::Unauthorized { path } => {
                write!(
                    f,
                    "the server does not take the token in {}: give its own with --token-file",
                    path.display()
                )
            }
            ScrapeError::Status { authority, status } => {
                write!(
                    f,
                    "{authority}: answered {status}: is it the administration of a server of this version?"
                )
            }
            ScrapeError::Timeout { authority } => write!(f, "{authority}: no answer within {ANSWER_MAX:?}"),
        }
    }
}

impl std::error::Error for ScrapeError {}

/// A server, and how to ask it.
pub(super) struct Server {
    authority: String,
    host: String,
    port: u16,
    token: HeaderValue,
    token_file: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(super) fn new(url: &str, token_file: &Path) -> Result<Server, ScrapeError> {
        let (host, port) = host_and_port(url).ok_or_else(|| ScrapeError::Url(url.to_owned()))?;
        let token =
            token(token_file).map_err(|error| ScrapeError::Token { path: token_file.to_owned(), error })?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ScrapeError::Runtime)?;
        let authority =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Server { authority, host, port, token, token_file: token_file.to_owned(), runtime })
    }

    /// Host and port, as people write them.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    pub(super) fn ask(&self, asked: Asked) -> Result<Status, ScrapeError> {
        let answer = async { tokio::time::timeout(ANSWER_MAX, self.fetch(asked)).await };
        match self.runtime.block_on(answer) {
            Ok(answer) => answer,
            Err(_) => Err(ScrapeError::Timeout { authority: self.authority.clone() }),
        }
    }

    async fn fetch(&self, asked: Asked) -> Result<Status, ScrapeError> {
        let authority = || self.authority.clone();
        let wrong =
            |error: &dyn fmt::Display| ScrapeError::Http { authority: authority(), error: error.to_string() };
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| ScrapeError::Connect { authority: authority(), error })?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| wrong(&error))?;
        let path = format!("/api/status?topics={}&readers={}", asked.topics, asked.readers);
        let request = Request::get(path)
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, &self.token)
            .body(Empty::<Bytes>::new())
            .map_err(|error| wrong(&error))?;
        let answer = async {
            let response = sender.send_request(request).await.map_err(|error| wrong(&error))?;
            match response.status() {
                StatusCode::OK => {}
                StatusCode::UNAUTHORIZED => {
                    return Err(ScrapeError::Unauthorized { path: self.token_file.clone() });
                }
                status => return Err(ScrapeError::Status { authority: authority(), status }),
            }
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| wrong(&error))?.to_bytes();
            serde_json::from_slice(&body).map_err(|error| wrong(&error))
        };
        tokio::pin!(answer);
        tokio::select! {
            status = &mut answer => status,
            // The connection's own end is told to the request as well.
            _ended = connection => answer.await,
        }
    }
}

fn host_and_port(url: &str) -> Option<(String, u16)> {
    let uri: Uri = url.parse().ok()?;
    // What is behind the port is no listener's; a plain `host:port` has no scheme.
    let is_plain = matches!(uri.scheme_str(), None | Some("http")) && matches!(uri.path(), "" | "/");
    let host = uri.host().filter(|host| !host.is_empty() && is_plain)?;
    Some((host.trim_matches(['[', ']']).to_owned(), uri.port_u16().unwrap_or(PORT_DEFAULT)))
}

fn token(path: &Path) -> io::Result<HeaderValue> {
    if fs::metadata(path)?.len() > TOKEN_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too long for a token"));
    }
    let text = fs::read_to_string(path)?;
    let mut value = HeaderValue::try_from(format!("Bearer {}", text.trim())).map_err(io::Error::other)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_administration_is_named_by_its_host_and_port() {
        for (url, expected) in [
            ("http://127.0.0.1:4001", Some(("127.0.0.1", 4001))),
            ("http://example.org/", Some(("example.org", 4001))),
            ("http://[::1]:9000", Some(("::1", 9000))),
            ("localhost:4001", Some(("localhost", 4001))),
            ("https://127.0.0.1:4001", None),
            ("http://127.0.0.1:4001/metrics", None),
            ("", None),
            ("http://", None),
        ] {
            let found = host_and_port(url);
            assert_eq!(found.as_ref().map(|(host, port)| (host.as_str(), *port)), expected, "{url}");
        }
    }
}
