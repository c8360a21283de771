//! Sockets that reach a shard by way of the control plane, and frames that come before anybody asked for them.

use faults::{Client, Connecting, Fixture, Opcode, frame, frame_header, upgrade_request};
use serde_json::json;

const ROOM: &str = "room:adopted";
const PLAIN_REQUEST: &[u8] = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// An upgrade with a join and a message behind it.
fn opening() -> Vec<u8> {
    let join = json!(["1", "1", ROOM, "phx_join", {}]).to_string();
    let echo = json!(["1", "2", ROOM, "echo", { "is": "early" }]).to_string();
    let frames = [join, echo].map(|text| frame(Opcode::Text, text.as_bytes()));
    [upgrade_request(Fixture::SOCKET, ""), frames.concat()].concat()
}

fn assert_opened(client: &mut Client) {
    assert_eq!(client.answer().status, 101);
    assert_eq!(client.reply("1", ROOM)["status"], "ok");
    assert_eq!(client.reply("2", ROOM)["response"], json!({ "is": "early" }));
    client.heartbeat();
}

fn on_every_port(fixture: &Fixture, test: impl Fn(&mut Client)) {
    test(&mut Client::connect(fixture.address()));
    let by_tls = Connecting { tls: Some(fixture.trust()), ..Connecting::default() };
    test(&mut by_tls.connect(fixture.tls_address()));
    fixture.wait_until_empty();
}

#[test]
fn frames_in_the_request_s_own_segment_are_handled() {
    on_every_port(&Fixture::start(), |client| {
        client.send(&opening());
        assert_opened(client);
    });
}

#[test]
fn an_upgrade_may_be_the_second_request_of_a_connection() {
    on_every_port(&Fixture::start(), |client| {
        client.send(PLAIN_REQUEST);
        assert_eq!(client.answer().status, 404);
        client.send(&opening());
        assert_opened(client);
    });
}

#[test]
fn everything_may_come_in_one_segment() {
    on_every_port(&Fixture::start(), |client| {
        client.send(&[PLAIN_REQUEST, &opening()].concat());
        assert_eq!(client.answer().status, 404);
        assert_opened(client);
    });
}

#[test]
fn everything_may_come_byte_by_byte() {
    on_every_port(&Fixture::start(), |client| {
        for byte in [PLAIN_REQUEST, &opening()].concat() {
            client.send(&[byte]);
        }
        assert_eq!(client.answer().status, 404);
        assert_opened(client);
    });
}

#[test]
fn an_adopted_socket_is_held_to_the_same_protocol() {
    let fixture = Fixture::start();
    let too_much = frame_header(0x82, Fixture::MESSAGE_BYTES_MAX as u64 + 1);
    on_every_port(&fixture, |client| {
        client.send(&[PLAIN_REQUEST, &upgrade_request(Fixture::SOCKET, ""), &too_much].concat());
        assert_eq!(client.answer().status, 404);
        assert_eq!(client.answer().status, 101);
        assert_eq!(client.close_code(), Some(1009));
    });
    fixture.assert_serves();
}

#[test]
fn bytes_that_are_no_tls_end_an_adopted_socket_and_nothing_else() {
    let fixture = Fixture::start();
    let by_tls = Connecting { tls: Some(fixture.trust()), ..Connecting::default() };
    let mut neighbour = by_tls.open(fixture.tls_address(), Fixture::ECHO);
    let mut client = by_tls.open(fixture.tls_address(), Fixture::ECHO);
    client.send_beneath_tls(b"this is no record of TLS");
    client.end();
    neighbour.text("still here");
    assert_eq!(neighbour.message(), "still here");
    drop(neighbour);
    fixture.wait_until_empty();
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_its_upgrade_leaves_nothing_behind() {
    let fixture = Fixture::start();
    for _ in 0..20 {
        let mut client = Client::connect(fixture.address());
        client.send(&[PLAIN_REQUEST, &opening()].concat());
        client.reset();
    }
    fixture.assert_serves();
    fixture.wait_until_empty();
}
