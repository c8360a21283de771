//! Handlers that panic, and clients that send too much to a channel that is not ready.

use faults::{Client, Fixture, wait_until};
use gateway::{Channel, CloseReason, Context, Joining, Payload};
use serde_json::{Value, json};

const DOOMED: &str = "room:doomed";

fn joined(fixture: &Fixture, topics: &[&str]) -> Client {
    let mut client = Client::open(fixture.address(), Fixture::SOCKET);
    for topic in topics {
        assert_eq!(client.join(topic)["status"], "ok", "{topic}");
    }
    client
}

fn assert_echoes(client: &mut Client, topic: &str) {
    let payload = json!({ "is": "alive" });
    assert_eq!(client.ask("9", topic, "echo", &payload)["response"], payload, "{topic}");
}

#[test]
fn a_channel_that_panics_dies_alone() {
    let fixture = Fixture::start();
    let mut bystander = joined(&fixture, &[DOOMED]);
    for event in ["panic", "panic_in_task", "panic_in_call", "never_called", "panic_in_info"] {
        let mut client = joined(&fixture, &[DOOMED, "room:beside"]);
        client.push("2", DOOMED, event, &json!({}));
        assert_eq!(client.event(DOOMED, "phx_error"), json!({ "reason": "channel_crash" }), "{event}");
        assert_echoes(&mut client, "room:beside");
        assert_echoes(&mut bystander, DOOMED);
        assert_eq!(client.join(DOOMED)["status"], "ok", "it can be joined again");
        assert_echoes(&mut client, DOOMED);
    }
    assert_eq!(fixture.handle().metrics().channels_failed_total, 5);
}

#[test]
fn who_is_called_back_from_another_thread_is_answered_and_hears_a_crowds_news_in_their_order() {
    let fixture = Fixture::start();
    let mut members: Vec<Client> = (0..8).map(|_| joined(&fixture, &["room:crowd"])).collect();
    let handle = fixture.handle();
    for number in 0..200 {
        handle.broadcast_to_crowd("room:crowd", "news", json!({ "number": number })).expect("room");
    }
    for member in &mut members {
        for number in 0..200 {
            assert_eq!(member.event("room:crowd", "news")["number"], number);
        }
        let called = member.ask("9", "room:crowd", "call", &json!({}));
        assert_eq!(called["response"], json!({ "called": true }));
    }
}

#[test]
fn a_panic_over_a_broadcast_ends_the_members_and_no_socket() {
    let fixture = Fixture::start();
    let mut clients: Vec<Client> = (0..4).map(|_| joined(&fixture, &[DOOMED, "room:beside"])).collect();
    clients[0].push("2", DOOMED, "shout", &json!({}));
    for client in &mut clients {
        client.event(DOOMED, "phx_error");
        assert_echoes(client, "room:beside");
    }
    assert_eq!(fixture.handle().metrics().connections_open, 4);
}

#[test]
fn a_panic_at_the_beginning_or_the_end_of_a_channel_concerns_nobody_else() {
    let fixture = Fixture::start();
    let mut client = joined(&fixture, &["room:beside"]);

    let refused = client.join("room:panics_in_join");
    assert_eq!(refused, json!({ "status": "error", "response": { "reason": "join crashed" } }));

    assert_eq!(client.join("room:panics_once_joined")["status"], "ok");
    client.event("room:panics_once_joined", "phx_error");

    assert_eq!(client.join("room:panics_in_terminate")["status"], "ok");
    let left: Value = client.ask("3", "room:panics_in_terminate", "phx_leave", &json!({}));
    assert_eq!(left["status"], "ok");

    assert_echoes(&mut client, "room:beside");
    client.join("room:panics_in_terminate");
    drop(client);
    fixture.wait_until_empty();
    fixture.assert_serves();
}

/// Whatever is not a handler panics.
struct Fragile;

impl Channel for Fragile {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, _: &mut Context<'_>, _: &str, _: Payload<'_>) {}

    fn intercepts(&self) -> &'static [&'static str] {
        panic!("as it always does")
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("as it always does");
    }
}

#[test]
fn a_panic_beside_the_handlers_concerns_nobody_else() {
    let factory = || -> Fragile { panic!("as it always does") };
    let mount =
        gateway::Mount::channels("/fragile").channel("never:*", factory).channel("room:*", || Fragile);
    let fixture = Fixture::build(gateway::Gateway::builder().mount(mount));
    let mut client = Client::open(fixture.address(), "/fragile/websocket?vsn=2.0.0");
    let refused = client.join("never:mind");
    assert_eq!(refused, json!({ "status": "error", "response": { "reason": "join crashed" } }));
    assert_eq!(client.join("room:fragile")["status"], "ok");
    assert_eq!(client.ask("2", "room:fragile", "phx_leave", &json!({}))["status"], "ok");
    assert_eq!(client.join("room:fragile")["status"], "ok");
    drop(client);
    fixture.wait_until_empty();
    fixture.assert_serves();
}

#[test]
fn a_panic_over_who_may_connect_refuses_that_client_alone() {
    let mount = gateway::Mount::echo("/strict").connect(|request| match request.param("name") {
        Some("mallory") => panic!("as the client asked"),
        _ => Ok(gateway::Socket::new()),
    });
    let rooms = gateway::Mount::channels("/picky").connect(|_| panic!("as everybody asks"));
    let fixture = Fixture::build(gateway::Gateway::builder().mount(mount).mount(rooms));
    for again in [false, true] {
        let mut client = Client::connect(fixture.address());
        if again {
            // On the control plane.
            client.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert_eq!(client.answer().status, 404);
        }
        client.send(&faults::upgrade_request("/picky/websocket", ""));
        assert_eq!(client.answer().status, 500);
    }
    fixture.assert_serves();
}

#[test]
fn frames_beyond_the_bound_behind_an_undecided_join_are_closed_with_1008() {
    let fixture = Fixture::start();
    let small = (json!({}), 200);
    let large = (json!({ "filling": "x".repeat(200 << 10) }), 8);
    for (payload, count) in [small, large] {
        let mut waiting = Client::open(fixture.address(), Fixture::SOCKET);
        waiting.ask_to_join("room:late");
        for _ in 0..count {
            waiting.push("2", "room:late", "echo", &payload);
        }
        assert_eq!(waiting.close_code(), Some(1008));
    }
    fixture.wait_until_empty();
    assert_eq!(fixture.closed(CloseReason::Undecodable), 2);
    fixture.gate().open();
    fixture.assert_serves();
}

#[test]
fn a_client_that_leaves_before_its_join_is_decided_leaves_nothing_behind() {
    let fixture = Fixture::start();
    let mut waiting = Client::open(fixture.address(), Fixture::SOCKET);
    waiting.ask_to_join("room:late");
    waiting.heartbeat();
    drop(waiting);
    fixture.wait_until_empty();
    fixture.gate().open();
    let mut next = Client::open(fixture.address(), Fixture::SOCKET);
    assert_eq!(next.join("room:late")["status"], "ok", "another's late answer disturbs nobody");
    wait_until("it counts once", || fixture.handle().metrics().joined == 1);
}
