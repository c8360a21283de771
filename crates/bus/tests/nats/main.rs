//! Tests specific to NATS: authentication, and the requirements on a server.

#[path = "../node/mod.rs"]
mod node;

use bus::{Settings, State, Times};
use hub::BusEvent;
use node::server::{Server, free_port};
use node::settings::{prompt, settings};
use node::{Node, json, nats_server, person};
use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

#[test]
fn a_wrong_or_missing_password_is_named_and_the_right_one_lets_in() {
    let server = nats_server::start_with(&["--jetstream", "--user", "ann", "--pass", "r@ght"]);
    let with = |user: &str| Node::start(settings(&[&server.url().replace("//", &format!("//{user}"))]));
    for user in ["", "ann:wr0ng@"] {
        let because = with(user).is_away_because("it rejects the login");
        assert!(!because.contains("wr0ng"), "{because}");
    }
    with("ann:r%40ght@").waits_for_up();
    let server = nats_server::start_with(&["--jetstream", "--auth", "t0ken"]);
    Node::start(settings(&[&server.url().replace("//", "//t0ken@")])).waits_for_up();
}

#[test]
fn a_server_without_jetstream_is_named_where_topics_have_a_history_and_suffices_where_none_has() {
    let server = nats_server::start_with(&[]);
    Node::start(server.settings()).is_away_because("it does not provide JetStream");
    let fleeting = Settings { histories: hub::Histories::default(), ..server.settings() };
    let [ann, bob] = [(); 2].map(|()| Node::up(fleeting.clone()));
    bob.subscribe("kept:a");
    ann.publish("kept:a", json("1"));
    delivered(&bob);
}

#[test]
fn a_user_with_the_documented_rights_suffices_and_each_that_lacks_is_named() {
    let enough = [
        r#""test-v1.>", "_INBOX.>", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.DIRECT.GET.>""#,
        r#""test-v1.>", "_INBOX.>""#,
    ];
    let start = |publish: &str, subscribe: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("nats.conf");
        let rights = format!("{{ publish: [{publish}], subscribe: [{subscribe}] }}");
        let user = format!("{{ user: ann, password: pass, permissions: {rights} }}");
        fs::write(&file, format!("jetstream {{}}\nauthorization {{ users = [{user}] }}\n")).expect("a file");
        let server = nats_server::start_with(&["--config", &file.display().to_string()]);
        let settings = settings(&[&server.url().replace("//", "//ann:pass@")]);
        (server, Node::start(settings))
    };
    let (_server, node) = start(enough[0], enough[1]);
    node.waits_for_up();
    node.subscribe("kept:a");
    node.append("kept:a", "1");
    node.ordered("kept:a");
    node.read("kept:a", hub::Span::Oldest { since: 0 });
    for (publish, subscribe, named) in [
        (enough[0].replace("STREAM.INFO", "NOTHING"), enough[1].to_owned(), "$JS.API.STREAM.INFO"),
        (enough[0].replace("STREAM.CREATE", "NOTHING"), enough[1].to_owned(), "$JS.API.STREAM.CREATE"),
        (enough[0].replace("DIRECT", "NOTHING"), enough[1].to_owned(), "$JS.API.DIRECT"),
        (enough[0].replace("test-v1.>", "test-v1.order.>"), enough[1].to_owned(), "test-v1.marks"),
        (enough[0].replace("test-v1.>", "test-v1.marks.>"), enough[1].to_owned(), "test-v1.order"),
        (enough[0].to_owned(), enough[1].replace("test-v1.>", "test-v1.who"), "test-v1.nodes"),
        (enough[0].to_owned(), enough[1].replace("test-v1.>", "test-v1.nodes"), "test-v1.everybody"),
        (enough[0].to_owned(), enough[1].replace("_INBOX.>", "nothing"), "_INBOX"),
    ] {
        let (_server, node) = start(&publish, &subscribe);
        let because = node.is_away_because("the user lacks permissions");
        assert!(because.contains(named), "{named}: {because}");
    }
}

#[test]
fn a_server_that_is_too_old_is_named_with_its_version() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let info = r#"{"server_id":"1","server_name":"1","version":"2.8.4","go":"","host":"","port":1,"proto":1,"headers":true,"max_payload":1048576}"#;
            let _ = stream.write_all(format!("INFO {info}\r\nPONG\r\n").as_bytes());
            // Kept open for the duration of the test.
            std::mem::forget(stream);
        }
    });
    let node = Node::start(settings(&[&format!("nats://127.0.0.1:{port}")]));
    let because = node.is_away_because("it is too old");
    assert!(because.contains("2.8.4") && because.contains("NATS 2.9"), "{because}");
}

#[test]
fn tls_is_spoken_where_both_sides_speak_it_and_a_mismatch_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let (certificate_path, key_path) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    fs::write(&certificate_path, certificate).expect("a file");
    fs::write(&key_path, key.serialize_pem()).expect("a file");
    let path = |path: &std::path::Path| path.display().to_string();
    let (certificate_text, key_text) = (path(&certificate_path), path(&key_path));
    let server = nats_server::start_with(&[
        "--jetstream",
        "--tls",
        "--tlscert",
        &certificate_text,
        "--tlskey",
        &key_text,
    ]);
    let url = format!("tls://localhost:{}", server.port);
    let node = Node::up(Settings { certificate_authority: Some(certificate_path), ..settings(&[&url]) });
    node.subscribe("kept:a");
    node.append("kept:a", "1");
    Node::start(settings(&[&url])).is_away_because("TLS failed");
    // A server that requires TLS says so first, and is not trusted by the system's certificates.
    Node::start(settings(&[&server.url()])).is_away_because("TLS failed");
    let plain = nats_server::start();
    Node::start(prompt(settings(&[&plain.url().replace("nats://", "tls://")]))).is_away_because("TLS failed");
}

