//! A running server as people use it: the page, the probes, the lobby, the echo mount.

use crate::client::Client;
use crate::throng::{Throng, request, until};
use nix::sys::signal::Signal;

const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
/// The Origin of an old load generator: a host without a scheme.
const SCHEMELESS: &str = "Origin: 127.0.0.1\r\n";

#[test]
fn the_page_and_the_probes_are_answered() {
    let server = Throng::start(&[]);
    let root = server.get(server.address, "/");
    assert_eq!(root.status, 307);
    assert!(root.head.contains("location: /c/default/r/lobby"), "{}", root.head);
    let page = server.get(server.address, "/c/default/r/lobby");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html; charset=utf-8"), "{}", page.head);
    assert!(page.head.contains("content-security-policy: default-src 'none'"), "{}", page.head);
    for address in [server.address, server.admin] {
        assert_eq!(server.get(address, "/healthz").body, "ok\n");
        assert_eq!(server.get(address, "/readyz").body, "ready\n");
        assert_eq!(server.get(address, "/nothing").status, 404);
    }
    assert_eq!(server.get(server.address, "/metrics").status, 404);
    assert_eq!(server.get(server.address, "/api/topics").status, 404);
}

#[test]
fn people_in_the_lobby_see_and_hear_each_other() {
    let server = Throng::start(&[]);
    let mut ann = Client::open(server.address, SOCKET);
    ann.join("rooms:lobby", r#"{"presence":true,"key":"a","name":"Ann"}"#);
    // Her own diff may come before the state or after it.
    let state = std::iter::repeat_with(|| ann.hear_text()).find(|text| text.contains(r#""presence_state""#));
    assert!(state.is_some_and(|state| state.contains(r#""name":"Ann""#)));

    let mut bob = Client::open(server.address, SOCKET);
    bob.join("rooms:lobby", r#"{"name":"Bob"}"#);
    bob.send(r#"["1","2","rooms:lobby","new_msg",{"body":"<hi>"}]"#);
    let said = r#"[null,null,"rooms:lobby","new_msg",{"body":"<hi>","name":"Bob"}]"#;
    assert_eq!(bob.hear_text(), said);
    assert_eq!(bob.hear_text(), r#"["1","2","rooms:lobby","phx_reply",{"status":"ok","response":{}}]"#);
    let heard = std::iter::repeat_with(|| ann.hear_text()).find(|text| !text.contains("presence_diff"));
    assert_eq!(heard.as_deref(), Some(said));

    bob.send(r#"["1","3","rooms:lobby","new_msg",{"body":""}]"#);
    assert_eq!(
        bob.hear_text(),
        r#"["1","3","rooms:lobby","phx_reply",{"status":"error","response":{"reason":"a message must have 1 to 8192 bytes"}}]"#
    );
    bob.send(r#"["1","4","rooms:lobby","echo",[1,{"b":2}]]"#);
    assert_eq!(
        bob.hear_text(),
        r#"["1","4","rooms:lobby","phx_reply",{"status":"ok","response":[1,{"b":2}]}]"#
    );
}

#[test]
fn the_words_of_the_old_chat_example_still_work() {
    let server = Throng::start(&[]);
    let mut client = Client::open(server.address, "/socket/websocket");
    client.send(r#"{"topic":"rooms:lobby","event":"phx_join","payload":{},"ref":"1"}"#);
    client.hear_text();
    client.send(r#"{"topic":"rooms:lobby","event":"new:msg","payload":{"user":"u","body":"b"},"ref":"2"}"#);
    let heard: serde_json::Value = serde_json::from_str(&client.hear_text()).expect("JSON");
    assert_eq!(
        (&heard["event"], &heard["payload"]),
        (&"new:msg".into(), &serde_json::json!({"user": "u", "body": "b"}))
    );
}

#[test]
fn the_load_test_profile_says_so_and_admits_load_generators() {
    let mut server = Throng::start(&["--profile", "load-test"]);
    let warning = "profile load-test, not for the internet: idle timeout off, origins any, \
                   an origin without a scheme counts as a host, echo mount /echo";
    server.announces(warning);
    assert!(Client::try_open(server.address, SOCKET, SCHEMELESS).is_ok());
    let mut echo = Client::open(server.address, "/echo/websocket");
    echo.send("back");
    assert_eq!(echo.hear_text(), "back");
}

#[test]
fn the_standard_profile_admits_pages_of_its_own_host_only() {
    let server = Throng::start(&[]);
    let own = format!("Origin: http://{}\r\n", server.address);
    assert!(Client::try_open(server.address, SOCKET, &own).is_ok());
    for origin in [SCHEMELESS, "Origin: http://elsewhere.example\r\n"] {
        assert_eq!(Client::try_open(server.address, SOCKET, origin).err(), Some(403), "{origin}");
    }
    assert_eq!(Client::try_open(server.address, "/echo/websocket", "").err(), Some(404));
}

#[test]
fn one_address_may_open_so_many_connections_and_no_more() {
    let server = Throng::start(&["--set", "limits.connections_per_ip=2"]);
    let first = Client::open(server.address, SOCKET);
    let _second = Client::open(server.address, SOCKET);
    assert_eq!(Client::try_open(server.address, SOCKET, "").err(), Some(429));
    drop(first);
    // The place is free once the server has noticed the end of the first connection.
    until("the place is free again", || Client::try_open(server.address, SOCKET, "").ok());
}

#[test]
fn a_join_beyond_the_pace_is_answered_later_and_one_that_would_wait_too_long_is_told_when_to_come_back() {
    let pace = ["--set", "shards=1", "--set", "limits.joins_per_second=1", "--set", "limits.join_wait=1s"];
    let server = Throng::start(&pace);
    let mut client = Client::open(server.address, SOCKET);
    for room in ["first", "second", "third"] {
        client.send(&format!(r#"["1","1","rooms:{room}","phx_join",{{}}]"#));
    }
    // The first begins at once; the second waits for a second, and the third would have to wait for two.
    for (room, status) in [("first", "ok"), ("third", "error"), ("second", "ok")] {
        let answer = client.hear_text();
        assert!(answer.starts_with(&format!(r#"["1","1","rooms:{room}","phx_reply""#)), "{answer}");
        assert!(answer.contains(&format!(r#""status":"{status}""#)), "{answer}");
        assert_eq!(answer.contains(r#"{"reason":"overloaded","retry_after_ms":2000}"#), room == "third");
    }
    let scrape = server.get(server.admin, "/metrics").body;
    for line in ["throng_joins_waiting 0", "throng_joins_queued_total 1", "throng_joins_overloaded_total 1"] {
        assert!(scrape.lines().any(|found| found == line), "{line} in\n{scrape}");
    }
}

#[test]
fn the_log_is_quiet_under_load_and_keeps_the_token_secret() {
    let mut server = Throng::start(&["--set", "log.format=json", "--set", "shutdown.spread=0s"]);
    let mut clients: Vec<Client> = (0..100).map(|_| Client::open(server.address, SOCKET)).collect();
    for client in &mut clients {
        client.join("rooms:lobby", r#"{"presence":true}"#);
        client.send("this is no message");
    }
    drop(clients);
    server.api("GET", "/api/topics", "");
    server.signal(Signal::SIGTERM);
    server.exit_status();
    let lines = &server.last_lines;
    assert!((1..=3).contains(&lines.len()), "{lines:?}");
    for line in lines {
        assert!(!line.contains(&server.token()), "{line}");
        let entry: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
        assert_eq!(entry["level"], "INFO");
    }
}

/// An untrusted token, an unknown key, a guest's own token, and the operator's: whatever happens to them.
#[test]
fn no_token_that_anybody_shows_is_in_the_log_however_much_it_says() {
    let mut server = Throng::start(&["--set", "log.level=trace", "--set", "shutdown.spread=0s"]);
    let shown = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzZWNyZXQifQ.c2VjcmV0";
    let key = "thr_0123456789abcdef_secretsecretsecretsecret";
    let with_token = format!("/socket/websocket?vsn=2.0.0&community=default&token={shown}");
    let mut stranger = Client::open(server.address, &with_token);
    stranger.send(r#"["1","1","person:default/secret","phx_join",{}]"#);
    let refused = stranger.hear_text();
    assert!(refused.contains("token_invalid"), "{refused}");
    let mut guest = Client::open(server.address, "/socket/websocket?vsn=2.0.0&community=default&name=Ann");
    guest.send(r#"["1","1","room:default/lobby","phx_join",{}]"#);
    let came: serde_json::Value = serde_json::from_str(&guest.hear_text()).expect("a message");
    let own = came[4]["response"]["me"]["token"].as_str().expect("a guest has a token").to_owned();
    for credential in [shown, key, &own] {
        let answer = request(
            server.address,
            &format!(
                "GET /api/v1/rooms HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {credential}\r\n\r\n",
                server.address
            ),
        );
        assert!([200, 401, 403, 404].contains(&answer.status), "{}", answer.body);
    }
    server.api("GET", "/api/topics", "");
    drop((stranger, guest));
    server.signal(Signal::SIGTERM);
    server.exit_status();
    for line in &server.last_lines {
        for secret in [shown, key, &own, &server.token()] {
            assert!(!line.contains(secret), "{line}");
        }
    }
    assert!(server.last_lines.len() > 3, "it says much: {:?}", server.last_lines);
}

#[test]
fn a_room_in_the_path_is_for_load_balancers_and_changes_nothing_else() {
    let server = Throng::start(&["--set", "socket.room_in_path=true"]);
    for path in ["/socket/lobby/websocket", "/socket/caf%C3%A9/websocket", "/socket/websocket?room=lobby&"] {
        let separator = if path.contains('?') { "" } else { "?" };
        let mut client = Client::open(server.address, &format!("{path}{separator}vsn=2.0.0"));
        client.join("rooms:another", "{}");
    }
    let without = Throng::start(&[]);
    assert_eq!(without.get(without.address, "/socket/lobby/websocket").status, 404);
}
