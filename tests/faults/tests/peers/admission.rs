//! More connections from one address than it may have.

use faults::{Answer, Client, Connecting, Fixture, upgrade_request, wait_until};
use gateway::{Gateway, Limits};
use std::thread;
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

/// What somebody who has connected is answered who asks for a WebSocket.
fn asked_by(client: &mut Client) -> u16 {
    client.send(&upgrade_request(Fixture::ECHO, ""));
    client.answer().status
}

fn asked(fixture: &Fixture) -> u16 {
    asked_by(&mut Client::connect(fixture.address()))
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
    wait_until("another is let in", || asked(&fixture) == 101);
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
    let answers: Vec<u16> = clients.iter_mut().map(asked_by).collect();
    let refused = answers.iter().filter(|&&status| status == 429).count();
    assert!((1..=25).contains(&refused), "a burst of five is let in: {answers:?}");
    assert!(answers.iter().all(|status| matches!(status, 101 | 429)), "{answers:?}");
    wait_until("the rate allows another", || asked(&fixture) == 101);
    assert!(fixture.rejected("connection_rate_per_ip") >= 1);
}

/// Somebody who connects by TLS.
fn connect_by_tls(fixture: &Fixture) -> Client {
    Connecting { tls: Some(fixture.trust()), ..Connecting::default() }.connect(fixture.tls_address())
}

/// What a newcomer by TLS is answered who asks for a WebSocket.
fn asked_by_tls(fixture: &Fixture) -> Answer {
    let mut client = connect_by_tls(fixture);
    client.send(&upgrade_request(Fixture::ECHO, ""));
    client.answer()
}

fn tls_refusals(fixture: &Fixture, outcome: &str) -> u64 {
    let refusals = fixture.handle().metrics().tls_refusals;
    refusals.iter().find(|(known, _)| *known == outcome).map_or(0, |(_, count)| *count)
}

#[test]
fn a_connection_by_tls_too_many_is_answered_429_and_counted() {
    let fixture = fixture();
    let _clients: Vec<Client> =
        (0..CONNECTIONS_MAX).map(|_| Client::open(fixture.address(), Fixture::ECHO)).collect();
    let mut client = connect_by_tls(&fixture);
    client.send(&upgrade_request(Fixture::ECHO, ""));
    let refused = client.answer();
    assert_eq!(refused.status, 429);
    assert!(refused.head.contains("Retry-After: 5"), "{}", refused.head);
    assert!(refused.body.contains("too many connections from this address"), "{}", refused.body);
    client.end();
    drop(client);
    assert_eq!(fixture.rejected("connections_per_ip"), 1);
    wait_until("it is counted as answered", || tls_refusals(&fixture, "answered") == 1);
    assert_eq!(tls_refusals(&fixture, "cut"), 0);
}

#[test]
fn connections_by_tls_beyond_the_rate_are_answered_503_and_come_in_later() {
    let limits = Limits { connection_rate_max: Some(1), connection_burst_max: 1, ..Limits::default() };
    let fixture = Fixture::start_with(limits);
    let mut answers = (0..100).map(|_| asked_by_tls(&fixture));
    let refused = answers.find(|answer| answer.status != 101).expect("they come faster than one a second");
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("Retry-After: 5"), "{}", refused.head);
    assert!(fixture.rejected("connection_rate") >= 1);
    // Not faster than refusals are answered.
    wait_until("the rate allows another", || {
        thread::sleep(Duration::from_millis(100));
        asked_by_tls(&fixture).status == 101
    });
}

#[test]
fn a_socket_by_tls_beyond_all_connections_is_answered_503_and_a_page_is_not() {
    let fixture = Fixture::start_with(Limits { connections_max: 1, ..Limits::default() });
    let _only = Client::open(fixture.address(), Fixture::ECHO);
    let mut client = connect_by_tls(&fixture);
    client.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    client.send(&upgrade_request(Fixture::ECHO, ""));
    let refused = client.answer();
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("its maximum number of connections"), "{}", refused.body);
    assert_eq!(fixture.rejected("capacity"), 1);
}

#[test]
fn refusals_by_tls_beyond_their_rate_are_cut_and_counted() {
    const NEWCOMERS: u64 = 30;
    let limits = Limits { connections_per_ip_max: 1, tls_refusals_per_second_max: 1, ..Limits::default() };
    let fixture = Fixture::start_with(limits);
    let _only = Client::open(fixture.address(), Fixture::ECHO);
    for _ in 0..NEWCOMERS {
        let mut client = connect_by_tls(&fixture);
        // Who is cut may notice it already here.
        let _ = client.try_send(&upgrade_request(Fixture::ECHO, ""));
        client.end();
    }
    let outcomes = || (tls_refusals(&fixture, "answered"), tls_refusals(&fixture, "cut"));
    wait_until("each was answered or cut", || outcomes().0 + outcomes().1 == NEWCOMERS);
    let (answered, cut) = outcomes();
    assert!(answered >= 1 && cut >= 1, "{answered} answered, {cut} cut");
    assert_eq!(fixture.rejected("connections_per_ip"), NEWCOMERS);
}

#[test]
fn whoever_is_refused_by_tls_and_says_nothing_is_cut() {
    let fixture = fixture();
    let _clients: Vec<Client> =
        (0..CONNECTIONS_MAX).map(|_| Client::open(fixture.address(), Fixture::ECHO)).collect();
    Client::connect(fixture.tls_address()).end();
    wait_until("it is counted", || tls_refusals(&fixture, "cut") == 1);
    assert_eq!(fixture.rejected("connections_per_ip"), 1);
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
