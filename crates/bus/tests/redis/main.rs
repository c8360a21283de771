//! Tests specific to Redis and Valkey: authentication, permissions, and several instances.

#[path = "../node/mod.rs"]
mod node;

mod fake;

use fake::FakeRedis;
use hub::{AppendError, BusEvent, Span};

use node::redis_server::{Family, ask, on_redis_and_valkey};
use node::server::free_port;
use node::settings::{prompt, settings};
use node::{Node, json, person, texts};
use rcgen::{CertificateParams, KeyPair};
use std::fs;

/// The permissions that docs/operations.md lists for a dedicated user.
const RIGHTS: [&str; 16] = [
    "resetchannels",
    "~test:*",
    "&test:*",
    "-@all",
    "+@connection",
    "+info",
    "+script|load",
    "+evalsha",
    "+@pubsub",
    "+@stream",
    "+@hash",
    "+@set",
    "+@sortedset",
    "+@string",
    "+@keyspace",
    "+time",
];

on_redis_and_valkey! {
    a_wrong_or_missing_password_is_named_and_the_right_one_lets_in
    a_user_with_the_documented_rights_suffices_and_each_that_lacks_is_named
    topics_are_divided_among_the_instances_and_all_of_them_are_needed
    a_node_whose_lease_was_over_says_that_it_was_away
    a_node_goes_on_when_scripts_or_everything_was_flushed
    nothing_is_left_of_people_who_are_gone
    a_lease_that_was_over_is_cleared_whole_before_it_begins_again
    a_full_server_keeps_nothing_more_and_everything_else_goes_on
}

fn a_wrong_or_missing_password_is_named_and_the_right_one_lets_in(family: Family) {
    let server = family.start_with(&["--requirepass", "right"]);
    let with = |user: &str| Node::start(settings(&[&server.url().replace("//", &format!("//{user}"))]));
    for user in ["", ":wr0ng@", "ann:wr0ng@"] {
        let because = with(user).is_away_because("it rejects the login");
        assert!(
            because.contains("check user name and password in `bus.url`") && !because.contains("wr0ng"),
            "{because}"
        );
    }
    with(":right@").waits_for_up();
}

fn a_user_with_the_documented_rights_suffices_and_each_that_lacks_is_named(family: Family) {
    let server = family.start();
    let allow = |name: &str, rights: &[&str]| {
        let rule = [&["ACL", "SETUSER", name, "reset", "on", ">pass"], rights].concat();
        assert_eq!(ask(&server, &rule), "OK");
        server.url().replace("//", &format!("//{name}:pass@"))
    };
    let node = Node::up(settings(&[&allow("enough", &RIGHTS)]));
    node.subscribe("kept:a");
    node.append("kept:a", "1");
    node.ordered("kept:a");
    for (name, lacking, named) in [
        ("no-streams", "-@stream", "xadd"),
        ("no-scripts", "-evalsha", "evalsha"),
        ("no-channels", "resetchannels", "channel"),
        ("no-info", "-info", "info"),
        ("no-keys", "resetkeys", "key"),
    ] {
        let because = Node::start(settings(&[&allow(name, &[&RIGHTS[..], &[lacking]].concat())]))
            .is_away_because("the user lacks permissions");
        assert!(because.to_lowercase().contains(named), "{name}: {because}");
    }
}

#[test]
fn a_server_that_is_too_old_is_named_with_its_version() {
    let old = FakeRedis::start("6.2.14");
    let because = Node::start(settings(&[&old.url()])).is_away_because("it is too old");
    assert!(because.contains("6.2.14") && because.contains("Redis 7.0"), "{because}");
}

#[test]
fn tls_is_spoken_where_both_sides_speak_it_and_a_mismatch_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let (certificate_path, key_path) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    fs::write(&certificate_path, &certificate).expect("a file");
    fs::write(&key_path, key.serialize_pem()).expect("a file");
    let port = free_port();
    let path = |path: &std::path::Path| path.display().to_string();
    let (certificate_path, key_path, port_text) =
        (path(&certificate_path), path(&key_path), port.to_string());
    let server = Family::Redis.start_at(
        port,
        &[
            "--port",
            "0",
            "--tls-port",
            &port_text,
            "--tls-cert-file",
            &certificate_path,
            "--tls-key-file",
            &key_path,
            "--tls-auth-clients",
            "no",
        ],
    );
    let url = format!("rediss://localhost:{}", server.port);
    let known =
        bus::Settings { certificate_authority: Some(certificate_path.clone().into()), ..settings(&[&url]) };
    let node = Node::up(known);
    node.subscribe("kept:a");
    node.append("kept:a", "1");
    Node::start(settings(&[&url])).is_away_because("TLS failed");
    let plain = Node::start(settings(&[&server.url()]));
    plain.is_away_because("it cannot be reached");
    let other = Family::Redis.start();
    let encrypted = Node::start(prompt(settings(&[&other.url().replace("redis://", "rediss://")])));
    encrypted.is_away_because("TLS failed");
}

