//! Requests from this server to other sites: the only way out of this crate.
//!
//! A community that says where to send something chooses what this server connects to. So each resolved address is
//! checked, and the connection goes to the address that was checked ([`connect`]); redirects are not followed;
//! responses are bounded in time and bytes; `https` is required, with plain `http` for this machine only ([`Target`]).

mod address;
mod connect;
mod link;
mod target;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

pub use address::{AddressPolicy, BadNetwork, Network};
pub use connect::{Resolve, Resolving, SystemResolver};
pub use target::{BadTarget, Target};

use connect::{AddressRefused, Connector};

/// How long an idle connection to a site is kept for the next request.
const IDLE_TIME_MAX: Duration = Duration::from_secs(30);
/// Idle connections kept per site.
const IDLE_CONNECTIONS_MAX: usize = 4;
/// Maximum size of a response's head, in bytes.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Sends requests. Clones share connections. Needs a tokio runtime with time and IO enabled.
#[derive(Clone)]
pub struct Outbound {
    client: legacy::Client<Connector, Full<Bytes>>,
}

/// A site's response.
#[derive(Debug)]
pub struct Response {
    /// The status; may be 3xx, since redirects are not followed.
    pub status: u16,
    /// The body, within the requested limit.
    pub body: Bytes,
    headers: HeaderMap,
}

impl Response {
    /// A header's value, if present and ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Outbound {
    /// A client with `tls` as its trust configuration that connects to addresses permitted by `policy`.
    pub fn new(tls: Arc<rustls::ClientConfig>, policy: AddressPolicy) -> Self {
        Self::with_resolver(tls, policy, Arc::new(SystemResolver))
    }

    /// Like [`new`](Self::new), with another resolver.
    pub fn with_resolver(
        tls: Arc<rustls::ClientConfig>,
        policy: AddressPolicy,
        resolver: Arc<dyn Resolve>,
    ) -> Self {
        let client = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME_MAX)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .http1_max_buf_size(HEAD_BYTES_MAX)
            .build(Connector::new(tls, policy, resolver));
        Outbound { client }
    }

    /// Sends a GET request.
    ///
    /// # Errors
    /// [`OutboundError`].
    pub async fn get(
        &self,
        target: &Target,
        answer_bytes_max: usize,
        timeout: Duration,
    ) -> Result<Response, OutboundError> {
        self.send(Method::GET, target, &[], Bytes::new(), answer_bytes_max, timeout).await
    }

    /// Posts a JSON document, with additional `headers`.
    ///
    /// # Errors
    /// [`OutboundError`].
    pub async fn post_json(
        &self,
        target: &Target,
        headers: &[(&'static str, String)],
        body: Bytes,
        answer_bytes_max: usize,
        timeout: Duration,
    ) -> Result<Response, OutboundError> {
        self.send(Method::POST, target, headers, body, answer_bytes_max, timeout).await
    }

    async fn send(
        &self,
        method: Method,
        target: &Target,
        headers: &[(&'static str, String)],
        body: Bytes,
        answer_bytes_max: usize,
        timeout: Duration,
    ) -> Result<Response, OutboundError> {
        let request = request(method, target, headers, body)?;
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|error| failed(&error))?;
            let (head, body) = answer.into_parts();
            let status = head.status.as_u16();
            let body = Limited::new(body, answer_bytes_max).collect().await.map_err(|error| {
                if error.is::<http_body_util::LengthLimitError>() {
                    OutboundError::TooLarge { status, bytes_max: answer_bytes_max }
                } else {
                    OutboundError::Failed { why: error.to_string() }
                }
            })?;
            Ok(Response { status, headers: head.headers, body: body.to_bytes() })
        };
        tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or(Err(OutboundError::Timeout { after: timeout }))
    }
}

fn request(
    method: Method,
    target: &Target,
    headers: &[(&'static str, String)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, OutboundError> {
    let mut request = Request::new(Full::new(body));
    *request.uri_mut() = target.uri().clone();
    let to = request.headers_mut();
    to.insert(USER_AGENT, HeaderValue::from_static(concat!("Throng/", env!("CARGO_PKG_VERSION"))));
    to.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if method == Method::POST {
        to.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in headers {
        let value = HeaderValue::from_str(value)
            .map_err(|_| OutboundError::Failed { why: format!("invalid value of the header {name}") })?;
        to.insert(HeaderName::from_static(name), value);
    }
    *request.method_mut() = method;
    Ok(request)
}

fn failed(error: &legacy::Error) -> OutboundError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut innermost = error.to_string();
    while let Some(error) = cause {
        // The connector's error is somewhere in hyper's chain of causes.
        if let Some(AddressRefused { host }) = error.downcast_ref() {
            return OutboundError::AddressRefused { host: host.clone() };
        }
        innermost = error.to_string();
        cause = error.source();
    }
    OutboundError::Failed { why: innermost }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbound").finish_non_exhaustive()
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutboundError {
    /// All addresses of the name are private, and not permitted.
    AddressRefused {
        /// The name.
        host: String,
    },
    /// The request timed out.
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The response is too large.
    TooLarge {
        /// Its status, which was read before.
        status: u16,
        /// The size limit, in bytes.
        bytes_max: usize,
    },
    /// The connection failed or broke, or the response is not valid HTTP.
    Failed {
        /// A description of the error.
        why: String,
    },
}

impl fmt::Display for OutboundError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutboundError::AddressRefused { host } => {
                write!(
                    to,
                    "{host} has only addresses that this server is not allowed to connect to: allow its network if \
                     it is yours"
                )
            }
            OutboundError::Timeout { after } => write!(to, "no answer within {after:?}"),
            OutboundError::TooLarge { bytes_max, .. } => {
                write!(to, "the response has more than {bytes_max} bytes")
            }
            OutboundError::Failed { why } => to.write_str(why),
        }
    }
}

impl std::error::Error for OutboundError {}

/// A TLS configuration that trusts the system's root certificates.
///
/// # Errors
/// A message, if there are no trusted roots.
pub fn system_trust() -> Result<Arc<rustls::ClientConfig>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = rustls::RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map_or_else(|| "none are installed".to_owned(), ToString::to_string);
        return Err(format!("no certificate authorities were found on this system: {why}"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
