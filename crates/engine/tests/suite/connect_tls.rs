//! Outgoing connections that use TLS: which peers they trust, and what goes through them.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::caller::{Call, Fixture, PATIENCE, Post, Seen, config, loopback, value, wait_until};
use engine::{EndCause, EngineConfig, Tables};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, ServerConnection, SignatureScheme,
    StreamOwned,
};

type Session = StreamOwned<ServerConnection, TcpStream>;

/// Returns a server's configuration for `localhost`, and that of a client that trusts its certificate authority.
fn configurations() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);

    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let server = ServerConfig::builder().with_no_client_auth();
    let server = server.with_single_cert(vec![leaf.der().clone()], key).unwrap();

    let mut roots = RootCertStore::empty();
    roots.add(authority_certificate.der().clone()).unwrap();
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    (Arc::new(server), Arc::new(client))
}

fn name(name: &'static str) -> ServerName<'static> {
    ServerName::try_from(name).unwrap()
}

/// Serves one client; the first read or write does the handshake.
fn serve<T: Send + 'static>(
    config: &Arc<ServerConfig>,
    serve: impl FnOnce(Session) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let session = ServerConnection::new(Arc::clone(config)).unwrap();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        serve(StreamOwned::new(session, stream))
    });
    (address, thread)
}

/// Echoes what it receives, until the end.
fn echo(mut session: Session) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = session.read(&mut buffer) {
        session.write_all(&buffer[..length]).unwrap();
    }
}

#[test]
fn a_peer_with_a_certificate_of_a_trusted_authority_is_talked_to() {
    let (server, client) = configurations();
    for tables in [Tables::Shared, Tables::Private] {
        let (remote, thread) = serve(&server, echo);
        let fixture = Fixture::start_with(EngineConfig { tables, ..EngineConfig::new(vec![]) });
        let counters = fixture.counters();
        let tls = Some((Arc::clone(&client), name("localhost")));
        fixture.call(Call { tls, early: b"one ", greeting: b"two ", ..Call::new(1, remote) });
        fixture.wait_for(|seen| *seen == Seen::Connected(1));
        fixture.say(1, b"three");
        assert_eq!(fixture.hear(1, 13), b"one two three");
        assert_eq!((value(&counters.bytes_in), value(&counters.bytes_out)), (13, 13));
        assert_eq!((value(&counters.connecting), value(&counters.connect_errors_total)), (0, 0));
        fixture.post(Post::Close(1));
        assert_eq!(fixture.wait_for_end(), EndCause::Local);
        thread.join().unwrap();
    }
}

#[test]
fn each_version_of_the_protocol_is_spoken() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (server, certificate) = self_signed(version);
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let (remote, _thread) = serve(&server, echo);
        let fixture = Fixture::start();
        let tls = Some((Arc::new(client), name("localhost")));
        fixture.call(Call { tls, greeting: b"hello", ..Call::new(1, remote) });
        assert_eq!(fixture.hear(1, 5), b"hello");
    }
}

/// Returns a server's configuration that supports one version, and the certificate to trust.
fn self_signed(
    version: &'static rustls::SupportedProtocolVersion,
) -> (Arc<ServerConfig>, CertificateDer<'static>) {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
    let certificate = certified.cert.der().clone();
    let config = ServerConfig::builder_with_protocol_versions(&[version])
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    (Arc::new(config), certificate)
}

#[test]
fn much_text_goes_both_ways_in_order() {
    let (server, client) = configurations();
    let (remote, _thread) = serve(&server, echo);
    let fixture = Fixture::start();
    let tls = Some((client, name("localhost")));
    let text: Vec<u8> = (0..40_000u32).flat_map(u32::to_be_bytes).collect();
    fixture.call(Call { tls, ..Call::new(1, remote) });
    fixture.say(1, &text);
    assert_eq!(fixture.hear(1, text.len()), text);
    let counters = fixture.counters();
    wait_until(&counters.outbox_bytes, 0);
}

#[test]
fn a_peer_of_another_name_is_not() {
    let (server, client) = configurations();
    let (remote, thread) = serve(&server, |mut session| session.read(&mut [0; 8]).unwrap_err());
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let tls = Some((client, name("elsewhere.example")));
    fixture.call(Call { tls, early: b"secret", ..Call::new(1, remote) });
    assert_eq!(fixture.next(), Seen::Begun(1));
    let Seen::TlsError(1, error) = fixture.next() else { panic!("TLS says why") };
    assert!(error.contains("elsewhere.example"), "{error}");
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Tls));
    assert_eq!((value(&counters.connecting), value(&counters.connect_errors_total)), (0, 1));
    assert_eq!(value(&counters.bytes_out), 0, "nothing is said to whom is not trusted");
    // RFC 8446, section 6.2: the peer is told why.
    let told = thread.join().unwrap().to_string();
    assert!(told.contains("BadCertificate"), "{told}");
}

