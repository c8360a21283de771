//! Owners of topics share the fan-out evenly, however many topics each has.

use crate::shard::Shard;
use hub::{Channel, ConnectionKey, Context, Joining, Micros, Outgoing, Reach};
use proto::phoenix::Payload;

/// Broadcasts each event that it gets, then replies.
struct Speaker;

impl Channel for Speaker {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        cx.broadcast(event, payload);
        cx.reply_ok(Outgoing::empty());
    }
}

fn before_slash(topic: &str) -> Option<&str> {
    topic.split_once('/').map(|(owner, _)| owner)
}

/// Opens two connections that both join all of the topics.
fn pair(shard: &mut Shard, slot: u32, topics: &[String]) -> ConnectionKey {
    let [first, second] = [slot, slot + 1].map(|slot| shard.open(slot, 1));
    for topic in topics {
        for key in [first, second] {
            shard.say(key, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
        }
    }
    first
}

/// Returns how many messages of the flood are delivered before that of the quiet owner, which is published last.
fn ahead_of_the_quiet_one(shares: bool) -> usize {
    let mut shard = Shard::new(1, || Speaker);
    if shares {
        shard.hub.share_fan_out(before_slash);
    }
    let many: Vec<String> = (0..100).map(|nth| format!("flood/{nth}")).collect();
    let few = ["quiet/0".to_owned()];
    let (loud, quiet) = (pair(&mut shard, 0, &many), pair(&mut shard, 2, &few));
    for topic in &many {
        shard.say(loud, &format!(r#"["1","2","{topic}","flooded",{{}}]"#));
    }
    shard.say(quiet, r#"["1","2","quiet/0","quiet",{}]"#);
    // The publishers' own copies.
    shard.take();

    // Both members of one topic at a time.
    let mut texts = Vec::new();
    while shard.hub.pump(Micros(0), 2, Reach::All, &mut shard.effects).any() {
        texts.extend(shard.take().texts);
    }
    texts.extend(shard.take().texts);
    assert_eq!(texts.len(), many.len() + 1, "everybody else, once");
    texts.iter().position(|text| text.contains(r#""quiet""#)).expect("it is delivered")
}

/// Publishes to topics of 200 further members each, and returns whose messages the next 256 deliveries are, in a row.
fn rows_of_a_pump(topics: &[&str]) -> Vec<(String, usize)> {
    let mut shard = Shard::new(1, || Speaker);
    shard.hub.share_fan_out(before_slash);
    let mut slots = 0..;
    let publishers = topics.iter().map(|topic| {
        let members: Vec<_> = slots.by_ref().take(201).map(|slot| shard.open(slot, 1)).collect();
        for key in &members {
            shard.say(*key, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
        }
        (members[0], topic)
    });
    for (publisher, topic) in publishers.collect::<Vec<_>>() {
        shard.say(publisher, &format!(r#"["1","2","{topic}","said",{{}}]"#));
    }
    shard.take();
    shard.hub.pump(Micros(0), 256, Reach::All, &mut shard.effects);
    let mut rows: Vec<(String, usize)> = Vec::new();
    for text in shard.take().texts {
        let topic = topics.iter().find(|topic| text.contains(**topic)).expect("it names its topic");
        match rows.last_mut() {
            Some((same, count)) if same == topic => *count += 1,
            _ => rows.push(((*topic).to_owned(), 1)),
        }
    }
    rows
}

#[test]
fn a_topic_that_is_alone_has_the_whole_turn_and_two_have_64_deliveries_in_turn() {
    let row = |topic: &str, count| (topic.to_owned(), count);
    assert_eq!(rows_of_a_pump(&["one/0"]), [row("one/0", 200)]);
    // The publisher, who is left out, is the first of its topic's members and counts as one.
    let taking_turns = [row("one/0", 63), row("two/0", 63), row("one/0", 64), row("two/0", 64)];
    assert_eq!(rows_of_a_pump(&["one/0", "two/0"]), taking_turns);
}

#[test]
fn an_owner_of_one_topic_waits_for_one_topic_of_an_owner_of_many() {
    assert_eq!(ahead_of_the_quiet_one(true), 1);
}

#[test]
fn without_owners_all_topics_take_turns() {
    assert_eq!(ahead_of_the_quiet_one(false), 100);
}
