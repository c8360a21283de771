//! A client for the administration listener of a running server.

use crate::config::Config;
use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpStream;

/// Time limit for the connection, the head of an answer, and each part of its body.
const STEP_MAX: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 4 << 20;
const TOKEN_BYTES_MAX: u64 = 4096;
const PORT_DEFAULT: u16 = 4001;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The configuration has no administration listener, and none was given.
    NoAddress,
    /// The URL is not that of an administration listener.
    Url(String),
    /// The file with the token cannot be read.
    Token { path: PathBuf, error: io::Error },
    /// The runtime for the request could not be created.
    Runtime(io::Error),
    /// Nothing listens there.
    Connect { authority: String, error: io::Error },
    /// The answer is not valid.
    Http { authority: String, error: String },
    /// The token is not that of this server.
    Unauthorized { path: PathBuf },
    /// The answer cannot be written.
    Output(io::Error),
    /// It took too long.
    Timeout { authority: String },
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::NoAddress => f.write_str(
                "`admin.listen` is \"off\": turn it on, or specify the administration URL (`--admin URL`, `throng \
                 top URL`)",
            ),
            AskError::Url(url) => {
                write!(f, "{url}: write the administration URL as http://127.0.0.1:{PORT_DEFAULT}")
            }
            AskError::Token { path, error } => {
                write!(f, "{}: {error}: specify the server's token file with --token-file", path.display())
            }
            AskError::Runtime(error) => write!(f, "cannot create the runtime: {error}"),
            AskError::Connect { authority, error } => {
                write!(f, "{authority}: {error}: start the server, or specify its administration URL")
            }
            AskError::Http { authority, error } => write!(f, "{authority}: invalid response: {error}"),
            AskError::Unauthorized { path } => {
                write!(
                    f,
                    "the server rejects the token in {}: specify the server's token file with --token-file",
                    path.display()
                )
            }
            AskError::Output(error) => write!(f, "cannot write the output: {error}"),
            AskError::Timeout { authority } => write!(f, "{authority}: no response within {STEP_MAX:?}"),
        }
    }
}

impl std::error::Error for AskError {}

/// A server's administration address and token.
pub(crate) struct Server {
    authority: String,
    host: String,
    port: u16,
    token: HeaderValue,
    token_file: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    /// Returns the given server, or that of the configuration; the token likewise.
    pub(crate) fn of(
        config: &Config,
        url: Option<&str>,
        token_file: Option<&Path>,
    ) -> Result<Server, AskError> {
        let configured = || config.admin_listen.map(|address| format!("http://{address}"));
        let url = url.map(str::to_owned).or_else(configured).ok_or(AskError::NoAddress)?;
        let token_file = token_file.map_or_else(|| config.data_dir.join("admin-token"), Path::to_owned);
        Server::new(&url, &token_file)
    }

    fn new(url: &str, token_file: &Path) -> Result<Server, AskError> {
        let (host, port) = host_and_port(url).ok_or_else(|| AskError::Url(url.to_owned()))?;
        let token =
            token(token_file).map_err(|error| AskError::Token { path: token_file.to_owned(), error })?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(AskError::Runtime)?;
        let authority =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Server { authority, host, port, token, token_file: token_file.to_owned(), runtime })
    }

    /// Returns host and port, as people write them.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Sends a request and returns the whole answer.
    pub(crate) fn ask(
        &self,
        method: &Method,
        path: &str,
        body: Option<String>,
    ) -> Result<(StatusCode, Vec<u8>), AskError> {
        let mut whole = Vec::new();
        let (status, refusal) = self.ask_into(method, path, body, &mut |part| self.keep(&mut whole, part))?;
        Ok((status, if status.is_success() { whole } else { refusal }))
    }

    /// Sends a request. If it succeeds, passes each part of the answer to `take` as it arrives; otherwise returns the
    /// complete answer instead. Each part has its own time limit.
    pub(crate) fn ask_into(
        &self,
        method: &Method,
        path: &str,
        body: Option<String>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), AskError>,
    ) -> Result<(StatusCode, Vec<u8>), AskError> {
        self.runtime.block_on(self.fetch(method, path, body, take))
    }

    async fn fetch(
        &self,
        method: &Method,
        path: &str,
        body: Option<String>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), AskError>,
    ) -> Result<(StatusCode, Vec<u8>), AskError> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = self
            .in_time(connecting)
            .await?
            .map_err(|error| AskError::Connect { authority: self.authority.clone(), error })?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.wrong(&error))?;
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, &self.token);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| self.wrong(&error))?;
        let answer = async {
            let response =
                self.in_time(sender.send_request(request)).await?.map_err(|error| self.wrong(&error))?;
            if response.status() == StatusCode::UNAUTHORIZED {
                return Err(AskError::Unauthorized { path: self.token_file.clone() });
            }
            self.read(response, take).await
        };
        tokio::pin!(answer);
        tokio::select! {
            answered = &mut answer => answered,
            // The request notices the end of the connection, too.
            _ended = connection => answer.await,
        }
    }

    async fn read(
        &self,
        response: Response<Incoming>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), AskError>,
    ) -> Result<(StatusCode, Vec<u8>), AskError> {
        let status = response.status();
        let (mut body, mut refusal) = (response.into_body(), Vec::new());
        while let Some(frame) = self.in_time(body.frame()).await? {
            match frame.map_err(|error| self.wrong(&error))?.data_ref() {
                Some(part) if status.is_success() => take(part)?,
                Some(part) => self.keep(&mut refusal, part)?,
                None => {}
            }
        }
        Ok((status, refusal))
    }

    fn keep(&self, whole: &mut Vec<u8>, part: &[u8]) -> Result<(), AskError> {
        if whole.len() + part.len() > ANSWER_BYTES_MAX {
            return Err(self.wrong(&format!("the response has more than {ANSWER_BYTES_MAX} bytes")));
        }
        whole.extend_from_slice(part);
        Ok(())
    }

    async fn in_time<T>(&self, step: impl Future<Output = T>) -> Result<T, AskError> {
        let timeout = || AskError::Timeout { authority: self.authority.clone() };
        tokio::time::timeout(STEP_MAX, step).await.map_err(|_| timeout())
    }

    fn wrong(&self, error: &dyn fmt::Display) -> AskError {
        AskError::Http { authority: self.authority.clone(), error: error.to_string() }
    }
}

fn host_and_port(url: &str) -> Option<(String, u16)> {
    let uri: Uri = url.parse().ok()?;
    // A path does not belong to a listener's address; a plain `host:port` has no scheme.
    let is_plain = matches!(uri.scheme_str(), None | Some("http")) && matches!(uri.path(), "" | "/");
    let host = uri.host().filter(|host| !host.is_empty() && is_plain)?;
    Some((host.trim_matches(['[', ']']).to_owned(), uri.port_u16().unwrap_or(PORT_DEFAULT)))
}

fn token(path: &Path) -> io::Result<HeaderValue> {
    if fs::metadata(path)?.len() > TOKEN_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too long for a token"));
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
