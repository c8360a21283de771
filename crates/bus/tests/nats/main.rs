//! What is NATS' own: who may connect and how, and what a server has to have.

#[path = "../node/mod.rs"]
mod node;

use node::Node;
use node::child::{free_port, settings};
use node::nats_server::NatsServer;
use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::io::Write;
use std::net::TcpListener;

#[test]
fn nobody_who_listens_is_named_with_the_address() {
    let node = Node::start(settings(&[&format!("nats://127.0.0.1:{}", free_port())]));
    node.is_away_because("it cannot be reached");
}

#[test]
fn a_wrong_or_missing_password_is_named_and_the_right_one_lets_in() {
    let server = NatsServer::start_with(&["--jetstream", "--user", "ann", "--pass", "right"]);
    let with = |user: &str| Node::start(settings(&[&server.url().replace("//", &format!("//{user}"))]));
    for user in ["", "ann:wr0ng@"] {
        let because = with(user).is_away_because("it does not let us in");
        assert!(!because.contains("wr0ng"), "{because}");
    }
    with("ann:right@").waits_for_up();
}

#[test]
fn a_server_without_jetstream_is_named() {
    let server = NatsServer::start_with(&[]);
    Node::start(server.settings()).is_away_because("JetStream");
}

#[test]
fn a_server_that_is_too_old_is_named_with_its_version() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let info = r#"{"server_id":"1","server_name":"1","version":"2.8.4","go":"","host":"","port":1,"proto":1,"headers":true,"max_payload":1048576}"#;
            let _ = stream.write_all(format!("INFO {info}\r\nPONG\r\n").as_bytes());
            // Kept open for as long as the test takes.
            std::mem::forget(stream);
        }
    });
    let node = Node::start(settings(&[&format!("nats://127.0.0.1:{port}")]));
    let because = node.is_away_because("it is too old");
    assert!(because.contains("2.8.4") && because.contains("NATS 2.9"), "{because}");
}

#[test]
fn tls_is_spoken_with_a_server_that_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let (certificate_path, key_path) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    fs::write(&certificate_path, certificate).expect("a file");
    fs::write(&key_path, key.serialize_pem()).expect("a file");
    let path = |path: &std::path::Path| path.display().to_string();
    let (certificate_text, key_text) = (path(&certificate_path), path(&key_path));
    let server = NatsServer::start_with(&[
        "--jetstream",
        "--tls",
        "--tlscert",
        &certificate_text,
        "--tlskey",
        &key_text,
    ]);
    let url = format!("tls://localhost:{}", server.port);
    let node = Node::up(bus::Settings { certificate_authority: Some(certificate_path), ..settings(&[&url]) });
    node.subscribe("kept:a");
    node.append("kept:a", "1");
    Node::start(settings(&[&url])).is_away_because("TLS fails");
}

#[test]
fn addresses_of_two_engines_are_no_bus() {
    let error = bus::Bus::new(settings(&["nats://127.0.0.1:1", "redis://127.0.0.1:1"])).err();
    assert_eq!(error, Some(bus::BadSettings::SeveralEngines));
}