fn topics_are_divided_among_the_instances_and_all_of_them_are_needed(family: Family) {
    let (one, mut two) = (family.start(), family.start());
    let both = settings(&[&one.url(), &two.url()]);
    let (ann, bob) = (Node::up(both.clone()), Node::up(both));
    ann.sees_leases(&[ann.id, bob.id]);
    for number in 0..20 {
        let topic = format!("kept:{number}");
        bob.subscribe(&topic);
        ann.append(&topic, "1");
        bob.ordered(&topic);
        ann.publish(&topic, json("2"));
        bob.hears("a delivery", |event| match event {
            BusEvent::Delivered { publication, .. } => (*publication.topic == *topic).then_some(()),
            _ => None,
        });
    }
    for server in [&one, &two] {
        let orders: Vec<String> =
            ask(server, &["KEYS", "test:v1:order:*"]).lines().map(str::to_owned).collect();
        assert!((3..18).contains(&orders.len()), "{orders:?}");
    }
    two.kill();
    for node in [&ann, &bob] {
        node.waits_for_down();
    }
    two.start_again();
    for node in [&ann, &bob] {
        node.waits_for_up();
        node.sees_leases(&[ann.id, bob.id]);
    }
}

fn a_node_whose_lease_was_over_says_that_it_was_away(family: Family) {
    let server = family.start();
    let node = Node::up(server.settings());
    node.sees_leases(&[node.id]);
    assert_eq!(ask(&server, &["ZREM", "test:v1:leases", &format!("{:016x}", node.id.0)]), "1");
    node.waits_for_down();
    node.waits_for_up();
    node.sees_leases(&[node.id]);
}

fn a_node_goes_on_when_scripts_or_everything_was_flushed(family: Family) {
    let server = family.start();
    let node = Node::up(server.settings());
    let epoch = node.subscribe("kept:a").expect("it is recoverable").epoch;
    for command in ["SCRIPT", "FLUSHALL"] {
        let words: &[&str] = if command == "SCRIPT" { &["SCRIPT", "FLUSH"] } else { &["FLUSHALL"] };
        assert_eq!(ask(&server, words), "OK");
        node.waits_for_down();
        node.waits_for_up();
        assert_eq!(node.subscribe("kept:a").expect("it is recoverable").epoch == epoch, command == "SCRIPT");
        node.append("kept:a", "1");
        node.ordered("kept:a");
    }
}

fn nothing_is_left_of_people_who_are_gone(family: Family) {
    let server = family.start();
    let [ann, bob] = [(); 2].map(|()| Node::up(prompt(server.settings())));
    ann.sees_leases(&[ann.id, bob.id]);
    for number in 0..5 {
        ann.comes(&format!("rooms:{number}"), (1, 0), &node::person("ann", number));
    }
    ann.subscribe("rooms:end");
    assert_eq!(ask(&server, &["KEYS", "test:v1:people:*"]).lines().count(), 5);
    ann.kill();
    bob.sees_leases(&[bob.id]);
    assert_eq!(ask(&server, &["KEYS", "test:v1:people:*"]), "");
    assert_eq!(ask(&server, &["KEYS", "test:v1:topics:*"]), "");
}

fn a_lease_that_was_over_is_cleared_whole_before_it_begins_again(family: Family) {
    let server = family.start();
    let node = Node::up(server.settings());
    // More than are cleared at a time.
    for number in 0..2100 {
        node.comes(&format!("rooms:{number}"), (1, 0), &node::person("ann", 1));
    }
    node.subscribe("rooms:end");
    let topics = format!("test:v1:topics:{:016x}", node.id.0);
    assert_eq!(ask(&server, &["SCARD", &topics]), "2100");
    let over = ["ZADD", "test:v1:leases", "1", &format!("{:016x}", node.id.0)];
    assert_eq!(ask(&server, &over), "0");
    node.waits_for_down();
    node.waits_for_up();
    assert_eq!(ask(&server, &["SCARD", &topics]), "0");
    assert_eq!(ask(&server, &["KEYS", "test:v1:people:*"]), "");
}

fn a_full_server_keeps_nothing_more_and_everything_else_goes_on(family: Family) {
    let server = family.start();
    let (ann, bob) = (Node::up(server.settings()), Node::up(server.settings()));
    let begin = bob.subscribe("kept:a").expect("it is recoverable");
    bob.subscribe("rooms:a");
    let first = ann.append("kept:a", "1");
    assert_eq!(bob.ordered("kept:a").position, first);
    let set_maxmemory = |bytes| assert_eq!(ask(&server, &["CONFIG", "SET", "maxmemory", bytes]), "OK");
    set_maxmemory("1");
    for text in ["2", "3"] {
        let token = ann.asks_to_append("kept:a", text);
        assert_eq!(ann.append_answer(token), Err(AppendError::Unavailable));
    }
    ann.publish("rooms:a", json("4"));
    bob.hears("a delivery", |event| matches!(event, BusEvent::Delivered { .. }).then_some(()));
    ann.comes("rooms:a", (1, 0), &person("ann", 1));
    bob.hears("somebody who came", |event| matches!(event, BusEvent::Present { .. }).then_some(()));
    assert_eq!(bob.who_is_there("rooms:a")[0].people, [person("ann", 1)]);
    assert_eq!(texts(&bob.read("kept:a", Span::Oldest { since: begin.offset }).ordered), ["1"]);
    assert_eq!(ann.subscribe("kept:a"), Some(first.clone()));
    assert_eq!(ann.subscribe("kept:b").expect("it is recoverable").epoch, first.epoch);
    // A joining node makes the others renew their leases and check.
    let cat = Node::up(server.settings());
    for node in [&ann, &bob, &cat] {
        node.sees_leases(&[ann.id, bob.id, cat.id]);
    }
    set_maxmemory("0");
    ann.append("kept:a", "5");
    assert_eq!(bob.ordered("kept:a").previous, first.offset, "nothing came between");
    let [ann, bob] = [ann, bob].map(|node| node.status.snapshot());
    assert_eq!((ann.connects_total, ann.dropped_total), (1, 2));
    assert_eq!((bob.connects_total, bob.dropped_total), (1, 0));
}
