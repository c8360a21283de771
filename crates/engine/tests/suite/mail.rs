//! Mail from other threads: it arrives, in order, and ephemeral mail is bounded.

use std::sync::mpsc;

use crate::line::{Fixture, Options, Post, Seen, config, value, wait_until};
use engine::{EngineConfig, EngineLimits, ShardIndex, Together};

const SHARD: ShardIndex = ShardIndex(0);

#[test]
fn mail_arrives_in_order_from_each_thread() {
    let fixture = Fixture::start();
    let writers: Vec<_> = (0..4u32)
        .map(|writer| {
            let mailboxes = fixture.mailboxes.clone();
            std::thread::spawn(move || {
                for number in 0..5000 {
                    mailboxes.post(SHARD, Post::Number(writer * 10_000 + number));
                }
            })
        })
        .collect();
    let mut next = [0; 4];
    for _ in 0..20_000 {
        let Seen::Mail(number) = fixture.wait_for(|seen| matches!(seen, Seen::Mail(_))) else {
            unreachable!()
        };
        let writer = (number / 10_000) as usize;
        assert_eq!(number % 10_000, next[writer]);
        next[writer] += 1;
    }
    for writer in writers {
        writer.join().unwrap();
    }
    wait_until(&fixture.counters().mailbox_depth, 0);
}

#[test]
fn a_sleeping_shard_is_woken_each_time() {
    let fixture = Fixture::start();
    for number in 0..500 {
        fixture.mailboxes.offer(SHARD, Post::Number(number)).unwrap();
        fixture.wait_for(|seen| *seen == Seen::Mail(number));
    }
}

#[test]
fn a_sleeping_shard_is_woken_by_what_is_posted_together() {
    let fixture = Fixture::start();
    for number in 0..500 {
        let together = Together::begin();
        fixture.mailboxes.offer(SHARD, Post::Number(2 * number)).unwrap();
        fixture.mailboxes.post(SHARD, Post::Number(2 * number + 1));
        drop(together);
        fixture.wait_for(|seen| *seen == Seen::Mail(2 * number + 1));
    }
}

#[test]
fn an_offer_to_a_full_mailbox_is_refused_and_counted_but_a_post_is_not() {
    let limits = EngineLimits { mailbox_len_max: 3, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let counters = fixture.counters();
    let (release, until) = mpsc::channel();
    fixture.mailboxes.post(SHARD, Post::Hold(until));
    // The mail that blocks the shard counts as waiting until it is handled.
    let refused = (0..10).filter(|number| fixture.mailboxes.offer(SHARD, Post::Number(*number)).is_err());
    assert_eq!(refused.count(), 8);
    assert_eq!(value(&counters.mailbox_dropped_total), 8);
    assert_eq!(value(&counters.mailbox_depth), 3);
    fixture.mailboxes.post(SHARD, Post::Number(99));
    drop(release);
    fixture.wait_for(|seen| *seen == Seen::Mail(99));
    wait_until(&counters.mailbox_depth, 0);
    fixture.mailboxes.offer(SHARD, Post::Number(100)).unwrap();
    fixture.wait_for(|seen| *seen == Seen::Mail(100));
}

#[test]
fn mail_posted_before_the_start_is_handled_after_it() {
    let (fixture, ()) = Fixture::start_after(config(), Options::default(), |mailboxes| {
        assert_eq!(mailboxes.len(), 1);
        mailboxes.post(SHARD, Post::Number(1));
    });
    fixture.wait_for(|seen| *seen == Seen::Mail(1));
}

#[test]
fn mail_to_a_shard_that_has_shut_down_is_dropped() {
    let fixture = Fixture::start();
    let mailboxes = fixture.mailboxes.clone();
    fixture.shut_down();
    let (held, until) = mpsc::channel();
    mailboxes.post(SHARD, Post::Hold(until));
    assert!(held.send(()).is_err(), "the letter was dropped");
}
