//! What members of ephemeral topics are told when the bus was away: nobody keeps what other nodes published meanwhile.

#[allow(unreachable_pub, dead_code, reason = "shared with other tests, which use other parts")]
mod node;

use hub::{BusEffect, BusEvent, Epoch, Position};
use node::{Client, Node};
use serde_json::{Value, json};

/// The bus confirms every subscription that it was asked for.
fn confirm(node: &mut Node) {
    node.settle();
    for effect in std::mem::take(&mut node.wanted) {
        let BusEffect::Interest { topic, on: Some(subscription) } = effect else { continue };
        let start = || Position { epoch: Epoch::new("e").expect("an epoch"), offset: 0 };
        let position = topic.starts_with("kept:").then(start);
        node.bus_says(&BusEvent::Subscribed { topic, subscription, position });
    }
}

fn bus_comes(node: &mut Node) {
    node.bus_says(&BusEvent::Up);
    confirm(node);
}

fn join(node: &mut Node, shard: usize, topic: &str) -> Client {
    let (client, mut told) = node.join(shard, topic, json!({}));
    confirm(node);
    told.extend(node.told(client));
    assert_eq!(told.iter().map(|message| &message[0]).collect::<Vec<_>>(), ["phx_reply"], "{told:?}");
    client
}

/// Gaps that shards saw, and those that members were told of.
fn gaps(node: &Node) -> (u64, u64) {
    let counters = node.counters();
    (counters.iter().map(|of| of.gaps).sum(), counters.iter().map(|of| of.gaps_told).sum())
}

fn gap() -> Vec<Value> {
    vec![json!(["gap", { "reason": "bus" }])]
}

#[test]
fn members_on_every_shard_are_told_once_for_each_time_that_the_bus_was_away() {
    let mut node = Node::on_bus(3);
    bus_comes(&mut node);
    let members: Vec<Client> = (0..3).map(|shard| join(&mut node, shard, "plain")).collect();
    for times in 1..=2 {
        node.bus_says(&BusEvent::Down);
        for &member in &members {
            assert_eq!(node.told(member), [] as [Value; 0], "it is told when it is over");
        }
        bus_comes(&mut node);
        for &member in &members {
            assert_eq!(node.told(member), gap());
        }
        assert_eq!(gaps(&node), (3 * times, 3 * times));
    }
}

#[test]
fn a_bus_that_goes_again_before_it_confirmed_has_been_away_once() {
    let mut node = Node::on_bus(1);
    bus_comes(&mut node);
    let member = join(&mut node, 0, "plain");
    for _ in 0..3 {
        node.bus_says(&BusEvent::Down);
        node.bus_says(&BusEvent::Up);
        node.wanted.clear();
    }
    node.bus_says(&BusEvent::Down);
    bus_comes(&mut node);
    assert_eq!(node.told(member), gap());
}

#[test]
fn who_joined_while_the_bus_was_away_is_told_and_who_joins_when_it_is_back_is_not() {
    let mut node = Node::on_bus(2);
    let early = join(&mut node, 0, "plain");
    bus_comes(&mut node);
    assert_eq!(node.told(early), gap(), "the others were not heard before");
    let late = join(&mut node, 1, "plain");
    let other = join(&mut node, 1, "another");
    for client in [early, late, other] {
        assert_eq!(node.told(client), [] as [Value; 0]);
    }
    assert_eq!(gaps(&node), (1, 1));
}

#[test]
fn who_waits_for_the_bus_to_confirm_missed_nothing() {
    let mut node = Node::on_bus(2);
    bus_comes(&mut node);
    let member = join(&mut node, 0, "plain");
    node.bus_says(&BusEvent::Down);
    node.bus_says(&BusEvent::Up);
    let (waits, told) = node.join(1, "plain", json!({}));
    assert_eq!(told, [] as [Value; 0], "no reply before the others are heard");
    confirm(&mut node);
    assert_eq!(node.told(member), gap());
    assert_eq!(node.told(waits).iter().map(|message| &message[0]).collect::<Vec<_>>(), ["phx_reply"]);
}

#[test]
fn a_topic_that_everybody_left_has_no_gap_for_who_comes_later() {
    let mut node = Node::on_bus(2);
    bus_comes(&mut node);
    let gone = join(&mut node, 0, "plain");
    node.bus_says(&BusEvent::Down);
    node.close(gone);
    node.settle();
    bus_comes(&mut node);
    join(&mut node, 1, "plain");
    assert_eq!(gaps(&node), (0, 0));
}

#[test]
fn a_recoverable_topic_that_missed_nothing_has_no_gap() {
    let mut node = Node::on_bus(2);
    bus_comes(&mut node);
    let member = join(&mut node, 1, "kept:a");
    node.bus_says(&BusEvent::Down);
    bus_comes(&mut node);
    assert_eq!(node.told(member), [] as [Value; 0]);
    assert_eq!(gaps(&node), (0, 0));
}

#[test]
fn without_a_bus_nobody_is_told_of_one() {
    let mut node = Node::new(2, node::retention(), &hub::Limits::default());
    let member = join(&mut node, 1, "plain");
    node.settle();
    assert_eq!(node.told(member), [] as [Value; 0]);
    assert!(node.wanted.is_empty());
}
