//! Refused connections: by the driver, or because of a limit.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::line::{Client, Fixture, Options, config, value, wait_until};
use bytes::Bytes;
use engine::{EngineConfig, EngineLimits};

/// How long a refused connection that sends nothing waits for the answer.
const PATIENCE_WITH_SILENCE: Duration = Duration::from_secs(1);
/// How many may wait for it at once.
const SILENT_MAX: usize = 16;

fn with_limits(limits: EngineLimits) -> Fixture {
    Fixture::start_with(EngineConfig { limits, ..config() }, Options::default())
}

fn refusing() -> Fixture {
    Fixture::start_with(config(), Options { refuse: true, ..Options::default() })
}

fn has_been_answered(client: &Client) -> bool {
    client.stream().set_nonblocking(true).unwrap();
    let looked = client.stream().peek(&mut [0]);
    client.stream().set_nonblocking(false).unwrap();
    looked.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
}

#[test]
fn the_answer_comes_after_what_it_answers() {
    let fixture = refusing();
    let counters = fixture.counters();
    // If the machine stalls for longer than the server waits, the test tries again.
    let mut client = loop {
        let connecting = Instant::now();
        let refused = value(&counters.refused_total);
        let client = fixture.connect();
        wait_until(&counters.refused_total, refused + 1);
        if !has_been_answered(&client) {
            break client;
        }
        assert!(connecting.elapsed() >= PATIENCE_WITH_SILENCE, "the answer was there before the question");
    };
    client.say("may I come in?\n");
    assert_eq!(client.hear_all(), ["no"]);
}

#[test]
fn a_crowd_of_the_silent_is_answered_too_and_the_server_keeps_few_of_them() {
    let fixture = refusing();
    let crowd: Vec<Client> = (0..3 * SILENT_MAX).map(|_| fixture.connect()).collect();
    wait_until(&fixture.counters().refused_total, crowd.len() as u64);
    for client in &crowd[..2 * SILENT_MAX] {
        let mut client = Client::new(client.stream().try_clone().unwrap());
        assert_eq!(client.hear(), "no");
    }
    for client in crowd.into_iter().skip(2 * SILENT_MAX) {
        assert_eq!(client.hear_all(), ["no"]);
    }
}

#[test]
fn whoever_waits_for_an_answer_when_the_server_ends_gets_it() {
    let fixture = refusing();
    let client = fixture.connect();
    wait_until(&fixture.counters().refused_total, 1);
    fixture.shut_down();
    assert_eq!(client.hear_all(), ["no"]);
}

#[test]
fn a_driver_may_refuse_a_connection() {
    let fixture = Fixture::start_with(config(), Options { refuse: true, ..Options::default() });
    let client = fixture.connect();
    assert_eq!(client.hear_all(), ["no"]);
    assert_eq!(value(&fixture.counters().refused_total), 1);
    assert_eq!(fixture.shut_down(), [], "a refused connection has no end to hear of");
}

#[test]
fn connections_beyond_the_limit_are_refused_until_one_ends() {
    let refusal = Bytes::from_static(b"full\n");
    let fixture = with_limits(EngineLimits { connections_max: 2, refusal, ..EngineLimits::default() });
    let counters = fixture.counters();
    let mut first = fixture.connect();
    let _second = fixture.connect();
    wait_until(&counters.open, 2);
    assert_eq!(fixture.connect().hear_all(), ["full"]);
    assert_eq!(value(&counters.refused_total), 1);
    first.say("close\n");
    drop(first);
    wait_until(&counters.open, 1);
    let mut third = fixture.connect();
    third.say("hello\n");
    assert_eq!(third.hear(), "hello");
}

#[test]
fn connections_that_would_use_up_the_descriptors_are_refused() {
    let refusal = Bytes::from_static(b"full\n");
    let fixture =
        with_limits(EngineLimits { descriptors_reserve: usize::MAX, refusal, ..EngineLimits::default() });
    assert_eq!(fixture.connect().hear_all(), ["full"]);
    assert_eq!(value(&fixture.counters().refused_total), 1);
    assert_eq!(value(&fixture.counters().accept_errors_total), 0);
}