#[test]
fn a_file_without_certificates_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.pem");
    fs::write(&path, "nothing").expect("a file");
    let settings = Settings { certificate_authority: Some(path.clone()), ..settings(&["tls://127.0.0.1:1"]) };
    let detail = "the file has no certificate".to_owned();
    assert_eq!(bus::Bus::new(settings).err(), Some(bus::BadSettings::BadCertificates(path, detail)));
}

#[test]
fn what_a_cluster_of_servers_keeps_is_there_when_one_of_them_has_ended() {
    let ports = [(); 3].map(|()| free_port());
    let routes = ports.map(|port| format!("nats://127.0.0.1:{port}")).join(",");
    let start = |port: u16| {
        let (name, cluster) = (format!("server-{port}"), format!("nats://127.0.0.1:{port}"));
        let words = ["--jetstream", "--server_name", &name, "--cluster_name", "test", "--cluster", &cluster];
        nats_server::start_with(&[&words[..], &["--routes", &routes]].concat())
    };
    let mut servers = ports.map(start);
    let [_, two, three] = servers.each_ref().map(Server::url);
    // Requests made while the servers elect a leader are never answered, and have to be repeated.
    let insistent = |urls: &[&str]| {
        let settings = settings(urls);
        Settings { times: Times { answer_max: Duration::from_secs(3), ..settings.times }, ..settings }
    };
    let (ann, bob) = (Node::up(insistent(&[&two])), Node::up(insistent(&[&three])));
    for node in [&ann, &bob] {
        node.sees_leases(&[ann.id, bob.id]);
    }
    let begin = bob.subscribe("kept:a").expect("it is recoverable");
    let mut reached = begin.offset;
    for number in 0..20 {
        let told = ann.append("kept:a", &number.to_string());
        let ordered = bob.ordered("kept:a");
        assert_eq!((&ordered.position, ordered.previous), (&told, reached));
        reached = told.offset;
    }
    servers[0].kill();
    let cat = Node::up(insistent(&[&two, &three]));
    let position = cat.subscribe("kept:a").expect("it is recoverable");
    assert_eq!((position.offset, &position.epoch), (reached, &begin.epoch));
    assert_eq!(cat.read("kept:a", hub::Span::Oldest { since: begin.offset }).ordered.len(), 20);
    cat.append("kept:a", "20");
}

#[test]
fn where_none_of_several_servers_answers_each_is_tried_and_the_reason_is_told() {
    let nobody = [(); 3].map(|()| format!("nats://127.0.0.1:{}", free_port()));
    Node::start(prompt(settings(&nobody.each_ref().map(String::as_str)))).is_away_because("refused");
}

#[test]
fn addresses_of_two_engines_are_no_bus() {
    let error = bus::Bus::new(settings(&["nats://127.0.0.1:1", "redis://127.0.0.1:1"])).err();
    assert_eq!(error, Some(bus::BadSettings::SeveralEngines));
}

#[test]
fn what_is_larger_than_the_server_takes_is_refused_and_counted_and_everything_else_goes_on() {
    let server = nats_server::start();
    let [ann, bob] = [(); 2].map(|()| Node::up(server.settings()));
    bob.subscribe("rooms:a");
    let large = "x".repeat(2 << 20);
    ann.publish("rooms:a", json(&large));
    let token = ann.asks_to_append("kept:a", &large);
    assert_eq!(ann.append_answer(token), Err(hub::AppendError::Unavailable));
    assert_eq!(ann.status.snapshot().dropped_total, 2);
    ann.publish("rooms:a", json("small"));
    delivered(&bob);
    assert!(matches!(ann.status.state(), State::Up { .. }));
}

#[test]
fn a_stream_that_was_deleted_is_made_again_with_another_epoch_and_gives_no_offset_twice() {
    let server = nats_server::start();
    let node = Node::up(server.settings());
    let begin = node.subscribe("kept:a").expect("it is recoverable");
    let lost = (0..5).map(|number| node.append("kept:a", &number.to_string())).last().expect("five");
    nats_server::ask(&server, "$JS.API.STREAM.DELETE.test-v1-1000-600000");
    let token = node.asks_to_append("kept:a", "unheard");
    node.waits_for_down();
    node.waits_for_up();
    assert!(
        !node
            .rest()
            .iter()
            .any(|event| matches!(event, BusEvent::Appended { token: of, .. } if *of == token))
    );
    let anew = node.subscribe("kept:a").expect("it is recoverable");
    assert_ne!(anew.epoch, begin.epoch);
    assert!(node.append("kept:a", "new").offset > lost.offset);
}

#[test]
fn a_node_that_was_given_up_begins_anew_and_brings_its_people_back() {
    let server = nats_server::start();
    let [ann, bob] = [(); 2].map(|()| Node::up(server.settings()));
    for node in [&ann, &bob] {
        node.sees_leases(&[ann.id, bob.id]);
    }
    ann.comes("rooms:a", (1, 0), &person("ann", 1));
    // A message that a node sends when it has not heard this one for too long.
    let over = [&[b'o'][..], &ann.id.0.to_be_bytes(), &0_u64.to_be_bytes()].concat();
    nats_server::publish(&server, "test-v1.nodes", &over);
    ann.waits_for_down();
    ann.waits_for_up();
    ann.comes("rooms:a", (2, 0), &person("ann", 1));
    ann.subscribe("rooms:end");
    assert_eq!(bob.who_is_there("rooms:a").len(), 1);
    assert_eq!((ann.status.snapshot().connects_total, bob.status.snapshot().connects_total), (2, 1));
}

fn delivered(node: &Node) {
    node.hears("a delivery", |event| matches!(event, BusEvent::Delivered { .. }).then_some(()));
}
