//! Peers that are no longer there, or behave as if.

use faults::{Client, Connecting, Fixture, masked};
use gateway::{CloseReason, Ended};
use serde_json::json;

const HALL: &str = "room:hall";

fn assert_ended(fixture: &Fixture) {
    assert_eq!(fixture.channel_end(), (HALL.to_owned(), Ended::Disconnected));
}

fn present(fixture: &Fixture, connecting: Connecting<'_>) -> Client {
    let address = if connecting.tls.is_some() { fixture.tls_address() } else { fixture.address() };
    let mut client = connecting.open(address, Fixture::BRIEF_SOCKET);
    client.join(HALL);
    assert_eq!(client.ask("2", HALL, "track", &json!({}))["status"], "ok");
    client
}

fn see_leave(observer: &mut Client) {
    while !observer.event(HALL, "presence_diff")["leaves"]["someone"].is_object() {}
}

fn observer(fixture: &Fixture) -> Client {
    let mut observer = Client::open(fixture.address(), Fixture::SOCKET);
    assert_eq!(observer.join(HALL)["status"], "ok");
    observer
}

#[test]
fn a_peer_that_falls_silent_is_closed_and_its_channel_and_presence_end() {
    let fixture = Fixture::start();
    for tls in [None, Some(fixture.trust())] {
        let mut observer = observer(&fixture);
        let mut silent = present(&fixture, Connecting { tls, ..Connecting::default() });
        see_leave(&mut observer);
        assert_ended(&fixture);
        assert_eq!(silent.close_code(), Some(1001));
        drop(observer);
        assert_ended(&fixture);
        fixture.wait_until_empty();
    }
    assert_eq!(fixture.closed(CloseReason::Idle), 2);
}

#[test]
fn a_peer_that_vanished_is_forgotten_though_it_never_answers_the_close() {
    let fixture = Fixture::start();
    let vanished = present(&fixture, Connecting::default());
    assert_ended(&fixture);
    fixture.wait_until_empty();
    drop(vanished);
}

#[test]
fn a_peer_that_goes_away_by_any_road_leaves_presence_at_once() {
    let roads: [fn(Client); 3] = [drop, |client| client.shut_sending_side(), Client::reset];
    let fixture = Fixture::start();
    let mut observer = observer(&fixture);
    for take in roads {
        let client = present(&fixture, Connecting::default());
        take(client);
        see_leave(&mut observer);
        assert_ended(&fixture);
    }
    drop(observer);
    fixture.wait_until_empty();
}

#[test]
fn a_peer_that_shuts_its_sending_side_still_reads_the_answers() {
    let fixture = Fixture::start();
    let mut client = Client::open(fixture.address(), Fixture::ECHO);
    client.text("last words");
    client.shut_sending_side();
    assert_eq!(client.message(), "last words");
    client.end();
    fixture.wait_until_empty();
}

#[test]
fn a_client_that_never_reads_its_close_is_cut() {
    let fixture = Fixture::start();
    let mut client = Client::open(fixture.address(), Fixture::ECHO);
    client.send(&masked(0x83, b"a reserved opcode"));
    fixture.wait_until_empty();
    assert_eq!(fixture.closed(CloseReason::Violation), 1);
    assert_eq!(client.close_code(), Some(1002));
}
