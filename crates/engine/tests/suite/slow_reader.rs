//! A peer that does not read: what waits for it is bounded, and the driver chooses how it ends.

use std::time::Duration;

use crate::line::{Fixture, Options, PATIENCE, Post, Seen, config, value, wait_until};
use crate::watching::wait_for;
use bytes::Bytes;
use engine::{EndCause, EngineConfig, EngineLimits, ShardIndex};

/// More messages of 1,000 bytes than the kernel's buffers of a pair hold.
const FLOOD: u32 = 20_000;

fn with_outbox(outbox_bytes_max: usize, linger: Duration) -> Fixture {
    let limits = EngineLimits { outbox_bytes_max, linger, ..EngineLimits::default() };
    Fixture::start_with(EngineConfig { limits, ..config() }, Options::default())
}

#[test]
fn what_the_kernel_does_not_take_waits_and_arrives_in_order() {
    let fixture = with_outbox(usize::MAX, PATIENCE);
    let counters = fixture.counters();
    let mut client = fixture.connect();
    client.say(&format!("flood {FLOOD}\nand this\n"));
    fixture.wait_for(|seen| *seen == Seen::Line(b"and this".to_vec()));
    assert!(value(&counters.outbox_bytes) > 0);
    for message in 0..FLOOD {
        assert_eq!(client.hear(), format!("{message:0>999}"));
    }
    assert_eq!(client.hear(), "and this");
    wait_until(&counters.outbox_bytes, 0);
    wait_until(&counters.extra_bytes, 0);
}

#[test]
fn an_outbox_beyond_its_limit_ends_with_whole_messages_and_last_words() {
    let fixture = with_outbox(100_000, PATIENCE);
    let counters = fixture.counters();
    let mut client = fixture.connect();
    client.say(&format!("flood {FLOOD}\n"));
    fixture.wait_for(|seen| *seen == Seen::Overflowed);
    wait_until(&counters.outbox_overflows_total, 1);
    let lines = client.hear_all();
    assert!(lines.len() < FLOOD as usize, "what had not begun was dropped");
    let (last, messages) = lines.split_last().unwrap();
    assert_eq!(last, "too slow");
    for (number, message) in messages.iter().enumerate() {
        assert_eq!(*message, format!("{number:0>999}"));
    }
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
    assert_eq!(value(&counters.outbox_bytes), 0);
    assert_eq!(value(&counters.extra_bytes), 0);
}

#[test]
fn what_waits_for_all_peers_together_is_bounded_too() {
    const TOGETHER: usize = 600_000;
    let limits = EngineLimits {
        outbox_bytes_max: usize::MAX,
        outboxes_bytes_max: TOGETHER,
        linger: PATIENCE,
        ..EngineLimits::default()
    };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let counters = fixture.counters();
    let mut slow: Vec<_> = (0..4).map(|_| fixture.connect()).collect();
    for client in &mut slow {
        client.say(&format!("flood {FLOOD}\n"));
        fixture.wait_for(|seen| *seen == Seen::Overflowed);
        assert!(value(&counters.outbox_memory_bytes) < TOGETHER as u64);
    }
    wait_until(&counters.outbox_overflows_total, 4);
    drop(slow);
    wait_until(&counters.open, 0);
    wait_until(&counters.outbox_memory_bytes, 0);
}

#[test]
fn a_peer_that_never_reads_is_cut_when_the_linger_time_is_over() {
    let fixture = with_outbox(100_000, Duration::from_millis(50));
    let mut client = fixture.connect();
    client.say(&format!("flood {FLOOD}\n"));
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
    assert_eq!(value(&fixture.counters().open), 0);
}

#[test]
fn a_slow_peer_does_not_hold_up_the_others() {
    let fixture = with_outbox(usize::MAX, Duration::from_millis(50));
    let mut slow = fixture.connect();
    slow.say(&format!("flood {FLOOD}\n"));
    let mut quick = fixture.connect();
    wait_until(&fixture.counters().open, 2);
    fixture.mailboxes.post(ShardIndex(0), Post::Broadcast(Bytes::from_static(b"all\n")));
    assert_eq!(quick.hear(), "all");
    for _ in 0..FLOOD {
        slow.hear();
    }
    assert_eq!(slow.hear(), "all", "what is delivered goes behind what waits");
}

#[test]
fn what_peers_do_not_take_of_a_broadcast_at_once_waits_for_each_and_arrives_in_order() {
    // More than the kernel's buffers of a pair hold.
    let large = "x".repeat(20 << 20);
    let fixture = with_outbox(usize::MAX, PATIENCE);
    let counters = fixture.counters();
    let mut clients: Vec<_> = (0..3).map(|_| fixture.connect()).collect();
    wait_until(&counters.open, 3);
    let messages = ["before", &large, "after"];
    for message in messages {
        fixture.mailboxes.post(ShardIndex(0), Post::Broadcast(Bytes::from(format!("{message}\n"))));
    }
    wait_for(&counters.outbox_bytes, |bytes| bytes > 0, "the kernel does not take more than it can hold");
    for client in &mut clients {
        for message in messages {
            assert!(client.hear() == message, "each message arrives whole, in its turn");
        }
    }
    wait_until(&counters.outbox_bytes, 0);
    let length: usize = messages.iter().map(|message| message.len() + 1).sum();
    assert_eq!(value(&counters.bytes_out), 3 * length as u64);
}

#[test]
fn a_close_still_sends_what_waits() {
    let fixture = with_outbox(usize::MAX, PATIENCE);
    let mut client = fixture.connect();
    client.say(&format!("flood {FLOOD}\nclose\n"));
    fixture.wait_for(|seen| *seen == Seen::Line(b"close".to_vec()));
    assert_eq!(client.hear_all().len(), FLOOD as usize);
    assert_eq!(fixture.wait_for_end(), EndCause::Local);
}
