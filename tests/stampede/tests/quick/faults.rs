//! Servers that do wrong: each has its counter, and the run says so by its exit status.

use std::io;
use std::net::TcpListener;

use stampede_tests::{Ended, Frame, Lab, Opcode, Peer, Server, Summary};

const USERS: u64 = 3;

/// A server's way to treat a connection.
type Wrong = fn(&mut Peer) -> io::Result<()>;

/// A server that does wrong before the WebSocket is open, and what connecting to it comes to.
const WRONG_HANDSHAKES: [(&str, Wrong, &str, u64); 12] = [
    ("never answers", Peer::ignore, "handshake_timeout", 0),
    ("resets", reset, "reset", 0),
    ("ends without an answer", |peer| peer.request().map(drop), "ended", 0),
    ("ends in the middle of its answer", |peer| answer(peer, "HTTP/1.1 101 Swi"), "ended", 0),
    ("answers with another protocol", |peer| answer(peer, "SSH-2.0-OpenSSH_9.6\r\n\r\n"), "protocol", 0),
    ("redirects", |peer| answer(peer, "HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n"), "redirect", 302),
    ("is busy", |peer| answer(peer, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "status", 503),
    ("serves a page", |peer| answer(peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), "status", 200),
    ("has the wrong accept key", |peer| switch(peer, "c29tZXRoaW5nIGVsc2U="), "bad_handshake", 101),
    ("has no accept key", |peer| switch(peer, ""), "bad_handshake", 101),
    (
        "chooses a subprotocol that was not offered",
        |peer| switch_with(peer, "Sec-WebSocket-Protocol: chat\r\n"),
        "bad_handshake",
        101,
    ),
    (
        "chooses an extension that was not offered",
        |peer| switch_with(peer, "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
        "bad_handshake",
        101,
    ),
];

/// A server that does wrong once the WebSocket is open, and how its clients lose it.
const WRONG_SERVERS: [(&str, Wrong, &str, u64); 6] = [
    ("closes early", |peer| after_a_message(peer, &Frame::close(1001).unmasked()), "closed", 1001),
    ("closes without a code", |peer| after_a_message(peer, &[0x88, 0]), "closed", 1005),
    ("ends without a close", |peer| after_a_message(peer, &[]), "ended", 0),
    ("sends garbage", |peer| after_a_message(peer, b"\xff\xff garbage \x00"), "protocol", 0),
    (
        "masks its frames",
        |peer| after_a_message(peer, &Frame::whole(Opcode::Text, "hi").masked()),
        "protocol",
        0,
    ),
    ("sends text that is none", |peer| after_a_message(peer, &[0x81, 2, 0xc3, 0x28]), "protocol", 0),
];

#[test]
fn each_wrong_handshake_has_its_counter() {
    let lab = Lab::new();
    for (name, wrong, outcome, code) in WRONG_HANDSHAKES {
        let server = Server::start(wrong);
        let ended = lab.play(&visitors(&server.url()));
        let summary = failed(name, &ended);
        assert_eq!(
            summary.errors("connect", outcome),
            (USERS, vec![code]),
            "{name}: {}",
            summary.0["errors"]
        );
        assert_eq!(summary.count("connects_failed"), USERS, "{name}");
        assert_eq!((summary.count("connects"), summary.count("sent")), (0, 0), "{name}");
    }
}

#[test]
fn each_way_of_losing_an_open_websocket_has_its_counter() {
    let lab = Lab::new();
    for (name, wrong, outcome, code) in WRONG_SERVERS {
        let server = Server::start(wrong);
        let ended = lab.play(&visitors(&server.url()));
        let summary = failed(name, &ended);
        let errors = &summary.0["errors"];
        assert_eq!(summary.errors("disconnect", outcome), (USERS, vec![code]), "{name}: {errors}");
        assert_eq!((summary.count("connects"), summary.count("sent")), (USERS, USERS), "{name}");
        assert_eq!(summary.count("disconnects"), USERS, "{name}");
        assert_eq!(summary.count("delivered"), 0, "{name}");
    }
}

#[test]
fn a_connection_that_is_reset_is_told_from_one_that_ends() {
    let server = Server::start(|peer| {
        peer.upgrade()?;
        peer.message()?;
        peer.reset_at_end()
    });
    let ended = Lab::new().play(&visitors(&server.url()));
    let summary = failed("resets an open WebSocket", &ended);
    assert_eq!(summary.errors("disconnect", "reset").0, USERS, "{}", summary.0["errors"]);
}

#[test]
fn where_nobody_listens_connects_are_refused() {
    let address =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let ended = Lab::new().play(&visitors(&format!("ws://{address}")));
    let summary = failed("nobody listens", &ended);
    assert_eq!(summary.errors("connect", "refused"), (USERS, vec![0]), "{}", summary.0["errors"]);
    let example = summary.0["errors"][0]["example"].as_str().unwrap_or_default();
    assert!(!example.is_empty(), "a first example is kept: {}", summary.0["errors"]);
}

#[test]
fn a_server_without_tls_fails_the_tls_handshake() {
    let server = Server::start(|peer| answer(peer, "HTTP/1.1 400 Bad Request\r\n\r\n"));
    let ended = Lab::new().play(&visitors(&format!("wss://{}", server.address())));
    let summary = failed("speaks no TLS", &ended);
    assert_eq!(summary.errors("connect", "tls"), (USERS, vec![0]), "{}", summary.0["errors"]);
}

#[test]
fn a_server_that_swallows_messages_makes_waits_time_out_and_messages_lost() {
    let server = Server::start(|peer| {
        peer.upgrade()?;
        while peer.message()?.is_some() {}
        Ok(())
    });
    let ended = Lab::new().play(&visitors(&server.url()));
    let summary = failed("swallows messages", &ended);
    assert_eq!(summary.errors("wait", "timeout"), (USERS, vec![0]), "{}", summary.0["errors"]);
    assert_eq!(summary.count("expected"), USERS);
    assert_eq!(summary.count("lost") + summary.count("in_flight"), USERS);
}

#[test]
fn a_server_that_answers_byte_by_byte_is_slow_and_not_wrong() {
    let server = Server::start(|peer| {
        let head = peer.request()?;
        let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap_or_default();
        let accept = stampede_tests::accept_key(key.trim());
        for byte in switching(&accept, "").bytes() {
            peer.write(&[byte])?;
        }
        while let Some(message) = peer.message()? {
            for byte in message.unmasked() {
                peer.write(&[byte])?;
            }
        }
        Ok(())
    });
    let ended = Lab::new().play(&visitors(&server.url()));
    let summary = ended.summary();
    assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
    assert_eq!((summary.count("delivered"), summary.count("users_finished")), (USERS, USERS));
    assert_eq!(ended.code, summary.exit_code(), "{}", ended.words());
}

/// Users who connect, send one message and wait for its echo.
fn visitors(url: &str) -> String {
    format!(
        "name: visitors
target: {url}
tls: {{ insecure: true }}
phases:
  - burst: {USERS}
drain: 1s
sessions:
  - name: visitor
    steps:
      - connect: {{ path: /, connect_timeout: 5s, handshake_timeout: 1s }}
      - send: {{ size: 64, audience: echo }}
      - wait: {{ echo: true, timeout: 1s }}
      - close
thresholds: errors == 0
"
    )
}

/// The summary of a run in which no user got what it came for.
fn failed(name: &str, ended: &Ended) -> Summary {
    let summary = ended.summary();
    assert_eq!(summary.count("users"), USERS, "{name}");
    assert_eq!((summary.count("users_finished"), summary.count("users_failed")), (0, USERS), "{name}");
    summary.assert_adds_up();
    assert_eq!(summary.0["thresholds"][0]["passed"], false, "{name}");
    assert_eq!(ended.code, summary.exit_code(), "{name}: {}", ended.words());
    assert_ne!(ended.code, 0, "{name}");
    summary
}

fn reset(peer: &mut Peer) -> io::Result<()> {
    peer.request()?;
    peer.reset_at_end()
}

fn answer(peer: &mut Peer, response: &str) -> io::Result<()> {
    peer.request()?;
    peer.write(response.as_bytes())
}

fn switching(accept: &str, more: &str) -> String {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    )
}

fn switch(peer: &mut Peer, accept: &str) -> io::Result<()> {
    answer(peer, &switching(accept, ""))?;
    peer.ignore()
}

fn switch_with(peer: &mut Peer, more: &str) -> io::Result<()> {
    let head = peer.request()?;
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap_or_default();
    peer.write(switching(&stampede_tests::accept_key(key.trim()), more).as_bytes())?;
    peer.ignore()
}

fn after_a_message(peer: &mut Peer, bytes: &[u8]) -> io::Result<()> {
    peer.upgrade()?;
    peer.message()?;
    peer.write(bytes)?;
    if bytes.is_empty() {
        return Ok(());
    }
    peer.ignore()
}
