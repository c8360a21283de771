//! Every way in which a connection can end; the driver is told of each exactly once.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::time::Duration;

use crate::line::{self, Fixture, Options, PATIENCE, Post, Seen, config, value, wait_until};
use engine::{EndCause, EngineConfig, EngineLimits, ShardIndex};

fn with_limits(limits: EngineLimits) -> Fixture {
    Fixture::start_with(EngineConfig { limits, ..config() }, Options::default())
}

#[test]
fn a_close_sends_what_was_staged_and_waits_for_the_peer() {
    let fixture = with_limits(EngineLimits { linger: PATIENCE, ..EngineLimits::default() });
    let mut client = fixture.connect();
    client.say("one\nclose\ntwo\n");
    assert_eq!(client.hear(), "one");
    assert_eq!(client.hear(), "", "what came after the close is not answered");
    assert_eq!(value(&fixture.counters().open), 1);
    client.say("is anybody there?\n");
    client.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(fixture.wait_for_end(), EndCause::Local);
}

#[test]
fn a_peer_that_does_not_close_its_side_is_cut_when_the_linger_time_is_over() {
    let linger = Duration::from_millis(50);
    let fixture = with_limits(EngineLimits { linger, ..EngineLimits::default() });
    let mut client = fixture.connect();
    client.say("close\n");
    assert_eq!(fixture.wait_for_end(), EndCause::Lingered);
    assert_eq!(value(&fixture.counters().open), 0);
}

#[test]
fn a_close_with_last_words_drops_what_was_staged() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say("one\nbye farewell\n");
    assert_eq!(client.hear(), "farewell");
    assert_eq!(client.hear(), "");
    drop(client);
    assert_eq!(fixture.wait_for_end(), EndCause::Local);
}

#[test]
fn an_abort_resets_the_connection() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say("abort\nclose\nbye now\n");
    let error = client.stream().read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(fixture.wait_for_end(), EndCause::Aborted);
    assert_eq!(fixture.shut_down(), [], "there is one end");
}

#[test]
fn a_reset_by_the_peer_is_told_as_one() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say("hello\n");
    assert_eq!(client.hear(), "hello");
    let socket = socket2::SockRef::from(client.stream());
    socket.set_linger(Some(Duration::ZERO)).unwrap();
    drop(client);
    assert_eq!(fixture.wait_for_end(), EndCause::Reset(ErrorKind::ConnectionReset));
}

#[test]
fn thousands_cut_at_once_end_once_each() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let clients: Vec<_> = (0..2000).map(|_| fixture.connect()).collect();
    wait_until(&counters.open, 2000);
    for (number, client) in clients.iter().enumerate() {
        if number % 2 == 0 {
            socket2::SockRef::from(client.stream()).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    drop(clients);
    wait_until(&counters.open, 0);
    assert_eq!(value(&counters.ended_total), 2000);
    let ends: std::collections::HashSet<_> = fixture
        .shut_down()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Ended(id, _) => Some(id),
            _ => None,
        })
        .collect();
    assert_eq!(ends.len(), 2000);
}

/// The most that one tick deals with; see the engine's `config`.
const PARTINGS_PER_TICK_MAX: usize = 64;

/// Resets `crowd` connections and then sends one line, all while the shard is busy, so that one tick finds all of it.
fn cut_crowd(fixture: &Fixture, crowd: u64) -> line::Client {
    let counters = fixture.counters();
    let clients: Vec<_> = (0..crowd).map(|_| fixture.connect()).collect();
    let mut stayer = fixture.connect();
    wait_until(&counters.open, crowd + 1);
    let held = fixture.hold();
    for client in &clients {
        socket2::SockRef::from(client.stream()).set_linger(Some(Duration::ZERO)).unwrap();
    }
    drop(clients);
    stayer.say("hello\n");
    drop(held);
    stayer
}

#[test]
fn who_speaks_while_a_crowd_is_cut_is_heard_before_most_of_them_are_told_of() {
    let fixture = Fixture::start();
    let mut stayer = cut_crowd(&fixture, 400);
    let mut told = 0;
    while fixture.wait_for(|seen| matches!(seen, Seen::Line(_) | Seen::Ended(..)))
        != Seen::Line(b"hello".to_vec())
    {
        told += 1;
    }
    assert!(told <= PARTINGS_PER_TICK_MAX, "{told} were told of before");
    assert_eq!(stayer.hear(), "hello");
    let counters = fixture.counters();
    wait_until(&counters.open, 1);
    assert!(value(&counters.partings_delayed_total) >= 400 - PARTINGS_PER_TICK_MAX as u64);
}

#[test]
fn whose_peers_are_gone_wait_while_the_driver_holds_them_and_not_longer() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    fixture.mailboxes.post(ShardIndex(0), Post::HoldPartings(true));
    let mut stayer = cut_crowd(&fixture, 400);
    assert_eq!(stayer.hear(), "hello");
    for number in 0..5 {
        stayer.say(&format!("{number}\n"));
        assert_eq!(stayer.hear(), number.to_string());
    }
    assert!(value(&counters.open) > 200, "each tick sees few of them off");
    fixture.mailboxes.post(ShardIndex(0), Post::HoldPartings(false));
    wait_until(&counters.open, 1);
    assert_eq!(value(&counters.ended_total), 400);
}

#[test]
fn everyone_can_be_closed_with_last_words() {
    let fixture = Fixture::start();
    let mut clients: Vec<_> = (0..50).map(|_| fixture.connect()).collect();
    wait_until(&fixture.counters().open, 50);
    fixture.mailboxes.post(ShardIndex(0), Post::CloseAllWith(b"restart\n"));
    for client in &mut clients {
        assert_eq!(client.hear(), "restart");
        assert_eq!(client.hear(), "");
    }
    drop(clients);
    wait_until(&fixture.counters().open, 0);
}

#[test]
fn a_shutdown_ends_every_connection() {
    let fixture = Fixture::start();
    let clients: Vec<_> = (0..5).map(|_| fixture.connect()).collect();
    wait_until(&fixture.counters().open, 5);
    let seen = fixture.shut_down();
    let is_end = |seen: &&Seen| matches!(seen, Seen::Ended(_, EndCause::Shutdown));
    assert_eq!(seen.iter().filter(is_end).count(), 5);
    for client in clients {
        assert_eq!(client.hear_all(), Vec::<String>::new());
    }
}

#[test]
fn after_accepting_has_stopped_connections_stay_and_new_ones_fail() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    wait_until(&fixture.counters().open, 1);
    fixture.engine.stop_accepting();
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(fixture.address).is_ok() {
        assert!(std::time::Instant::now() < deadline, "the listener stays open");
    }
    client.say("still here\n");
    assert_eq!(client.hear(), "still here");
}
