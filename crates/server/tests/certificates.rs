//! TLS on a running server: the certificate is swapped under it, and a bad one never replaces a good one.

mod throng;

use nix::sys::signal::Signal;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use throng::{DEADLINE, Throng};

/// Writes a fresh self-signed pair.
fn write_pair(folder: &Path) -> CertificateDer<'static> {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(folder.join("cert.pem"), pair.cert.pem()).expect("written");
    fs::write(folder.join("key.pem"), pair.signing_key.serialize_pem()).expect("written");
    pair.cert.der().clone()
}

/// Asks for the health of a server of which only this certificate is trusted.
fn healthz(address: SocketAddr, trusted: &CertificateDer<'static>) -> io::Result<String> {
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
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    match stream.read_to_string(&mut answer) {
        // A connection that is cut after the answer has told enough.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(answer),
    }
}

fn tls_address(server: &Throng) -> SocketAddr {
    let line = server.announced.iter().find_map(|line| line.strip_prefix("listening on https://"));
    line.and_then(|address| address.parse().ok()).expect("an address is announced")
}

fn start(folder: &Path) -> Throng {
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let certificate = format!("tls.certificate={}", certificate.display());
    let key = format!("tls.key={}", key.display());
    Throng::start(&["--set", "tls.listen=127.0.0.1:0", "--set", &certificate, "--set", &key])
}

#[test]
fn sighup_swaps_the_certificate_and_a_bad_pair_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = write_pair(folder.path());
    let server = start(folder.path());
    let address = tls_address(&server);
    assert!(healthz(address, &first).expect("an answer").ends_with("ok\n"));

    fs::write(folder.path().join("key.pem"), "no key").expect("written");
    server.signal(Signal::SIGHUP);
    server.logged("the certificate was not reloaded, the old one stays");
    assert!(healthz(address, &first).expect("an answer").ends_with("ok\n"));

    let second = write_pair(folder.path());
    server.signal(Signal::SIGHUP);
    server.logged("the certificate was reloaded");
    assert!(healthz(address, &second).expect("an answer").ends_with("ok\n"));
    assert!(healthz(address, &first).is_err());
}

#[test]
fn a_new_pair_of_files_is_noticed_without_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    write_pair(folder.path());
    let server = start(folder.path());
    let second = write_pair(folder.path());
    server.logged("the certificate was reloaded");
    assert!(healthz(tls_address(&server), &second).expect("an answer").ends_with("ok\n"));
}
