//! Open sockets that break the WebSocket protocol.

use faults::{Client, Fixture, compressed_zeros, frame_header, masked, upgrade_request};
use gateway::CloseReason;

const TOO_MUCH: usize = Fixture::MESSAGE_BYTES_MAX + 1;

/// Each alone on a fresh socket of both kinds of mounts.
fn assert_closed(fixture: &Fixture, code: u16, bytes: &[u8]) {
    for target in [Fixture::ECHO, Fixture::SOCKET] {
        let mut client = Client::open(fixture.address(), target);
        // The server may have seen enough before all is sent.
        let _ = client.try_send(bytes);
        assert_eq!(client.close_code(), Some(code), "{target}, {:?}", &bytes[..bytes.len().min(20)]);
    }
}

fn assert_in_order(fixture: &Fixture, violations: u64) {
    fixture.wait_until_empty();
    assert_eq!(fixture.closed(CloseReason::Violation), violations);
    fixture.assert_serves();
}

#[test]
fn a_frame_that_is_too_large_is_closed_with_1009() {
    let fixture = Fixture::start();
    let announced = frame_header(0x82, TOO_MUCH as u64);
    let absurd = frame_header(0x82, u64::MAX >> 1);
    let whole = masked(0x82, &vec![0; TOO_MUCH]);
    for bytes in [announced, absurd, whole] {
        assert_closed(&fixture, 1009, &bytes);
    }
    assert_in_order(&fixture, 6);
}

#[test]
fn fragments_that_add_up_to_too_much_are_closed_with_1009() {
    let fixture = Fixture::start();
    let halves = [masked(0x01, &[b'x'; TOO_MUCH / 2]), masked(0x00, &[b'x'; TOO_MUCH / 2 + 1])].concat();
    let mut many = masked(0x02, b"");
    for _ in 0..=TOO_MUCH / 1000 {
        many.extend(masked(0x00, &[0; 1000]));
    }
    for bytes in [halves, many] {
        assert_closed(&fixture, 1009, &bytes);
    }
    assert_in_order(&fixture, 4);
}

#[test]
fn text_that_is_not_utf_8_is_closed_with_1007() {
    let fixture = Fixture::start();
    let whole = masked(0x81, b"caf\xe9");
    let cut_short = masked(0x81, "café".as_bytes().split_last().expect("it has a last byte").1);
    let in_a_fragment = [masked(0x01, b"caf"), masked(0x00, b"\xc3"), masked(0x80, b"(")].concat();
    let surrogate = masked(0x81, b"\xed\xa0\x80");
    for bytes in [whole, cut_short, in_a_fragment, surrogate] {
        assert_closed(&fixture, 1007, &bytes);
    }
    assert_in_order(&fixture, 8);
}

#[test]
fn frames_that_the_protocol_forbids_are_closed_with_1002() {
    let fixture = Fixture::start();
    let table: [Vec<u8>; 9] = [
        b"\x81\x05hello".to_vec(),
        masked(0x83, b"a reserved opcode"),
        masked(0xa1, b"a reserved bit"),
        masked(0xc1, b"compressed, which nobody agreed on"),
        masked(0x09, b"a ping in fragments"),
        masked(0x89, &[0; 126]),
        masked(0x80, b"the rest of nothing"),
        [masked(0x01, b"one message"), masked(0x81, b"in another")].concat(),
        masked(0x88, b"x"),
    ];
    for bytes in &table {
        assert_closed(&fixture, 1002, bytes);
    }
    assert_in_order(&fixture, 2 * table.len() as u64);
}

#[test]
fn a_message_that_inflates_to_too_much_is_closed_with_1009() {
    let fixture = Fixture::start();
    let bomb = compressed_zeros(16);
    assert!(bomb.len() < Fixture::MESSAGE_BYTES_MAX, "small on the wire: {}", bomb.len());
    let (first, second) = bomb.split_at(bomb.len() / 2);
    let in_fragments = [masked(0x42, first), masked(0x80, second)].concat();
    for bytes in [masked(0xc1, &bomb), masked(0xc2, &bomb), in_fragments] {
        let mut client = open_with_compression(&fixture);
        client.send(&bytes);
        assert_eq!(client.close_code(), Some(1009));
    }
    assert_in_order(&fixture, 3);
}

#[test]
fn a_message_that_does_not_inflate_is_closed() {
    let fixture = Fixture::start();
    let mut client = open_with_compression(&fixture);
    client.send(&masked(0xc1, &[0xff; 100]));
    let code = client.close_code();
    assert!(matches!(code, Some(1002 | 1007)), "{code:?}");
    assert_in_order(&fixture, 1);
}

fn open_with_compression(fixture: &Fixture) -> Client {
    let mut client = Client::connect(fixture.address());
    client.send(&upgrade_request(Fixture::ECHO, "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
    let answer = client.answer();
    assert_eq!(answer.status, 101);
    assert!(answer.head.contains("permessage-deflate"), "{}", answer.head);
    client
}
