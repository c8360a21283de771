//! Certificates for one test, servers that use them, and streams that trust nothing else.

// Each test program uses only part of this.
#![allow(dead_code)]

use crate::throng::{DEADLINE, Throng};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// Writes a fresh self-signed pair.
pub(crate) fn write_pair(folder: &Path) -> CertificateDer<'static> {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(folder.join("cert.pem"), pair.cert.pem()).expect("written");
    fs::write(folder.join("key.pem"), pair.signing_key.serialize_pem()).expect("written");
    pair.cert.der().clone()
}

/// Starts a server with the pair in `folder` and additional arguments.
pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Throng {
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let certificate = format!("tls.certificate={}", certificate.display());
    let key = format!("tls.key={}", key.display());
    let tls = ["--set", "tls.listen=127.0.0.1:0", "--set", &certificate, "--set", &key];
    Throng::start(&[&tls, arguments].concat())
}

/// Returns the address where the server listens for TLS.
pub(crate) fn address(server: &Throng) -> SocketAddr {
    let line = server.announced.iter().find_map(|line| line.strip_prefix("listening on https://"));
    line.and_then(|address| address.parse().ok()).expect("an address is announced")
}

/// Connects to a server, trusting only this certificate. The handshake happens with the first bytes.
pub(crate) fn connect(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    Ok(StreamOwned::new(connection, stream))
}
