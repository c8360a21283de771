//! Publications on ephemeral topics that did not reach the engine.

use crate::node::proxy::Proxy;
use crate::node::server::Server;
use crate::node::settings::{brief, settings};
use crate::node::{Node, json};
use hub::{BusEvent, NodeId};
use std::time::{Duration, Instant};

/// Two topics in the same partition of a cluster.
const FULL: &str = "rooms:k";
const BESIDE: &str = "rooms:38";

/// Waits for a loss on a topic; returns the node, and how long ago it can have occurred.
fn hears_of_loss(node: &Node, topic: &str) -> (NodeId, Duration) {
    node.hears("a loss", |event| match event {
        BusEvent::Lost { topic: of, node, age_us } if &**of == topic => {
            Some((*node, Duration::from_micros(*age_us)))
        }
        _ => None,
    })
}

fn losses_left(node: &Node) -> usize {
    node.rest().iter().filter(|event| matches!(event, BusEvent::Lost { .. })).count()
}

/// Waits until one node gets what the other publishes; everything before that has then arrived, too.
fn reaches(from: &Node, to: &Node) {
    to.subscribe("rooms:end");
    from.publish("rooms:end", json("end"));
    to.hears("the end", |event| match event {
        BusEvent::Delivered { publication, .. } => (&*publication.topic == "rooms:end").then_some(()),
        _ => None,
    });
}

pub(crate) fn what_a_node_published_while_it_was_cut_off_is_told_to_the_others_as_lost(engine: Server) {
    let proxy = Proxy::start(engine.port);
    let (ann, cat) = (Node::up(engine.settings()), Node::up(engine.settings()));
    let bob = Node::up(settings(&[&engine.url_by(proxy.port)]));
    ann.subscribe("rooms:a");
    cat.subscribe("rooms:b");
    bob.subscribe("rooms:a");
    proxy.cut();
    bob.waits_for_down();
    for (topic, text) in [("rooms:a", "1"), ("rooms:a", "2"), ("rooms:c", "3")] {
        bob.publish(topic, json(text));
    }
    bob.waits_until("three are lost", |now| now.lost_total == 3);
    let lost = Instant::now();
    proxy.heal();
    bob.waits_for_up();
    let (node, age) = hears_of_loss(&ann, "rooms:a");
    assert_eq!(node, bob.id);
    assert!(age <= lost.elapsed() + Duration::from_secs(1), "{age:?}");
    bob.subscribe("rooms:a");
    for node in [&ann, &cat] {
        reaches(&bob, node);
    }
    assert_eq!([&ann, &bob, &cat].map(losses_left), [0; 3], "once, and to nobody else");
    let snapshots = [&ann, &bob, &cat].map(|node| node.status.snapshot());
    assert_eq!(snapshots.each_ref().map(|now| (now.untold_total, now.undecodable_total)), [(0, 0); 3]);
    assert_eq!((snapshots[0].connects_total, snapshots[0].lost_total), (1, 0));
}

pub(crate) fn what_was_on_its_way_when_a_node_was_cut_off_is_told_to_the_others_as_lost(engine: Server) {
    let proxy = Proxy::start(engine.port);
    let ann = Node::up(engine.settings());
    let bob = Node::up(brief(settings(&[&engine.url_by(proxy.port)])));
    ann.subscribe("rooms:a");
    // Confirmed long before the connection is cut.
    bob.publish("rooms:a", json("0"));
    ann.hears("a delivery", |event| matches!(event, BusEvent::Delivered { .. }).then_some(()));
    std::thread::sleep(Duration::from_secs(1));
    ann.subscribe("rooms:b");
    engine.pause();
    bob.publish("rooms:b", json("1"));
    bob.waits_until("it is on its way", |now| now.published_total == 2);
    proxy.cut();
    bob.waits_for_down();
    engine.resume();
    proxy.heal();
    bob.waits_for_up();
    // Nobody knows whether it arrived.
    assert_eq!(hears_of_loss(&ann, "rooms:b").0, bob.id);
    assert_eq!((losses_left(&ann), bob.status.snapshot().lost_total), (0, 1));
}

pub(crate) fn what_is_published_before_the_engine_is_found_is_told_to_the_others_as_lost(engine: Server) {
    let proxy = Proxy::start(engine.port);
    proxy.cut();
    let ann = Node::up(engine.settings());
    ann.subscribe("rooms:a");
    let bob = Node::start(settings(&[&engine.url_by(proxy.port)]));
    bob.publish("rooms:a", json("1"));
    bob.waits_until("it is lost", |now| now.lost_total == 1);
    proxy.heal();
    bob.waits_for_up();
    assert_eq!(hears_of_loss(&ann, "rooms:a").0, bob.id);
    reaches(&bob, &ann);
    assert_eq!(losses_left(&ann), 0);
}

pub(crate) fn what_a_queue_had_no_room_for_is_told_to_the_others_as_lost(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    ann.subscribe(BESIDE);
    engine.pause();
    let large = "x".repeat(1 << 19);
    for _ in 0..400 {
        bob.publish(FULL, json(&large));
    }
    bob.publish(BESIDE, json("1"));
    bob.waits_until("the last has no room", |now| now.dropped_total + now.published_total == 401);
    engine.resume();
    assert_eq!(hears_of_loss(&ann, BESIDE).0, bob.id);
    let empty = bob.waits_until("the queue is empty", |now| now.queue_len == 0);
    assert_eq!((empty.connects_total, empty.lost_total), (1, empty.dropped_total));
    bob.publish(BESIDE, json("2"));
    ann.hears("a delivery", |event| matches!(event, BusEvent::Delivered { .. }).then_some(()));
}
