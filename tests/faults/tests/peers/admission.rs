//! More connections from one address than it may have.

use faults::{Client, Connecting, Fixture, wait_until};
use gateway::Limits;

const CONNECTIONS_MAX: u32 = 3;

fn fixture() -> Fixture {
    Fixture::start_with(Limits { connections_per_ip_max: CONNECTIONS_MAX, ..Limits::default() })
}

fn assert_refused(fixture: &Fixture) {
    let mut refused = Client::connect(fixture.address());
    assert_eq!(refused.answer().status, 429);
    refused.end();
}

/// One place has become free, as soon as the server has seen it.
fn assert_admitted_soon(fixture: &Fixture) {
    let open = || fixture.handle().metrics().connections_open;
    let before = open();
    let mut admitted = None;
    wait_until("somebody is let in again", || open() < before || before < u64::from(CONNECTIONS_MAX));
    admitted.get_or_insert_with(|| Client::open(fixture.address(), Fixture::ECHO)).text("in");
    assert_eq!(admitted.expect("it was let in").message(), "in");
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
    assert_admitted_soon(&fixture);
    assert_eq!(fixture.rejected("connections_per_ip"), 1);
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
    let mut statuses = Vec::new();
    while statuses.last() != Some(&429) {
        let mut client = Client::connect(fixture.address());
        // A refusal does not wait for the request.
        if client.try_send(&faults::upgrade_request(Fixture::ECHO, "")).is_ok() {
            statuses.push(client.answer().status);
        }
    }
    let accepted = statuses.iter().filter(|&&status| status == 101).count();
    assert!(accepted >= 5, "{statuses:?}");
    wait_until("the rate allows another", || {
        let mut client = Client::connect(fixture.address());
        client.hears_nothing(std::time::Duration::from_millis(200))
    });
    assert!(fixture.rejected("connection_rate_per_ip") >= 1);
}
