//! A node's reaction to a bus that withholds something: a publication that does not come back, and people of nodes that
//! are not heard of any more.

use crate::node::Node;
use hub::{
    BusEffect, BusEvent, Epoch, Micros, NodeId, NodePeople, PEOPLE_BELIEVED_US, PhxRef, Position,
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

#[test]
fn people_of_other_nodes_are_gone_when_the_bus_is_away_for_as_long_as_a_lease_stands() {
    let mut node = Node::on_bus(1);
    node.bus_comes();
    let member = node.member(0, "room");
    node.say(member, "room", "here", json!({}));
    node.settle();
    node.bus_says(&BusEvent::Leases(vec![NodeId(2)]));
    let ann = || PresenceMeta {
        key: "ann".into(),
        reference: PhxRef::parse("AAAAAgAAAAAAAAAB").expect("a ref"),
        json: r#"{"phx_ref":"a"}"#.into(),
    };
    let there = || NodePeople { node: NodeId(2), version: 1, people: vec![ann()] };
    let read = || BusEvent::People { topic: "room".into(), nodes: Some(vec![there()]) };
    node.bus_says(&read());
    let keys = |state: &Value| state.as_object().expect("people").keys().cloned().collect::<Vec<_>>();
    let told = node.told(member);
    let state = told.iter().find(|message| message[0] == "presence_state").expect("who is there");
    assert_eq!(keys(&state[1]), ["ann", "own"]);

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
    node.bus_says(&BusEvent::Leases(vec![NodeId(2)]));
    node.bus_says(&read());
    let told = node.told(member);
    let back = told.iter().find(|message| message[0] == "presence_diff").expect("she was there all the time");
    assert_eq!(keys(&back[1]["joins"]), ["ann"]);
}
