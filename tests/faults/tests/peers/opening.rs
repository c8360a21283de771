//! Connections that never become a WebSocket.

use faults::{Client, Fixture, Opcode, frame};
use gateway::Limits;
use std::time::Duration;

/// How long a peer that drips its request waits between two bytes.
const DRIP: Duration = Duration::from_millis(20);

fn hasty() -> Fixture {
    Fixture::start_with(Limits { handshake_time_max: Duration::from_millis(700), ..Limits::default() })
}

/// Sends a request that never ends, byte by byte, until the server has something to say.
fn drip(client: &mut Client, start: &str) {
    let endless = start.bytes().chain(std::iter::repeat(b'x'));
    for byte in endless {
        if client.try_send(&[byte]).is_err() || !client.hears_nothing(DRIP) {
            return;
        }
    }
}

#[test]
fn garbage_instead_of_a_request_is_answered_400() {
    let fixture = Fixture::start();
    let text = frame(Opcode::Text, b"hello");
    let binary = frame(Opcode::Binary, b"");
    let table: [&[u8]; 8] = [
        &text,
        &binary,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /socket/websocket HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /socket/websocket HTTP/9.9\r\n\r\n",
        &[0; 40_000],
    ];
    for garbage in table {
        let mut client = Client::connect(fixture.address());
        client.send(garbage);
        assert_eq!(client.answer().status, 400, "{:?}", &garbage[..garbage.len().min(40)]);
        client.end();
    }
    fixture.wait_until_empty();
    assert_eq!(fixture.rejected("bad_request"), 8);
    fixture.assert_serves();
}

#[test]
fn random_bytes_are_refused_or_cut_on_every_port() {
    let fixture = hasty();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for length in [1, 2, 3, 10, 100, 1000, 20_000] {
        for address in [fixture.address(), fixture.tls_address()] {
            let mut client = Client::connect(address);
            let garbage: Vec<u8> = std::iter::repeat_with(&mut random).take(length).collect();
            // It may be cut before it has said everything.
            let _ = client.try_send(&garbage);
            client.end();
        }
    }
    fixture.wait_until_empty();
    fixture.assert_serves();
}

#[test]
fn a_connection_that_says_nothing_is_answered_408() {
    let fixture = hasty();
    let mut client = Client::connect(fixture.address());
    assert_eq!(client.answer().status, 408);
    client.end();
    let mut client = Client::connect(fixture.tls_address());
    client.end();
    fixture.wait_until_empty();
    assert_eq!(fixture.rejected("timeout"), 1);
}

#[test]
fn a_request_byte_by_byte_is_answered_408_within_the_time_for_a_handshake() {
    let fixture = hasty();
    for start in ["GET /socket/websocket HTTP/1.1\r\nX: ", "\r\n", "G"] {
        let mut client = Client::connect(fixture.address());
        drip(&mut client, start);
        assert_eq!(client.answer().status, 408, "{start:?}");
        client.end();
    }
    fixture.wait_until_empty();
    assert_eq!(fixture.rejected("timeout"), 3);
    fixture.assert_serves();
}

#[test]
fn a_second_request_and_a_tls_handshake_may_take_no_longer() {
    let fixture = hasty();
    let mut client = Client::connect(fixture.address());
    client.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    drip(&mut client, "GET /socket/websocket HTTP/1.1\r\nX: ");
    client.end();
    let mut client = Client::connect(fixture.tls_address());
    drip(&mut client, "\x16\x03\x01\x02\x00\x01\x00\x01\u{7c}\x03\x03");
    client.end();
    fixture.assert_serves();
}

#[test]
fn a_head_that_is_too_large_is_answered_431() {
    let fixture = Fixture::start();
    let start = "GET /socket/websocket HTTP/1.1\r\nHost: localhost\r\n";
    let one_long = format!("{start}X: {}\r\n\r\n", "x".repeat(17 << 10));
    let many_short = format!("{start}{}\r\n", "X: x\r\n".repeat(200));
    let long_target = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(17 << 10));
    let blank_lines = "\r\n".repeat(10 << 10);
    for request in [one_long, many_short, long_target, blank_lines] {
        let mut client = Client::connect(fixture.address());
        client.send(request.as_bytes());
        assert_eq!(client.answer().status, 431, "{}…", &request[..20]);
        client.end();
    }
    fixture.wait_until_empty();
    assert_eq!(fixture.rejected("header_bytes"), 4);
}

#[test]
fn a_second_request_is_held_to_the_same_size() {
    let fixture = Fixture::start();
    let mut client = Client::connect(fixture.address());
    client.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    client.send(
        format!("GET /nothing HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(40 << 10)).as_bytes(),
    );
    assert_eq!(client.answer().status, 431);
    client.end();
}

#[test]
fn a_body_byte_by_byte_does_not_hold_its_place_for_ever() {
    let fixture = Fixture::start();
    let mut client = Client::connect(fixture.address());
    client.send(b"GET /brief/longpoll?vsn=2.0.0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let session: serde_json::Value = serde_json::from_str(&client.answer().body).expect("JSON");
    let token = session["token"].as_str().expect("a new session");
    drip(
        &mut client,
        &format!(
            "POST /brief/longpoll?vsn=2.0.0&token={token} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
        ),
    );
    assert_eq!(client.answer().body, r#"{"status":408}"#);
    client.end();
}