#[test]
fn a_peer_of_an_unknown_authority_is_not() {
    let (server, _) = configurations();
    let (_, client) = configurations();
    let (remote, _thread) = serve(&server, echo);
    let fixture = Fixture::start();
    fixture.call(Call { tls: Some((client, name("localhost"))), ..Call::new(1, remote) });
    let Seen::TlsError(1, error) = fixture.wait_for(|seen| *seen != Seen::Begun(1)) else { panic!() };
    assert!(error.contains("invalid peer certificate"), "{error}");
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Tls));
}

/// Trusts everyone who has the key of the certificate shown.
#[derive(Debug)]
struct Credulous(CryptoProvider);

impl ServerCertVerifier for Credulous {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[test]
fn whom_to_trust_is_the_callers_choice() {
    let (server, _) = configurations();
    let (remote, _thread) = serve(&server, echo);
    let verifier = Arc::new(Credulous(rustls::crypto::ring::default_provider()));
    let client = ClientConfig::builder().dangerous().with_custom_certificate_verifier(verifier);
    let client = Arc::new(client.with_no_client_auth());
    let fixture = Fixture::start();
    let tls = Some((client, name("whoever.example")));
    fixture.call(Call { tls, greeting: b"hello", ..Call::new(1, remote) });
    assert_eq!(fixture.hear(1, 5), b"hello");
}

#[test]
fn a_peer_that_closes_in_the_middle_of_the_handshake_is_told_apart() {
    let (_, client) = configurations();
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    let remote = listener.local_addr().unwrap();
    let fixture = Fixture::start();
    fixture.call(Call { tls: Some((client, name("localhost"))), ..Call::new(1, remote) });
    let (mut stream, _) = listener.accept().unwrap();
    // The whole ClientHello is read, so that the close is orderly.
    let mut head = [0; 5];
    stream.read_exact(&mut head).unwrap();
    let mut rest = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
    stream.read_exact(&mut rest).unwrap();
    drop(stream);
    assert_eq!(fixture.next(), Seen::Begun(1));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Reset(ErrorKind::UnexpectedEof)));
    assert_eq!(value(&fixture.counters().connect_errors_total), 1);
}

#[test]
fn a_peer_that_does_not_speak_tls_is_told_apart() {
    let (_, client) = configurations();
    // It echoes the ClientHello, which only a client may send.
    let fixture = Fixture::start_with(config());
    let remote = fixture.engine.local_addresses()[0];
    fixture.call(Call { tls: Some((client, name("localhost"))), ..Call::new(1, remote) });
    fixture.wait_for(|seen| matches!(seen, Seen::TlsError(1, _)));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Tls));
}

#[test]
fn nobody_listens_behind_a_port_for_tls() {
    let (_, client) = configurations();
    let remote = TcpListener::bind(loopback(1, 0)).unwrap().local_addr().unwrap();
    let fixture = Fixture::start();
    fixture.call(Call { tls: Some((client, name("localhost"))), ..Call::new(1, remote) });
    match fixture.wait_for(|seen| !matches!(seen, Seen::Begun(1))) {
        Seen::Ended(1, EndCause::Reset(ErrorKind::ConnectionRefused)) => {}
        Seen::Failed(1, ErrorKind::ConnectionRefused, _) => {}
        other => panic!("{other:?}"),
    }
    wait_until(&fixture.counters().extra_bytes, 0);
}

#[test]
fn the_end_that_the_peer_announces_is_one() {
    let (server, client) = configurations();
    let (remote, thread) = serve(&server, |mut session| {
        session.write_all(b"farewell").unwrap();
        session.conn.send_close_notify();
        session.flush().unwrap();
        session
    });
    let fixture = Fixture::start();
    fixture.call(Call { tls: Some((client, name("localhost"))), ..Call::new(1, remote) });
    assert_eq!(fixture.hear(1, 8), b"farewell");
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::PeerClosed));
    drop(thread.join());
}

#[test]
fn decrypted_bytes_of_a_paused_connection_come_with_the_resumption() {
    let (server, client) = configurations();
    // Records that arrive together, each of which contains the byte that reading pauses at.
    let (remote, _thread) = serve(&server, |mut session| {
        for number in 0..10 {
            session.write_all(format!("{number:0>9999}.").as_bytes()).unwrap();
        }
        session
    });
    let fixture = Fixture::start();
    let tls = Some((client, name("localhost")));
    fixture.call(Call { tls, pause_at: Some(b'.'), ..Call::new(1, remote) });
    let mut heard = Vec::new();
    while heard.len() < 100_000 {
        match fixture.next() {
            Seen::Heard(1, bytes) => {
                heard.extend_from_slice(&bytes);
                if bytes.contains(&b'.') {
                    let told = fixture.told_until_now();
                    assert_eq!(told, [], "a paused connection is not heard");
                    fixture.post(Post::Resume(1));
                }
            }
            Seen::Begun(1) | Seen::Connected(1) => {}
            other => panic!("{other:?}"),
        }
    }
    let expected: String = (0..10).map(|number| format!("{number:0>9999}.")).collect();
    assert_eq!(heard, expected.as_bytes());
}
