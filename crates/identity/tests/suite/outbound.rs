//! What a request to a host site can reach, and what it cannot.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use identity::{AddressPolicy, Outbound, OutboundError, Resolve, Resolving, Target};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::site::{DEADLINE, Site, answer, outbound, trusting};

/// Names with one answer per lookup; the last one repeats.
#[derive(Default)]
struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Names {
    fn one(name: &str, answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().expect("an address")).collect();
        let answers = HashMap::from([(name.to_owned(), answers.iter().map(parse).collect())]);
        Arc::new(Names { answers: Mutex::new(answers), asked: AtomicUsize::new(0) })
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().expect("no panic");
        let found = answers
            .get_mut(host)
            .map(|answers| if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() });
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

async fn get(outbound: &Outbound, target: &str) -> Result<identity::Response, OutboundError> {
    outbound.get(&Target::parse(target).expect("a target"), 1000, DEADLINE).await
}

#[tokio::test]
async fn private_addresses_are_not_reached() {
    let site = Site::start(|_| async { answer(200, "hidden") }).await;
    let public = Outbound::new(trusting(RootCertStore::empty()), AddressPolicy::public());
    let port = site.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let refused = get(&public, &format!("http://{host}:{port}/")).await.expect_err("private");
        assert_eq!(refused, OutboundError::AddressRefused { host: host.to_owned() });
    }
    for host in ["2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "[::1]"] {
        let refused = get(&public, &format!("https://{host}:{port}/")).await.expect_err("private");
        let harmless = matches!(refused, OutboundError::AddressRefused { .. })
            // If the system's resolver takes such a spelling for a name, that name does not exist.
            || matches!(&refused, OutboundError::Failed { why } if why.contains("lookup"));
        assert!(harmless, "{host}: {refused}");
    }
    assert!(site.seen().is_empty());
}

/// Listens at two addresses with the same port, one that is free at both.
async fn one_port_at([first, second]: [&str; 2]) -> [TcpListener; 2] {
    loop {
        let listener = TcpListener::bind((first, 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        match TcpListener::bind((second, port)).await {
            Ok(other) => return [listener, other],
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}"),
        }
    }
}

#[tokio::test]
async fn a_name_is_connected_to_at_a_permitted_address_only() {
    let [permitted, forbidden] = one_port_at(["127.0.0.2", "127.0.0.3"]).await;
    let permitted = Site::serve(permitted, |_| async { answer(200, "permitted") });
    let forbidden = Site::serve(forbidden, |_| async { answer(200, "forbidden") });
    let port = permitted.address.port();
    let names = Names::one("localhost", &[&["127.0.0.3", "127.0.0.2"], &["127.0.0.3"]]);
    let policy = AddressPolicy::public_and(vec!["127.0.0.2".parse().expect("a network")]);
    let outbound = Outbound::with_resolver(trusting(RootCertStore::empty()), policy, names.clone());
    let target = format!("http://localhost:{port}/");
    let answer = get(&outbound, &target).await.expect("one of its addresses is permitted");
    assert_eq!(&answer.body[..], b"permitted");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1, "what was checked is what was connected to");
    permitted.stop();
    // The name now has another address, as an attacker would change it after the check.
    let refused = loop {
        match get(&outbound, &target).await {
            Err(OutboundError::AddressRefused { host }) => break host,
            Ok(answer) => assert_eq!(&answer.body[..], b"permitted", "over the connection that was kept"),
            Err(OutboundError::Failed { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(refused, "localhost");
    assert!(forbidden.seen().is_empty());
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let trap = Site::start(|_| async { answer(200, "trapped") }).await;
    let location = format!("http://{}/", trap.address);
    let site = Site::start(move |_| {
        let mut redirect = answer(302, "");
        redirect.headers_mut().insert("location", location.parse().expect("a header"));
        async { redirect }
    })
    .await;
    let answered = get(&outbound(), &format!("http://{}/", site.address)).await.expect("an answer");
    assert_eq!(answered.status, 302);
    assert!(trap.seen().is_empty());
}

#[tokio::test]
async fn answers_are_bounded_in_bytes_and_time() {
    let site = Site::start(|seen| async move {
        match seen.path.as_str() {
            "/exact" => answer(200, vec![b'x'; 1000]),
            "/large" => answer(503, vec![b'x'; 1001]),
            _ => std::future::pending().await,
        }
    })
    .await;
    let outbound = outbound();
    let at = |path: &str| format!("http://{}{path}", site.address);
    assert_eq!(get(&outbound, &at("/exact")).await.expect("it fits").body.len(), 1000);
    let refused = get(&outbound, &at("/large")).await.expect_err("too large");
    assert_eq!(refused, OutboundError::TooLarge { status: 503, bytes_max: 1000 });
    let after = Duration::from_millis(50);
    let refused = outbound.get(&site.target("/never"), 1000, after).await.expect_err("no answer");
    assert_eq!(refused, OutboundError::Timeout { after });
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = accepted.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while socket.read(&mut request).await.is_ok_and(|read| read > 0) {
                    socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("it writes");
                }
            });
        }
    });
    let outbound = outbound();
    for _ in 0..5 {
        assert_eq!(get(&outbound, &format!("http://{address}/")).await.expect("an answer").status, 204);
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_encrypted_site_must_prove_its_name() {
    let cert = rcgen::generate_simple_self_signed(vec!["site.example".to_owned()]).expect("a certificate");
    let der = cert.cert.der().clone();
    let key = PrivateKeyDer::try_from(cert.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], key)
        .expect("a certificate and its key");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(socket).await else { continue };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsafe").await;
        }
    });
    let mut roots = RootCertStore::empty();
    roots.add(der).expect("an authority");
    let policy = AddressPolicy::public_and(vec!["127.0.0.1".parse().expect("a network")]);
    for (name, roots, safe) in [
        ("site.example", roots.clone(), true),
        ("other.example", roots, false),
        ("site.example", RootCertStore::empty(), false),
    ] {
        let names = Names::one(name, &[&["127.0.0.1"]]);
        let outbound = Outbound::with_resolver(trusting(roots), policy.clone(), names);
        match get(&outbound, &format!("https://{name}:{port}/")).await {
            Ok(answer) => assert!(safe && &answer.body[..] == b"safe", "{name}"),
            Err(OutboundError::Failed { why }) => {
                assert!(!safe && why.contains("certificate"), "{name}: {why}")
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
}
