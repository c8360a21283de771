//! Users that connect with TLS.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::play::servers::{header, serve};
use crate::play::{connect, own_echo, plan, play, stamped};
use load::observe::{Kind, Outcome};
use load::scenario::plan::{Action, Audience, Plan, TlsTrust};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A TLS server that answers one upgrade and echoes short frames, unmasked. Returns its certificate.
fn tls_echo() -> (SocketAddr, String) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let pem = made.cert.pem();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a configuration");
    let config = Arc::new(config);
    let address = serve(move |stream| {
        let session = rustls::ServerConnection::new(Arc::clone(&config)).expect("a session");
        let mut stream = rustls::StreamOwned::new(session, stream);
        drop(echo(&mut stream));
    });
    (address, pem)
}

fn echo(stream: &mut (impl Read + Write)) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let key = header(&String::from_utf8_lossy(&head), "sec-websocket-key").unwrap_or_default();
    let accept = proto::handshake::accept_key(&key);
    write!(
        stream,
        "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )?;
    loop {
        let mut start = [0; 6];
        stream.read_exact(&mut start)?;
        let mut payload = vec![0; usize::from(start[1] & 0x7F)];
        stream.read_exact(&mut payload)?;
        for (byte, mask) in payload.iter_mut().zip(start[2..6].iter().cycle()) {
            *byte ^= mask;
        }
        stream.write_all(&[&[start[0], payload.len() as u8][..], &payload].concat())?;
        stream.flush()?;
    }
}

fn secure(server: SocketAddr, trust: TlsTrust) -> Plan {
    let steps = vec![
        Action::Connect(connect()),
        stamped(Audience::Echo),
        own_echo(),
        Action::Close { code: 1000, reason: String::new() },
    ];
    let mut plan = plan(server, steps);
    plan.targets[0].tls = true;
    plan.tls = trust;
    plan
}

#[test]
fn a_certificate_is_trusted_by_its_authority_or_not_at_all() {
    let (server, pem) = tls_echo();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("authority.pem");
    std::fs::write(&path, pem).expect("a file");
    let cases = [
        (TlsTrust { authorities: Some(path), insecure: false }, Outcome::Ok),
        (TlsTrust { authorities: None, insecure: true }, Outcome::Ok),
        (TlsTrust::default(), Outcome::Tls),
    ];
    for (trust, outcome) in cases {
        let run = play(secure(server, trust.clone()));
        run.assert_complete();
        assert_eq!(run.outcomes(Kind::Connect), [outcome], "{trust:?}");
        assert_eq!(run.outcomes(Kind::Finish), [outcome]);
        assert_eq!(run.count(Kind::Receive, Outcome::Ok), usize::from(outcome == Outcome::Ok));
    }
}
