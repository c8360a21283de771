//! Bytes in and out: what a peer sends in pieces, in bulk and in sequence.

use std::io::Write;
use std::net::Shutdown;
use std::sync::mpsc;

use crate::line::{Fixture, Options, Post, Seen, config, value, wait_until};
use bytes::Bytes;
use engine::{EndCause, EngineConfig, EngineLimits, ShardIndex};

#[test]
fn a_line_comes_back() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say("hello\n");
    assert_eq!(client.hear(), "hello");
}

#[test]
fn a_message_cut_in_pieces_is_put_together() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut client = fixture.connect();
    let mut said = 0;
    for piece in ["one tw", "o thr", "ee\nfour fi"] {
        client.say(piece);
        said += piece.len() as u64;
        wait_until(&counters.bytes_in, said);
    }
    assert_eq!(client.hear(), "one two three");
    wait_until(&counters.leftover_bytes, "four fi".len() as u64);
    client.say("ve\n");
    assert_eq!(client.hear(), "four five");
    wait_until(&counters.leftover_bytes, 0);
    assert_eq!(value(&counters.extra_bytes), 0);
}

#[test]
fn sixteen_messages_in_one_read_are_one_write() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut client = fixture.connect();
    client.say("first\n");
    assert_eq!(client.hear(), "first");
    let (reads, writes) = (value(&counters.reads_total), value(&counters.writes_total));
    client.say(&"echo\n".repeat(16));
    for _ in 0..16 {
        assert_eq!(client.hear(), "echo");
    }
    assert_eq!(value(&counters.writes_total) - writes, 1);
    assert_eq!(value(&counters.reads_total) - reads, 1, "no read just to learn that there is no more");
}

#[test]
fn each_of_many_echoes_costs_one_wait_one_read_and_one_write() {
    const ECHOES: u64 = 200;
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut client = fixture.connect();
    client.say("first\n");
    assert_eq!(client.hear(), "first");
    let before = [&counters.ticks, &counters.reads_total, &counters.writes_total].map(value);
    for _ in 0..ECHOES {
        client.say("echo\n");
        assert_eq!(client.hear(), "echo");
    }
    let [ticks, reads, writes] = before;
    assert_eq!(value(&counters.reads_total) - reads, ECHOES);
    assert_eq!(value(&counters.writes_total) - writes, ECHOES);
    // A tick counts itself when it is over, so that of the first echo may be among them, and so may the one in which
    // the readiness loop reports the new connection.
    assert!(value(&counters.ticks) - ticks <= ECHOES + 2);
}

#[test]
fn copied_and_shared_messages_leave_in_order_in_one_write() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut client = fixture.connect();
    client.say("a\nshared b\ndeliver c\nd\nshared e\nshared \nshared f\n\n");
    assert_eq!(client.hear(), "a");
    assert_eq!(client.hear(), "bcd");
    assert_eq!(client.hear(), "ef");
    assert_eq!(value(&counters.writes_total), 1);
}

#[test]
fn more_pieces_than_one_system_call_takes_arrive_in_order() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    let said: String = (0..500).map(|number| format!("shared {number},\n")).collect();
    client.say(&said);
    client.say("\n");
    let expected: String = (0..500).map(|number| format!("{number},")).collect();
    assert_eq!(client.hear(), expected);
}

#[test]
fn a_turn_that_asks_for_another_gets_it() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say("count 100\n");
    for left in (0..=100).rev() {
        assert_eq!(client.hear(), left.to_string());
    }
}

#[test]
fn a_broadcast_is_written_at_once_to_each_connection() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut clients: Vec<_> = (0..10).map(|_| fixture.connect()).collect();
    wait_until(&counters.open, 10);
    fixture.mailboxes.post(ShardIndex(0), Post::Broadcast(Bytes::from_static(b"all\n")));
    for client in &mut clients {
        assert_eq!(client.hear(), "all");
    }
    wait_until(&counters.writes_total, 10);
}

#[test]
fn a_peer_that_says_much_does_not_keep_the_others_from_their_turn() {
    let limits = EngineLimits {
        read_buffer_bytes: 32 * 1024,
        read_bytes_per_turn_max: 1024,
        outbox_bytes_max: usize::MAX,
        ..EngineLimits::default()
    };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let mut loud = fixture.connect();
    let mut quiet = fixture.connect();
    wait_until(&fixture.counters().open, 2);
    // The shard is held until both have sent, so that both are ready in one tick.
    let held = fixture.hold();
    let text = "0123456789abcde\n".repeat(16 * 1024);
    let mut stream = loud.stream().try_clone().unwrap();
    let speaker = std::thread::spawn(move || stream.write_all(text.as_bytes()).unwrap());
    quiet.say("me too\n");
    drop(held);
    assert_eq!(quiet.hear(), "me too");
    for _ in 0..16 * 1024 {
        assert_eq!(loud.hear(), "0123456789abcde");
    }
    speaker.join().unwrap();
}

#[test]
fn a_peer_that_closes_its_side_at_once_still_gets_its_answer() {
    let fixture = Fixture::start();
    let (release, until) = mpsc::channel();
    fixture.mailboxes.post(ShardIndex(0), Post::Hold(until));
    let mut client = fixture.connect();
    client.say("last words\n");
    client.stream().shutdown(Shutdown::Write).unwrap();
    drop(release);
    assert_eq!(client.hear(), "last words");
    assert_eq!(fixture.wait_for_end(), EndCause::PeerClosed);
}

#[test]
fn a_leftover_that_is_too_long_ends_the_connection() {
    let fixture = Fixture::start();
    let mut client = fixture.connect();
    client.say(&"x".repeat(engine::LEFTOVER_BYTES_MAX));
    wait_until(&fixture.counters().leftover_bytes, engine::LEFTOVER_BYTES_MAX as u64);
    client.say("x");
    assert_eq!(fixture.wait_for_end(), EndCause::Unconsumed);
    wait_until(&fixture.counters().leftover_bytes, 0);
}

#[test]
fn many_connections_come_and_go() {
    let fixture = Fixture::start_with(EngineConfig { shards: 3, ..config() }, Options::default());
    for round in 0..5 {
        let mut clients: Vec<_> = (0..60).map(|_| fixture.connect()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            client.say(&format!("{round} {number}\n"));
        }
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.hear(), format!("{round} {number}"));
        }
    }
    let all = (0..3).map(|shard| fixture.engine.counters(ShardIndex(shard)));
    let accepted: u64 = all.map(|counters| value(&counters.accepted_total)).sum();
    assert_eq!(accepted, 300);
    let ends = fixture.shut_down().iter().filter(|seen| matches!(seen, Seen::Ended(..))).count();
    assert_eq!(ends, 300, "each connection ends once");
}
