//! What members of ephemeral topics get when another node's publication did not reach the bus while the bus was up for
//! this node.

use crate::node::{Client, Node};
use hub::{BusEffect, BusEvent, NodeId};
use serde_json::{Value, json};

const SECOND_US: u64 = 1_000_000;
/// This node is the first one.
const OTHER: NodeId = NodeId(2);

/// Creates a node whose bus has been up for ten seconds.
fn node() -> Node {
    let mut node = Node::on_bus(3);
    node.bus_comes();
    node.now.0 += 10 * SECOND_US;
    node
}

/// Reports a loss of another node of the given age.
fn lost(node: &mut Node, by: NodeId, topic: &str, age_us: u64) {
    // To every shard: those that are not the topic's home ignore it.
    node.bus_says(&BusEvent::Lost { topic: topic.into(), node: by, age_us });
}

fn gap() -> Vec<Value> {
    vec![json!(["gap", { "reason": "bus" }])]
}

const NOTHING: [Value; 0] = [];

#[test]
fn members_on_every_shard_are_told_each_time_that_something_is_lost_to_them() {
    let mut node = node();
    let members: Vec<Client> = (0..3).map(|shard| node.member(shard, "plain")).collect();
    let stranger = node.member(0, "another");
    for _ in 0..2 {
        node.now.0 += 5 * SECOND_US;
        lost(&mut node, OTHER, "plain", SECOND_US);
        for &member in &members {
            assert_eq!(node.told(member), gap());
        }
    }
    assert_eq!(node.told(stranger), NOTHING);
}

#[test]
fn who_was_told_of_an_outage_here_after_the_loss_is_not_told_again() {
    let mut node = node();
    let member = node.member(1, "plain");
    node.bus_says(&BusEvent::Down);
    node.bus_comes();
    assert_eq!(node.told(member), gap());
    node.now.0 += 3 * SECOND_US;
    lost(&mut node, OTHER, "plain", 4 * SECOND_US);
    assert_eq!(node.told(member), NOTHING, "it was lost before");
    lost(&mut node, OTHER, "plain", 2 * SECOND_US);
    assert_eq!(node.told(member), gap(), "it was lost after that");
}

#[test]
fn what_two_nodes_lost_in_the_same_outage_is_told_once() {
    let mut node = node();
    let member = node.member(1, "plain");
    node.now.0 += 5 * SECOND_US;
    lost(&mut node, OTHER, "plain", SECOND_US);
    node.now.0 += SECOND_US;
    lost(&mut node, NodeId(3), "plain", 2 * SECOND_US);
    assert_eq!(node.told(member), gap());
}

#[test]
fn in_doubt_members_are_told_again() {
    let mut node = node();
    let member = node.member(1, "plain");
    node.now.0 += 5 * SECOND_US;
    for _ in 0..2 {
        lost(&mut node, OTHER, "plain", SECOND_US / 100);
        assert_eq!(node.told(member), gap(), "shards tell the time less exactly than that");
    }
}

#[test]
fn who_came_after_the_loss_missed_nothing() {
    let mut node = node();
    let member = node.member(1, "plain");
    lost(&mut node, OTHER, "plain", SECOND_US);
    assert_eq!(node.told(member), NOTHING);
}

#[test]
fn an_outage_here_that_is_not_over_is_told_when_it_is_and_that_is_all() {
    let mut node = node();
    let member = node.member(1, "plain");
    node.bus_says(&BusEvent::Down);
    node.bus_says(&BusEvent::Up);
    lost(&mut node, OTHER, "plain", 0);
    assert_eq!(node.told(member), NOTHING);
    node.confirm();
    assert_eq!(node.told(member), gap());
}

#[test]
fn what_this_node_lost_its_own_members_have() {
    let mut node = node();
    let member = node.member(1, "plain");
    lost(&mut node, NodeId(1), "plain", 0);
    assert_eq!(node.told(member), NOTHING);
}

#[test]
fn of_recoverable_topics_nothing_is_lost_so() {
    let mut node = node();
    let member = node.member(1, "kept:a");
    lost(&mut node, OTHER, "kept:a", 0);
    assert_eq!(node.told(member), NOTHING);
}

#[test]
fn a_topic_without_members_has_nobody_to_be_told() {
    let mut node = node();
    lost(&mut node, OTHER, "plain", 0);
    let member = node.member(1, "plain");
    node.close(member);
    node.settle();
    lost(&mut node, OTHER, "plain", 0);
    assert_eq!(node.counters().iter().map(|of| of.gaps).sum::<u64>(), 0);
    assert!((0..3).all(|shard| node.hub(shard).is_empty()));
}

#[test]
fn the_bus_is_given_what_is_published_while_it_is_away_if_nobody_keeps_it() {
    let mut node = Node::on_bus(2);
    let [plain, kept] = ["plain", "kept:a"].map(|topic| node.member(1, topic));
    node.wanted.clear();
    node.say(plain, "plain", "say", json!(1));
    node.say(kept, "kept:a", "say", json!({}));
    node.settle();
    let [BusEffect::Publish(publication)] = &node.wanted[..] else { panic!("{:?}", node.wanted) };
    assert_eq!(&*publication.topic, "plain");
}
