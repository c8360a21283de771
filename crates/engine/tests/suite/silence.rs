//! Peers that send nothing: each is found after its limit, and only then.

use std::time::{Duration, Instant};

use crate::line::{Fixture, Options, PATIENCE, Seen, config, value, wait_until};
use engine::{EndCause, EngineConfig, EngineLimits};

fn with_idle_limit(idle_limit_ms: u32) -> Fixture {
    with_limits(idle_limit_ms, PATIENCE)
}

fn with_limits(idle_limit_ms: u32, linger: Duration) -> Fixture {
    let limits = EngineLimits { linger, ..EngineLimits::default() };
    let options = Options { idle_limit_ms, ..Options::default() };
    Fixture::start_with(EngineConfig { limits, ..config() }, options)
}

#[test]
fn a_silent_peer_is_found_and_closed() {
    let fixture = with_idle_limit(200);
    let start = Instant::now();
    let client = fixture.connect();
    fixture.wait_for(|seen| *seen == Seen::Expired);
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert_eq!(client.hear_all(), ["idle"]);
    assert_eq!(fixture.wait_for_end(), EndCause::Local);
    assert_eq!(value(&fixture.counters().expired_total), 1);
}

#[test]
fn a_half_open_peer_is_cut_in_the_end() {
    let fixture = with_limits(100, Duration::from_millis(20));
    // To the server, a peer whose machine is gone looks like one that neither sends nor closes anything.
    let client = fixture.connect();
    assert_eq!(fixture.wait_for_end(), EndCause::Lingered);
    drop(client);
}

#[test]
fn every_one_of_many_silent_peers_is_found_once() {
    let fixture = with_limits(100, Duration::from_millis(20));
    let clients: Vec<_> = (0..1500).map(|_| fixture.connect()).collect();
    let counters = fixture.counters();
    wait_until(&counters.ended_total, 1500);
    assert_eq!(value(&counters.expired_total), 1500);
    drop(clients);
}

#[test]
fn a_peer_that_speaks_in_time_stays() {
    let fixture = with_idle_limit(1000);
    let mut client = fixture.connect();
    let start = Instant::now();
    let mut said = 0;
    while start.elapsed() < Duration::from_millis(2000) {
        client.say("hello\n");
        assert_eq!(client.hear(), "hello");
        said += 1;
    }
    assert!(said > 0);
    assert_eq!(value(&fixture.counters().expired_total), 0);
}

#[test]
fn a_limit_that_became_shorter_holds() {
    let fixture = with_idle_limit(0);
    let mut client = fixture.connect();
    client.say("limit 100\n");
    fixture.wait_for(|seen| *seen == Seen::Expired);
    assert_eq!(client.hear(), "idle");
}

#[test]
fn without_a_limit_nobody_expires_and_the_shard_sleeps() {
    let fixture = with_idle_limit(0);
    let mut client = fixture.connect();
    client.say("hello\n");
    assert_eq!(client.hear(), "hello");
    let counters = fixture.counters();
    let ticks = value(&counters.ticks);
    // Another engine's sweep is the clock of this test.
    let other = with_idle_limit(300);
    assert_eq!(other.connect().hear(), "idle");
    assert!(value(&counters.ticks) - ticks < 5, "a shard with nothing to do does not wake");
}
