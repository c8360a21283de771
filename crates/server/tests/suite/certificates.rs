//! TLS on a running server: the certificate is replaced while it runs, and a bad one never replaces a good one.

use crate::tls::{self, write_pair};
use nix::sys::signal::Signal;
use rustls::pki_types::CertificateDer;
use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;

/// Requests the health of a server, trusting only this certificate.
fn healthz(address: SocketAddr, trusted: &CertificateDer<'static>) -> io::Result<String> {
    let mut stream = tls::connect(address, trusted)?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    match stream.read_to_string(&mut answer) {
        // A connection that is cut after the answer is fine.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(answer),
    }
}

#[test]
fn sighup_swaps_the_certificate_and_a_bad_pair_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = write_pair(folder.path());
    let server = tls::start(folder.path(), &[]);
    let address = tls::address(&server);
    assert!(healthz(address, &first).expect("an answer").ends_with("ok\n"));

    fs::write(folder.path().join("key.pem"), "no key").expect("written");
    server.signal(Signal::SIGHUP);
    server.logged("the certificate could not be reloaded");
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
    let server = tls::start(folder.path(), &[]);
    let second = write_pair(folder.path());
    server.logged("the certificate was reloaded");
    assert!(healthz(tls::address(&server), &second).expect("an answer").ends_with("ok\n"));
}
