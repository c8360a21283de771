//! More connections from one address than it may have.

use faults::{Client, Connecting, Fixture, wait_until};
use gateway::{Gateway, Limits};
use std::time::Duration;

const CONNECTIONS_MAX: u32 = 3;

fn fixture() -> Fixture {
    Fixture::start_with(Limits { connections_per_ip_max: CONNECTIONS_MAX, ..Limits::default() })
}

fn assert_refused(fixture: &Fixture) {
    let mut refused = Client::connect(fixture.address());
    assert_eq!(refused.answer().status, 429);
    refused.end();
}

/// Somebody who is let in is waited for; somebody who is refused hears so at once.
fn is_admitted(client: &mut Client) -> bool {
    client.hears_nothing(Duration::from_millis(100))
}

#[test]
fn an_address_with_too_many_connections_is_answered_429_until_one_ends() {
    let fixture = fixture();
    let mut clients: Vec<Client> =
        (0..CONNECTIONS_MAX).map(|_| Client::open(fixture.address(), Fixture::ECHO)).collect();
    assert_refused(&fixture);
    let mut elsewhere = Connecting { from: Some([127, 0, 0, 2]), ..Connecting::default() }
        .open(fixture.address(), Fixture::ECHO);
    elsewhere.text("another address");
    assert_eq!(elsewhere.message(), "another address");
    drop(elsewhere);
    clients.pop();
    wait_until("another is let in", || is_admitted(&mut Client::connect(fixture.address())));
    assert!(fixture.rejected("connections_per_ip") >= 1);
}

#[test]
fn connections_on_the_control_plane_count_as_well() {
    let fixture = fixture();
    let request = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut clients: Vec<Client> = (0..CONNECTIONS_MAX).map(|_| Client::connect(fixture.address())).collect();
    for client in &mut clients {
        client.send(request);
        assert_eq!(client.answer().status, 404);
    }
    assert_refused(&fixture);
}

#[test]
fn connections_by_tls_count_from_the_handshake_to_the_end_of_the_socket() {
    let fixture = fixture();
    let by_tls = Connecting { tls: Some(fixture.trust()), ..Connecting::default() };
    let clients: Vec<Client> =
        (0..CONNECTIONS_MAX).map(|_| by_tls.open(fixture.tls_address(), Fixture::ECHO)).collect();
    assert_refused(&fixture);
    drop(clients);
    fixture.wait_until_empty();
    let mut admitted = Client::open(fixture.address(), Fixture::ECHO);
    admitted.text("in");
    assert_eq!(admitted.message(), "in");
}

#[test]
fn an_address_that_connects_too_often_is_answered_429() {
    let fixture = Fixture::start_with(Limits { connection_rate_per_ip_max: 5, ..Limits::default() });
    let mut clients: Vec<Client> = (0..30).map(|_| Client::connect(fixture.address())).collect();
    let mut refused: Vec<&mut Client> =
        clients.iter_mut().filter_map(|c| (!is_admitted(c)).then_some(c)).collect();
    assert!((1..=25).contains(&refused.len()), "a burst of five is let in: {} refused", refused.len());
    for client in &mut refused {
        assert_eq!(client.answer().status, 429);
    }
    wait_until("the rate allows another", || is_admitted(&mut Client::connect(fixture.address())));
    assert!(fixture.rejected("connection_rate_per_ip") >= 1);
}

#[test]
fn a_connection_by_tls_too_many_is_cut_and_counted() {
    let fixture = fixture();
    let _clients: Vec<Client> =
        (0..CONNECTIONS_MAX).map(|_| Client::open(fixture.address(), Fixture::ECHO)).collect();
    Client::connect(fixture.tls_address()).end();
    wait_until("it is counted", || fixture.rejected("connections_per_ip") == 1);
}

#[test]
fn what_is_no_tls_is_cut_and_counted() {
    let fixture = Fixture::start();
    let mut client = Client::connect(fixture.tls_address());
    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.end();
    wait_until("it is counted", || fixture.rejected("tls") == 1);
}

#[test]
fn plain_http_beyond_its_places_is_cut_and_counted() {
    // One place is the TLS listener's.
    let fixture = Fixture::start_with(Limits { http_connections_max: 2, ..Limits::default() });
    let request = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut first = Client::connect(fixture.address());
    first.send(request);
    assert_eq!(first.answer().status, 404);
    let mut second = Client::connect(fixture.address());
    second.send(request);
    second.end();
    wait_until("it is counted", || fixture.rejected("http_connections") == 1);
}

#[test]
fn a_limit_that_lets_nothing_through_is_an_error_at_the_start() {
    let limits = Limits { deliveries_per_turn_max: 0, ..Limits::default() };
    let error = Gateway::builder().limits(limits).start().err().expect("it does not start");
    assert_eq!(error.to_string(), "the limit `deliveries_per_turn_max` must be at least 1");
}
