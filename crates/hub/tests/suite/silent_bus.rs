//! A node's reaction to a bus that withholds something: a publication that does not come back, and people of nodes that
//! are not heard of any more.

use crate::node::{Client, Node};
use hub::{
    BusEffect, BusEvent, Epoch, Event, Micros, NodeId, NodePeople, PEOPLE_BELIEVED_US, PhxRef, Position,
    PresenceMeta, Span,
};
use serde_json::{Value, json};

/// Advances the time exactly to the deadline.
fn wait_for_deadline(node: &mut Node) {
    node.now = node.deadline().expect("something is due");
    node.settle();
}

#[test]
fn what_was_acknowledged_and_does_not_come_back_is_missed_within_two_seconds() {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    let member = node.member(0, "kept:room");
    node.say(member, "kept:room", "say", json!({}));
    node.settle();
    let appended = std::mem::take(&mut node.wanted).into_iter().find_map(|wanted| match wanted {
        BusEffect::Append { token, .. } => Some(token),
        _ => None,
    });
    let position = Position { epoch: Epoch::new("e").expect("an epoch"), offset: 1 };
    let token = appended.expect("it is to be ordered");
    node.bus_says(&BusEvent::Appended { token, result: Ok(position.clone()) });
    assert!(node.wanted.is_empty(), "it may be on its way");
    wait_for_deadline(&mut node);
    assert!(node.now <= Micros(2_000_000));
    let reads = node.wanted.iter().filter_map(|wanted| match wanted {
        BusEffect::ReadHistory { span, .. } => Some(*span),
        _ => None,
    });
    assert_eq!(reads.collect::<Vec<_>>(), [Span::Oldest { since: 0 }]);
    let told = |wanted: &BusEffect| matches!(wanted, BusEffect::Heads(heads) if heads[0].1 == position);
    assert!(node.wanted.iter().any(told), "the others are told");
    assert_eq!(node.counters()[0].gaps, 1);
}

const ELSEWHERE: NodeId = NodeId(2);

/// The bus's answer to who is on a topic: Ann, on another node.
fn ann_is_elsewhere(topic: &str) -> BusEvent {
    let ann = PresenceMeta {
        key: "ann".into(),
        reference: PhxRef::parse("AAAAAgAAAAAAAAAB").expect("a ref"),
        json: r#"{"phx_ref":"a"}"#.into(),
    };
    let there = NodePeople { node: ELSEWHERE, version: 1, people: vec![ann] };
    BusEvent::People { topic: topic.into(), nodes: Some(vec![there]) }
}

/// A member who is present on a topic, and knows that Ann is.
fn member_who_sees_ann(node: &mut Node, topic: &str) -> Client {
    let member = node.member(0, topic);
    node.say(member, topic, "here", json!({}));
    node.settle();
    node.bus_says(&ann_is_elsewhere(topic));
    let told = node.told(member);
    let state = told.iter().find(|message| message[0] == "presence_state").expect("who is there");
    assert_eq!(keys(&state[1]), ["ann", "own"]);
    member
}

fn keys(state: &Value) -> Vec<String> {
    state.as_object().expect("people").keys().cloned().collect()
}

#[test]
fn people_of_other_nodes_are_gone_when_the_bus_is_away_for_as_long_as_a_lease_stands() {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    node.bus_says(&BusEvent::Leases(vec![ELSEWHERE]));
    let member = member_who_sees_ann(&mut node, "room");

    node.bus_says(&BusEvent::Down);
    node.now = Micros(node.now.0 + PEOPLE_BELIEVED_US - 1);
    node.settle();
    assert_eq!(node.told(member), [] as [Value; 0], "it may be back in time");
    wait_for_deadline(&mut node);
    let told = node.told(member);
    assert_eq!(told.iter().map(|message| &message[0]).collect::<Vec<_>>(), ["presence_diff"]);
    assert_eq!((keys(&told[0][1]["leaves"]), keys(&told[0][1]["joins"])), (vec!["ann".to_owned()], vec![]));
    assert_eq!(node.deadline(), None);

    node.bus_comes();
    node.bus_says(&BusEvent::Leases(vec![ELSEWHERE]));
    node.bus_says(&ann_is_elsewhere("room"));
    let told = node.told(member);
    let back = told.iter().find(|message| message[0] == "presence_diff").expect("she was there all the time");
    assert_eq!(keys(&back[1]["joins"]), ["ann"]);
}

#[test]
fn people_of_a_node_that_is_gone_are_removed_from_some_topics_in_a_turn() {
    const TOPICS: usize = 300;
    let mut node = Node::on_bus(1);
    node.bus_comes();
    node.bus_says(&BusEvent::Leases(vec![ELSEWHERE]));
    let members: Vec<Client> =
        (0..TOPICS).map(|number| member_who_sees_ann(&mut node, &format!("room:{number}"))).collect();
    let told = |node: &mut Node| {
        members.iter().flat_map(|member| node.told(*member)).filter(|told| told[0] == "presence_diff").count()
    };
    node.handle(0, Event::Bus(BusEvent::Leases(vec![])));
    node.pump(0);
    node.pump(0);
    let first = told(&mut node);
    assert!((1..TOPICS).contains(&first), "{first} topics in the first turns");
    node.settle();
    assert_eq!(first + told(&mut node), TOPICS);
}

#[test]
fn people_of_a_node_that_lost_its_lease_for_a_moment_are_read_again() {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    node.bus_says(&BusEvent::Leases(vec![ELSEWHERE]));
    let member = member_who_sees_ann(&mut node, "room");
    node.wanted.clear();
    // Both before a turn: nothing was removed.
    node.handle(0, Event::Bus(BusEvent::Leases(vec![])));
    node.handle(0, Event::Bus(BusEvent::Leases(vec![ELSEWHERE])));
    node.settle();
    let is_read =
        |wanted: &BusEffect| matches!(wanted, BusEffect::ReadPeople { topic } if &**topic == "room");
    assert!(node.wanted.iter().any(is_read), "she may have gone meanwhile");
    node.bus_says(&BusEvent::People { topic: "room".into(), nodes: Some(vec![]) });
    let told = node.told(member);
    assert_eq!(told.iter().map(|message| keys(&message[1]["leaves"])).collect::<Vec<_>>(), [["ann"]]);
}
