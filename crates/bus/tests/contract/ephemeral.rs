//! Ephemeral topics.

use crate::node::server::Server;
use crate::node::{Node, json};
use hub::{BusEffect, BusEvent, Dismissal, NodeId, Outgoing};
use std::sync::Arc;

fn delivered(node: &Node, topic: &str) -> (NodeId, Outgoing<'static>) {
    node.hears("a delivery", |event| match event {
        BusEvent::Delivered { node, publication } if &*publication.topic == topic => {
            assert_eq!(&*publication.event, "said");
            Some((*node, publication.payload.clone()))
        }
        _ => None,
    })
}

fn deliveries_left(node: &Node) -> usize {
    node.rest().iter().filter(|event| matches!(event, BusEvent::Delivered { .. })).count()
}

pub(crate) fn a_publication_reaches_each_node_that_asked_for_the_topic_and_no_other(engine: Server) {
    let [ann, bob, cat] = [(); 3].map(|()| Node::up(engine.settings()));
    for node in [&ann, &bob] {
        assert_eq!(node.subscribe("rooms:a"), None);
    }
    cat.subscribe("rooms:b");
    ann.publish("rooms:a", json("1"));
    assert_eq!(delivered(&bob, "rooms:a"), (ann.id, json("1")));
    // When it arrives, everything before it has been handled by everybody.
    ann.publish("rooms:b", json("2"));
    assert_eq!(delivered(&cat, "rooms:b"), (ann.id, json("2")));
    bob.publish("rooms:a", json("3"));
    assert_eq!(delivered(&ann, "rooms:a"), (bob.id, json("3")));
    assert_eq!([&bob, &cat].map(deliveries_left), [0, 0]);
    let snapshot = cat.status.snapshot();
    assert_eq!((snapshot.delivered_total, snapshot.published_total, snapshot.subscriptions), (1, 0, 1));
    assert_eq!((ann.status.snapshot().published_total, bob.status.snapshot().delivered_total), (2, 1));
}

pub(crate) fn what_one_node_publishes_comes_in_its_order(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    bob.subscribe("rooms:a");
    for number in 0..2000 {
        ann.publish("rooms:a", json(&number.to_string()));
    }
    for number in 0..2000 {
        assert_eq!(delivered(&bob, "rooms:a"), (ann.id, json(&number.to_string())));
    }
}

pub(crate) fn nothing_is_told_of_a_topic_that_is_not_wanted_any_more(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    bob.subscribe("rooms:a");
    bob.unsubscribe("rooms:a");
    // Requests are executed in order.
    bob.subscribe("rooms:b");
    ann.publish("rooms:a", json("1"));
    ann.publish("rooms:b", json("2"));
    delivered(&bob, "rooms:b");
    assert_eq!(deliveries_left(&bob), 0);
    assert_eq!(bob.status.snapshot().subscriptions, 1);
    bob.subscribe("rooms:a");
    ann.publish("rooms:a", json("3"));
    assert_eq!(delivered(&bob, "rooms:a"), (ann.id, json("3")));
}

pub(crate) fn bytes_and_texts_in_any_language_come_as_they_were(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    let topics = ["rooms:ñandú ☃", "rooms:with space\nand\u{7f}", "rooms:*", "rooms:>", "rooms:a.b", "x"];
    let bytes: Vec<u8> = (0..=255).collect();
    for topic in topics {
        bob.subscribe(topic);
        ann.publish(topic, Outgoing::Binary(bytes.clone().into()));
        assert_eq!(delivered(&bob, topic), (ann.id, Outgoing::Binary(bytes.clone().into())));
        ann.publish(topic, json("☃"));
        assert_eq!(delivered(&bob, topic), (ann.id, json("☃")));
    }
    assert_eq!(deliveries_left(&bob), 0);
}

pub(crate) fn words_of_a_node_reach_every_other_one_in_their_order(engine: Server) {
    let nodes = [(); 3].map(|()| Node::up(engine.settings()));
    let words = |number: u32| -> Arc<[u8]> { format!("☃ {number}").into_bytes().into() };
    for number in 0..100 {
        nodes[0].wants(BusEffect::Tell(words(number)));
    }
    for node in &nodes[1..] {
        for number in 0..100 {
            let told = node.hears("words", |event| match event {
                BusEvent::Told { node, words } => Some((*node, words.clone())),
                _ => None,
            });
            assert_eq!(told, (nodes[0].id, words(number)));
        }
    }
    // When this is answered, the node would have received its own message.
    nodes[0].subscribe("rooms:a");
    assert!(!nodes[0].rest().iter().any(|event| matches!(event, BusEvent::Told { .. })));
    let undecodable = nodes.iter().map(|node| node.status.snapshot().undecodable_total);
    assert_eq!(undecodable.sum::<u64>(), 0);
}

pub(crate) fn what_is_to_end_is_told_to_every_other_node_whatever_it_asked_for(engine: Server) {
    let nodes = [(); 3].map(|()| Node::up(engine.settings()));
    let dismissals = [
        Dismissal::Sockets { id: "user:☃".into(), code: 4401 },
        Dismissal::Joins { id: "user:7".into(), topic: "rooms:a".into() },
    ];
    for dismissal in &dismissals {
        nodes[0].wants(BusEffect::Dismiss(dismissal.clone()));
        for node in &nodes[1..] {
            let told = node.hears("what is to end", |event| match event {
                BusEvent::Dismissed(dismissal) => Some(dismissal.clone()),
                _ => None,
            });
            assert_eq!(&told, dismissal);
        }
    }
    // When this is answered, the node would have received its own dismissal.
    nodes[0].subscribe("rooms:a");
    assert!(!nodes[0].rest().iter().any(|event| matches!(event, BusEvent::Dismissed(_))));
    let undecodable = nodes.iter().map(|node| node.status.snapshot().undecodable_total);
    assert_eq!(undecodable.sum::<u64>(), 0);
}
