//! Joins beyond the rate are queued in order, and do not delay established clients.

use crate::shard::{Shard, topic_at};
use hub::{Channel, ConnectionKey, Context, Event, Joining, Limits, Micros};
use proto::phoenix::Payload;

/// Echoes each message, and the payload of its join.
struct Echo;

impl Channel for Echo {
    fn join(&mut self, _: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        Joining::Accept(hub::Outgoing::from(payload).into_owned())
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, _: &str, payload: Payload<'_>) {
        cx.reply_ok(payload);
    }
}

/// One join every ten milliseconds, and a wait of at most fifty milliseconds.
fn paced() -> Shard {
    let limits = Limits { join_interval_us: 10_000, join_wait_us_max: 50_000, ..Limits::default() };
    Shard::with_limits(1, limits, || Echo)
}

fn join(shard: &mut Shard, slot: u32) -> ConnectionKey {
    let key = shard.open(slot, 1);
    shard.say(key, &format!(r#"["1","1","{}","phx_join",{{"number":{slot}}}]"#, topic_at(0)));
    key
}

fn accepted(slot: u32) -> String {
    let topic = topic_at(0);
    format!(r#"["1","1","{topic}","phx_reply",{{"status":"ok","response":{{"number":{slot}}}}}]"#)
}

#[test]
fn joins_beyond_the_pace_are_answered_later_and_in_their_order() {
    let mut shard = paced();
    for slot in 0..4 {
        join(&mut shard, slot);
    }
    shard.pump();
    assert_eq!(shard.take().texts, [accepted(0)]);
    assert_eq!(shard.hub.counters().joins_waiting, 3);
    assert_eq!(shard.hub.deadline(), Some(Micros(10_000)));
    shard.now = Micros(10_000);
    shard.pump();
    assert_eq!(shard.take().texts, [accepted(1)]);
    shard.now = Micros(15_000);
    shard.pump();
    assert_eq!(shard.take().texts, [] as [String; 0]);
    shard.now = Micros(40_000);
    shard.pump();
    assert_eq!(shard.take().texts, [accepted(2), accepted(3)], "what the shard was late for is made up for");
    let counters = shard.hub.counters();
    assert_eq!((counters.joins_waiting, counters.joins_queued, counters.joins), (0, 3, 4));
    assert_eq!(shard.hub.deadline(), None);
}

#[test]
fn who_would_wait_too_long_is_refused_and_told_when_to_come_back() {
    let mut shard = paced();
    for slot in 0..7 {
        join(&mut shard, slot);
    }
    let topic = topic_at(0);
    let refused = format!(
        r#"["1","1","{topic}","phx_reply",{{"status":"error","response":{{"reason":"overloaded","retry_after_ms":60}}}}]"#
    );
    assert_eq!(shard.take().texts, [accepted(0), refused]);
    let counters = shard.hub.counters();
    assert_eq!((counters.joins_waiting, counters.joins_overloaded, counters.joins_refused), (5, 1, 1));
}

#[test]
fn who_is_there_is_answered_at_once_and_who_waits_after_its_join() {
    let mut shard = paced();
    let (there, waits) = (join(&mut shard, 0), join(&mut shard, 1));
    shard.take();
    let topic = topic_at(0);
    let echo = |key, shard: &mut Shard| shard.say(key, &format!(r#"["1","2","{topic}","echo",{{}}]"#));
    let heartbeat = r#"[null,"3","phoenix","heartbeat",{}]"#;
    echo(waits, &mut shard);
    shard.say(waits, heartbeat);
    echo(there, &mut shard);
    let echoed = format!(r#"["1","2","{topic}","phx_reply",{{"status":"ok","response":{{}}}}]"#);
    let beaten = r#"[null,"3","phoenix","phx_reply",{"status":"ok","response":{}}]"#;
    assert_eq!(shard.take().texts, [beaten, &echoed]);
    shard.now = Micros(10_000);
    shard.pump();
    assert_eq!(shard.take().texts, [accepted(1), echoed]);
}

#[test]
fn who_goes_while_it_waits_takes_nobodys_turn() {
    let mut shard = paced();
    let keys: Vec<ConnectionKey> = (0..4).map(|slot| join(&mut shard, slot)).collect();
    shard.take();
    shard.handle(Event::Closed(keys[1]));
    // Another connection has its slot now, and has joined nothing.
    shard.open(1, 2);
    shard.now = Micros(10_000);
    shard.pump();
    assert_eq!(shard.take().texts, [accepted(2)]);
    assert_eq!(shard.hub.counters().joins_waiting, 1);
}
