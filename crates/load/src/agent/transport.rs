//! Opens and accepts connections, with or without TLS.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::link::{Link, LinkError};
use super::protocol::{GREETING_BYTES_MAX, GREETING_MAX, MESSAGE_BYTES_MAX};

/// Why TLS between controller and agents cannot be set up.
#[derive(Debug)]
pub enum TlsError {
    /// A PEM file cannot be read, or does not contain what it should.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// The contents of the files cannot be used.
    Setup(rustls::Error),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, text } => write!(f, "{}: {text}", path.display()),
            Self::Setup(error) => write!(f, "cannot set up TLS: {error}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// Why a connection to an agent could not be opened.
#[derive(Debug)]
pub enum ConnectError {
    /// The name cannot be resolved, or the connection failed.
    Tcp(io::Error),
    /// The address is not a valid name for a certificate.
    Name(InvalidDnsNameError),
    /// TLS could not be started.
    Tls(rustls::Error),
    /// The connection has failed.
    Link(LinkError),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(error) => write!(f, "cannot connect: {error}"),
            Self::Name(error) => write!(f, "the address cannot be the name in a certificate: {error}"),
            Self::Tls(error) => write!(f, "TLS handshake failed: {error}"),
            Self::Link(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConnectError {}

/// Returns a TLS configuration that trusts only the certificate authorities in a PEM file.
pub(super) fn trust(path: &Path) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(TlsError::Setup)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Setup)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Returns a TLS configuration with the certificate in one PEM file and the key in another.
pub(super) fn identity(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| TlsError::File { path: key.to_owned(), text: error.to_string() })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Setup)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(TlsError::Setup)?;
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |text: String| TlsError::File { path: path.to_owned(), text };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
    let certificates: Result<Vec<_>, _> = certificates.collect();
    match certificates.map_err(|error| failed(error.to_string()))? {
        none if none.is_empty() => Err(failed("it contains no certificate".to_owned())),
        some => Ok(some),
    }
}

/// Connects to an agent at `host:port`.
pub(super) fn connect(address: &str, tls: Option<&Arc<ClientConfig>>) -> Result<Link, ConnectError> {
    let socket = connect_tcp(address).map_err(ConnectError::Tcp)?;
    let copy = socket.try_clone().map_err(ConnectError::Tcp)?;
    // The handshake happens within the first write and read, which this timeout limits.
    socket.set_read_timeout(Some(GREETING_MAX)).map_err(ConnectError::Tcp)?;
    let Some(tls) = tls else {
        return Link::new(Box::new(copy), socket, MESSAGE_BYTES_MAX).map_err(ConnectError::Link);
    };
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned()).map_err(ConnectError::Name)?;
    let connection = ClientConnection::new(Arc::clone(tls), name).map_err(ConnectError::Tls)?;
    let stream = StreamOwned::new(connection, copy);
    Link::new(Box::new(stream), socket, MESSAGE_BYTES_MAX).map_err(ConnectError::Link)
}

fn connect_tcp(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name does not resolve to an address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, GREETING_MAX) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Accepts a controller's connection.
pub(super) fn accept(socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Result<Link, ConnectError> {
    let copy = socket.try_clone().map_err(ConnectError::Tcp)?;
    let Some(tls) = tls else {
        return Link::new(Box::new(copy), socket, GREETING_BYTES_MAX).map_err(ConnectError::Link);
    };
    let connection = ServerConnection::new(Arc::clone(tls)).map_err(ConnectError::Tls)?;
    let stream = StreamOwned::new(connection, copy);
    Link::new(Box::new(stream), socket, GREETING_BYTES_MAX).map_err(ConnectError::Link)
}

/// Returns whether an address can be reached from other machines.
pub(super) fn is_reachable_from_outside(address: &SocketAddr) -> bool {
    !address.ip().is_loopback()
}
