//! Peers that read too slowly, or not at all.

use axum::Router;
use faults::{Client, Connecting, FLOOD_MESSAGE_BYTES, Fixture, Opcode, frame, wait_until};
use gateway::{CloseReason, Component, Ended, Gateway, Limits};
use serde_json::{Value, json};

const OUTBOX_BYTES_MAX: usize = 64 << 10;
const NEWS_BYTES: usize = 32 << 10;
const NEWS_MAX: u64 = 2000;
/// More than the buffers of two sockets hold.
const PAGE_BYTES: usize = 32 << 20;

fn fixture() -> Fixture {
    Fixture::start_with(Limits { outbox_bytes_max: OUTBOX_BYTES_MAX, ..Limits::default() })
}

fn slow() -> Connecting<'static> {
    Connecting { receive_buffer_bytes: Some(4096), ..Connecting::default() }
}

/// Reads what came before the close, which is everything up to some point, and returns the code.
fn read_on(slow: &mut Client) -> Option<u16> {
    let mut expected = 0;
    loop {
        let frame = slow.frame();
        if frame.opcode == Opcode::Close {
            slow.end();
            return frame.close_code();
        }
        let message: Value = serde_json::from_slice(&frame.payload).expect("a whole message");
        assert_eq!(message[4]["number"], expected, "nothing is missing in between");
        expected += 1;
    }
}

fn publish_until_closed(fixture: &Fixture, topic: &str, others: &mut [Client]) {
    let (handle, filling) = (fixture.handle(), "x".repeat(NEWS_BYTES));
    let closed_before = fixture.closed(CloseReason::SlowConsumer);
    for number in 0.. {
        handle.broadcast(topic, "news", json!({ "number": number, "filling": filling })).expect("room");
        for other in &mut *others {
            assert_eq!(other.event(topic, "news")["number"], number, "each member gets each, in order");
        }
        if fixture.closed(CloseReason::SlowConsumer) > closed_before {
            return;
        }
        assert!(number < NEWS_MAX, "a member that reads nothing is never closed");
    }
}

#[test]
fn a_member_that_does_not_read_is_closed_with_1013_and_the_others_hear_everything() {
    let fixture = fixture();
    let mut others: Vec<Client> = (0..3).map(|_| Client::open(fixture.address(), Fixture::SOCKET)).collect();
    for (topic, tls) in [("room:plain", None), ("room:tls", Some(fixture.trust()))] {
        let address = if tls.is_some() { fixture.tls_address() } else { fixture.address() };
        let mut slow = Connecting { tls, ..slow() }.open(address, Fixture::SOCKET);
        for member in others.iter_mut().chain([&mut slow]) {
            assert_eq!(member.join(topic)["status"], "ok");
        }
        publish_until_closed(&fixture, topic, &mut others);
        assert_eq!(read_on(&mut slow), Some(1013));
        assert_eq!(fixture.channel_end(), (topic.to_owned(), Ended::Disconnected));
    }
    assert_eq!(fixture.closed(CloseReason::SlowConsumer), 2);
    drop(others);
    fixture.wait_until_empty();
}

#[test]
fn a_broadcast_that_many_do_not_read_is_in_the_memory_once() {
    const READERS: u64 = 20;
    let fixture = Fixture::start();
    let handle = fixture.handle();
    let mut readers: Vec<Client> =
        (0..READERS).map(|_| slow().open(fixture.address(), Fixture::SOCKET)).collect();
    for reader in &mut readers {
        assert_eq!(reader.join("room:crowd")["status"], "ok");
    }
    let filling = "x".repeat(NEWS_BYTES);
    let answered = handle.metrics().messages_out_total;
    // Both shards have their own copy, and the lists of what waits take some, too.
    let waiting = || (handle.metrics().outbox_bytes, handle.memory().bytes_of(Component::Outboxes));
    for number in 0..NEWS_MAX {
        handle
            .broadcast("room:crowd", "news", json!({ "number": number, "filling": filling }))
            .expect("room");
        // Published faster than the shards send, so much would wait at last that the readers are closed.
        wait_until("it is sent to everybody, or waits", || {
            handle.metrics().messages_out_total >= answered + (number + 1) * READERS
        });
        let (waits, _) = waiting();
        if waits > READERS * 4 * NEWS_BYTES as u64 {
            break;
        }
    }
    wait_until("all that waits is counted", || {
        let (waits, held) = waiting();
        held > 0 && held < waits / 4
    });
}

#[test]
fn a_handler_that_floods_ends_its_own_socket_alone() {
    let fixture = fixture();
    let mut neighbours: Vec<Client> =
        (0..4).map(|_| Client::open(fixture.address(), Fixture::SOCKET)).collect();
    let mut flooded = slow().open(fixture.address(), Fixture::SOCKET);
    for member in neighbours.iter_mut().chain([&mut flooded]) {
        assert_eq!(member.join("room:flood")["status"], "ok");
    }
    let messages = 12_000_000 / FLOOD_MESSAGE_BYTES;
    flooded.push("2", "room:flood", "flood", &json!({ "messages": messages }));
    assert_eq!(fixture.channel_end(), ("room:flood".to_owned(), Ended::Disconnected));
    for neighbour in &mut neighbours {
        assert_eq!(neighbour.ask("2", "room:flood", "echo", &json!({}))["status"], "ok");
    }
    assert_eq!(fixture.closed(CloseReason::SlowConsumer), 1);
    flooded.end();
}

#[test]
fn a_client_that_talks_and_never_listens_is_closed() {
    let fixture = fixture();
    let mut talker = slow().open(fixture.address(), Fixture::ECHO);
    let monologue = frame(Opcode::Binary, &[b'x'; 16 << 10]);
    while fixture.closed(CloseReason::SlowConsumer) == 0 {
        if talker.try_send(&monologue).is_err() {
            break;
        }
    }
    fixture.wait_until_empty();
    assert_eq!(fixture.closed(CloseReason::SlowConsumer), 1);
    fixture.assert_serves();
}

#[test]
fn a_client_that_reads_nothing_of_an_answer_by_http_loses_its_place() {
    let page = Router::new().fallback(|| async { "x".repeat(PAGE_BYTES) });
    let fixture = Fixture::build(Gateway::builder().http(page));
    let taken = || fixture.handle().memory().bytes_of(Component::HttpConnections);
    wait_until("a place is reserved for the next client by TLS", || taken() > 0);
    let idle = taken();
    let mut clients = Vec::new();
    for (tls, address) in [(None, fixture.address()), (Some(fixture.trust()), fixture.tls_address())] {
        let before = taken();
        let mut client = Connecting { tls, ..slow() }.connect(address);
        client.send(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
        wait_until("it has a place", || taken() > before);
        clients.push(client);
    }
    wait_until("both have lost their places", || taken() <= idle);
    clients.iter_mut().for_each(Client::end);
    fixture.assert_serves();
}
