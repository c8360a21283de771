//! What members of ephemeral topics get after an outage of the bus: nobody stores what other nodes published meanwhile.

use crate::node::{self, Client, Node};
use hub::{BusEvent, Event, Outgoing, ShardMessage};
use serde_json::{Value, json};

/// Returns the gaps that shards saw, and those that members were told of.
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
    node.bus_comes();
    let members: Vec<Client> = (0..3).map(|shard| node.member(shard, "plain")).collect();
    for times in 1..=2 {
        node.bus_says(&BusEvent::Down);
        for &member in &members {
            assert_eq!(node.told(member), [] as [Value; 0], "it is told when it is over");
        }
        node.bus_comes();
        for &member in &members {
            assert_eq!(node.told(member), gap());
        }
        assert_eq!(gaps(&node), (3 * times, 3 * times));
    }
}

#[test]
fn a_bus_that_goes_again_before_it_confirmed_has_been_away_once() {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    let member = node.member(0, "plain");
    for _ in 0..3 {
        node.bus_says(&BusEvent::Down);
        node.bus_says(&BusEvent::Up);
        node.wanted.clear();
    }
    node.bus_says(&BusEvent::Down);
    node.bus_comes();
    assert_eq!(node.told(member), gap());
}

#[test]
fn who_joined_while_the_bus_was_away_is_told_and_who_joins_when_it_is_back_is_not() {
    let mut node = Node::on_bus(2);
    let early = node.member(0, "plain");
    node.bus_comes();
    assert_eq!(node.told(early), gap(), "the others were not heard before");
    let late = node.member(1, "plain");
    let other = node.member(1, "another");
    for client in [early, late, other] {
        assert_eq!(node.told(client), [] as [Value; 0]);
    }
    assert_eq!(gaps(&node), (1, 1));
}

#[test]
fn who_waits_for_the_bus_to_confirm_missed_nothing() {
    let mut node = Node::on_bus(2);
    node.bus_comes();
    let member = node.member(0, "plain");
    node.bus_says(&BusEvent::Down);
    node.bus_says(&BusEvent::Up);
    let (waits, told) = node.join(1, "plain", json!({}));
    assert_eq!(told, [] as [Value; 0], "no reply before the others are heard");
    node.confirm();
    assert_eq!(node.told(member), gap());
    assert_eq!(node.told(waits).iter().map(|message| &message[0]).collect::<Vec<_>>(), ["phx_reply"]);
}

#[test]
fn a_topic_that_everybody_left_has_no_gap_for_who_comes_later() {
    let mut node = Node::on_bus(2);
    node.bus_comes();
    let gone = node.member(0, "plain");
    node.bus_says(&BusEvent::Down);
    node.close(gone);
    node.settle();
    node.bus_comes();
    node.member(1, "plain");
    assert_eq!(gaps(&node), (0, 0));
}

#[test]
fn a_recoverable_topic_that_missed_nothing_has_no_gap() {
    let mut node = Node::on_bus(2);
    node.bus_comes();
    let member = node.member(1, "kept:a");
    node.bus_says(&BusEvent::Down);
    node.bus_comes();
    assert_eq!(node.told(member), [] as [Value; 0]);
    assert_eq!(gaps(&node), (0, 0));
}

#[test]
fn without_a_bus_nobody_is_told_of_one() {
    let mut node = Node::new(2, node::retention(), &hub::Limits::default());
    let member = node.member(1, "plain");
    node.settle();
    assert_eq!(node.told(member), [] as [Value; 0]);
    assert!(node.wanted.is_empty());
}

/// Publishes from outside until a topic's queue on the only shard is full.
fn fill(node: &mut Node, topic: &str) {
    let dropped = |node: &Node| node.counters()[0].publications_dropped;
    let before = dropped(node);
    while dropped(node) == before {
        let (topic, event, payload) = (topic.into(), "said".into(), Outgoing::json("1"));
        node.handle(0, Event::Shard(ShardMessage::PublishNow { topic, event, payload, here: true }));
    }
}

fn severed(node: &mut Node, topic: &str) {
    node.handle(0, Event::Shard(ShardMessage::BusOutage { topic: topic.into() }));
}

/// Creates a node with a bus, and a member of a topic whose queue is full.
fn with_a_full_queue() -> (Node, Client) {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    let member = node.member(0, "plain");
    fill(&mut node, "plain");
    (node, member)
}

/// Returns how many gaps a client got, and whether the last message was one.
fn gaps_of(node: &mut Node, client: Client) -> (usize, bool) {
    let told = node.told(client);
    let is_gap = |message: &Value| *message == gap()[0];
    (told.iter().filter(|message| is_gap(message)).count(), told.last().is_some_and(is_gap))
}

#[test]
fn a_gap_for_which_a_queue_has_no_room_is_told_to_those_who_were_there_as_soon_as_there_is_some() {
    let (mut node, member) = with_a_full_queue();
    let dropped = node.counters()[0].publications_dropped;
    severed(&mut node, "plain");
    assert_eq!(gaps(&node), (1, 0));
    let late = node.open(0);
    node.say(late, "plain", "phx_join", json!({}));
    node.settle();
    assert_eq!((gaps_of(&mut node, member), gaps(&node)), ((1, true), (1, 1)));
    assert_eq!(node.counters()[0].publications_dropped, dropped, "it was not dropped");
    assert_eq!(node.told(late).iter().map(|message| &message[0]).collect::<Vec<_>>(), ["phx_reply"]);
    fill(&mut node, "plain");
    node.settle();
    assert_eq!((gaps_of(&mut node, member).0, gaps_of(&mut node, late).0), (0, 0), "once");
}

#[test]
fn an_owed_gap_tells_of_all_outages_until_there_is_room() {
    let (mut node, member) = with_a_full_queue();
    severed(&mut node, "plain");
    let between = node.open(0);
    node.say(between, "plain", "phx_join", json!({}));
    severed(&mut node, "plain");
    node.settle();
    for client in [member, between] {
        assert_eq!(gaps_of(&mut node, client).0, 1);
    }
    assert_eq!(gaps(&node), (2, 1));
}

#[test]
fn an_owed_gap_is_forgotten_when_nobody_is_left_who_was_there() {
    let (mut node, member) = with_a_full_queue();
    severed(&mut node, "plain");
    let late = node.open(0);
    node.say(late, "plain", "phx_join", json!({}));
    node.close(member);
    node.settle();
    assert_eq!((gaps_of(&mut node, late).0, gaps(&node)), (0, (1, 0)));
    node.close(late);
    node.settle();
    assert!(node.hub(0).is_empty());
}

#[test]
fn a_topic_that_ends_owes_nothing_to_the_one_in_its_place() {
    let (mut node, member) = with_a_full_queue();
    severed(&mut node, "plain");
    node.close(member);
    assert_eq!(node.counters()[0].topics, 0);
    let other = node.member(0, "plain");
    fill(&mut node, "plain");
    node.settle();
    assert_eq!((gaps_of(&mut node, other).0, gaps(&node)), (0, (1, 0)));
}
