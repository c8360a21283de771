//! Fetches one page over HTTP or HTTPS: on its own connection, with a limit on size and time.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Maximum size of a page in bytes; a longer one is an error.
pub(crate) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The address of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PageAddress {
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path and query.
    pub(crate) path: String,
}

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    /// Value of the `Server` header.
    pub(crate) server: Option<String>,
    pub(crate) body: Bytes,
}

/// Why a page could not be fetched.
#[derive(Debug)]
pub(crate) enum FetchError {
    /// The host has no address, or cannot be reached.
    Connect(io::Error),
    /// The TLS handshake failed.
    Tls(io::Error),
    /// TLS cannot be set up on this machine.
    TlsSetup(rustls::Error),
    /// The host's name cannot be a TLS server name.
    ServerName(String),
    /// The path or host cannot be used in a request.
    Request(hyper::http::Error),
    /// The response was not HTTP, or was cut off.
    Http(hyper::Error),
    /// The body could not be read to the end.
    Body(Box<dyn Error + Send + Sync>),
    /// The body was longer than [`PAGE_BYTES_MAX`].
    TooLong,
    /// It took longer than this limit.
    Timeout(Duration),
}

impl fmt::Display for FetchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => write!(formatter, "cannot connect: {error}"),
            Self::Tls(error) => write!(formatter, "TLS failed: {error}"),
            Self::TlsSetup(error) => write!(formatter, "TLS cannot be set up: {error}"),
            Self::ServerName(host) => write!(formatter, "\"{host}\" cannot be a TLS server name"),
            Self::Request(error) => write!(formatter, "cannot be asked for: {error}"),
            Self::Http(error) => write!(formatter, "the answer is not HTTP or was cut off: {error}"),
            Self::Body(error) => write!(formatter, "the body was cut off: {error}"),
            Self::TooLong => write!(formatter, "the page is longer than {PAGE_BYTES_MAX} bytes"),
            Self::Timeout(limit) => write!(formatter, "no answer within {limit:?}"),
        }
    }
}

impl Error for FetchError {}

impl PageAddress {
    /// Parses `http://host[:port]/path` or `https://…`; the error describes what is wrong.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("\"{url}\" is not a URL: {error}"))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => return Err(format!("\"{url}\" does not begin with http:// or https://")),
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(
                "a user name or password in the URL of a page is not supported: leave it out".to_owned()
            );
        }
        let host =
            uri.host().filter(|host| !host.is_empty()).ok_or_else(|| format!("\"{url}\" has no host"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            tls,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            path: path.to_owned(),
        })
    }

    /// Returns the value of the `Host` header.
    fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// Fetches the page, whatever its status, within `limit`. Without `tls`, a TLS page is fetched with the machine's own
/// authorities, loaded for each call.
pub(crate) async fn fetch(
    address: &PageAddress,
    tls: Option<&Arc<ClientConfig>>,
    limit: Duration,
) -> Result<Page, FetchError> {
    let all = async {
        let stream =
            TcpStream::connect((address.host.as_str(), address.port)).await.map_err(FetchError::Connect)?;
        if !address.tls {
            return ask(stream, address).await;
        }
        let name = ServerName::try_from(address.host.clone())
            .map_err(|_| FetchError::ServerName(address.host.clone()))?;
        let tls = tls.map_or_else(native_tls, |tls| Ok(Arc::clone(tls))).map_err(FetchError::TlsSetup)?;
        let connector = TlsConnector::from(tls);
        ask(connector.connect(name, stream).await.map_err(FetchError::Tls)?, address).await
    };
    tokio::time::timeout(limit, all).await.map_err(|_elapsed| FetchError::Timeout(limit))?
}

async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: &PageAddress,
) -> Result<Page, FetchError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(FetchError::Http)?;
    let request = Request::get(&address.path)
        .header(header::HOST, address.authority())
        .header(header::USER_AGENT, concat!("stampede/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "text/plain;version=0.0.4, */*;q=0.5")
        // The server closes the connection, so that no port of the generator is left in TIME_WAIT.
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(FetchError::Request)?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(FetchError::Http)?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, PAGE_BYTES_MAX).collect().await.map_err(body_error)?.to_bytes();
        let server = head
            .headers
            .get(header::SERVER)
            .map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
        Ok(Page { status: head.status.as_u16(), server, body })
    };
    tokio::pin!(answer);
    tokio::select! {
        page = &mut answer => page,
        // The request also fails when the connection does.
        _ended = connection => answer.await,
    }
}

fn body_error(error: Box<dyn Error + Send + Sync>) -> FetchError {
    if error.is::<LengthLimitError>() { FetchError::TooLong } else { FetchError::Body(error) }
}

/// Returns a TLS configuration that trusts the machine's own authorities.
pub(crate) fn native_tls() -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_usual_ports() {
        for (url, expected) in [
            ("http://localhost:4001/metrics", (false, "localhost", 4001, "/metrics", "localhost:4001")),
            ("https://example.org", (true, "example.org", 443, "/", "example.org:443")),
            ("http://[::1]/metrics?name=a", (false, "::1", 80, "/metrics?name=a", "[::1]:80")),
        ] {
            let address = PageAddress::parse(url).expect(url);
            let read = (
                address.tls,
                address.host.as_str(),
                address.port,
                address.path.as_str(),
                &*address.authority(),
            );
            assert_eq!(read, expected, "{url}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_scraped_is_refused_with_the_reason() {
        for (url, reason) in [
            ("localhost:4001", "http://"),
            ("/metrics", "http://"),
            ("ws://localhost/metrics", "http://"),
            ("http://", "not a URL"),
            ("http://a:b@localhost/metrics", "password"),
            ("http://a b/", "not a URL"),
        ] {
            let error = PageAddress::parse(url).expect_err(url);
            assert!(error.contains(reason), "{url}: {error}");
            assert!(!error.contains("a:b"), "a password must not be repeated");
        }
    }
}
