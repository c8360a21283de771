//! Connects to one of a host's permitted addresses.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::address::AddressPolicy;
use super::link::Link;
use super::target::bare;

/// Addresses of one name to try, one after the other.
const ADDRESSES_MAX: usize = 4;
/// Connect timeout of each.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// Concurrent name lookups: the system's resolver blocks a thread for each.
const RESOLVING_MAX: usize = 32;

/// The future result of a name lookup.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// A name resolver.
pub trait Resolve: Send + Sync {
    /// Resolves a name to its addresses, in the order in which to try them.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The system's resolver.
#[derive(Debug)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// None of a host's addresses is permitted.
#[derive(Debug)]
pub(super) struct AddressRefused {
    pub(super) host: String,
}

impl fmt::Display for AddressRefused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "no address of {} is permitted", self.host)
    }
}

impl std::error::Error for AddressRefused {}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
pub(super) struct Connector {
    shared: Arc<Shared>,
}

struct Shared {
    tls: TlsConnector,
    policy: AddressPolicy,
    resolver: Arc<dyn Resolve>,
    resolving: Semaphore,
}

impl Connector {
    pub(super) fn new(
        tls: Arc<rustls::ClientConfig>,
        policy: AddressPolicy,
        resolver: Arc<dyn Resolve>,
    ) -> Self {
        let resolving = Semaphore::new(RESOLVING_MAX);
        Connector { shared: Arc::new(Shared { tls: TlsConnector::from(tls), policy, resolver, resolving }) }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Link>, Failure>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let shared = self.shared.clone();
        Box::pin(async move { shared.connect(&uri).await.map(TokioIo::new) })
    }
}

impl Shared {
    async fn connect(&self, uri: &Uri) -> Result<Link, Failure> {
        let host = bare(uri.host().ok_or("the URL has no host")?);
        let encrypted = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let permitted = self.permitted_addresses(host).await?;
        let socket = connect_to_any(&permitted, port).await?;
        if !encrypted {
            return Ok(Link::Plain(socket));
        }
        let name = ServerName::try_from(host.to_owned())?;
        Ok(Link::Tls(Box::new(self.tls.connect(name, socket).await?)))
    }

    /// The checked addresses are the ones connected to: resolving a name twice could give different answers.
    async fn permitted_addresses(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let mut addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => {
                let _turn = self.resolving.acquire().await?;
                self.resolver.resolve(host).await?
            }
        };
        if addresses.is_empty() {
            return Err(format!("{host} has no address").into());
        }
        addresses.retain(|address| self.policy.permits(*address));
        addresses.truncate(ADDRESSES_MAX);
        if addresses.is_empty() {
            Err(Box::new(AddressRefused { host: host.to_owned() }))
        } else {
            Ok(addresses)
        }
    }
}

async fn connect_to_any(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        let connecting = TcpStream::connect(SocketAddr::new(*address, port));
        match tokio::time::timeout(CONNECT_TIME_MAX, connecting).await {
            Ok(Ok(socket)) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
