//! People under their nodes' leases.

use crate::node::server::Server;
use crate::node::settings::{brief, prompt};
use crate::node::{Node, person};
use hub::{BusEffect, BusEvent, NodePeople, PresenceChange};

const TOPIC: &str = "rooms:a";

fn change(node: &Node) -> (u64, u64, u64, PresenceChange) {
    node.hears("a change of people", |event| match event {
        BusEvent::Present { topic, node, version, previous, change } if &**topic == TOPIC => {
            Some((node.0, *version, *previous, (**change).clone()))
        }
        _ => None,
    })
}

pub(crate) fn a_change_reaches_the_others_and_is_kept(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    for node in [&ann, &bob] {
        node.subscribe(TOPIC);
    }
    let (one, two) = (person("ännchen", 1), person("ännchen", 2));
    ann.comes(TOPIC, (4, 0), &one);
    ann.comes(TOPIC, (7, 4), &two);
    let joined = |meta: &hub::PresenceMeta| PresenceChange { left: None, joined: Some(meta.clone()) };
    assert_eq!(change(&bob), (ann.id.0, 4, 0, joined(&one)));
    assert_eq!(change(&bob), (ann.id.0, 7, 4, joined(&two)));
    let people = vec![one.clone(), two.clone()];
    assert_eq!(bob.who_is_there(TOPIC), [NodePeople { node: ann.id, version: 7, people }]);
    ann.goes(TOPIC, (8, 7), &one);
    let left = PresenceChange { left: Some((one.key.clone(), one.reference)), joined: None };
    assert_eq!(change(&bob), (ann.id.0, 8, 7, left));
    assert_eq!(bob.who_is_there(TOPIC), [NodePeople { node: ann.id, version: 8, people: vec![two.clone()] }]);
    ann.goes(TOPIC, (9, 8), &two);
    change(&bob);
    assert_eq!(bob.who_is_there(TOPIC), [NodePeople { node: ann.id, version: 9, people: vec![] }]);
    assert!(
        !ann.rest().iter().any(|event| matches!(event, BusEvent::Present { .. })),
        "its own are not told"
    );
}

pub(crate) fn all_people_of_a_node_replace_those_before(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    bob.subscribe(TOPIC);
    ann.comes(TOPIC, (1, 0), &person("ann", 1));
    let people = vec![person("bea", 2), person("cat", 3)];
    ann.wants(BusEffect::People { topic: TOPIC.into(), version: 5, people: people.clone() });
    let head = |wanted: u64| {
        bob.hears("how far people changed", |event| match event {
            BusEvent::PresenceHead { node, version, .. } if *version == wanted => Some(*node),
            _ => None,
        })
    };
    assert_eq!(head(5), ann.id);
    assert_eq!(bob.who_is_there(TOPIC), [NodePeople { node: ann.id, version: 5, people }]);
    ann.wants(BusEffect::PresenceHeads(vec![(TOPIC.into(), 5)]));
    assert_eq!(head(5), ann.id);
    ann.wants(BusEffect::People { topic: TOPIC.into(), version: 6, people: vec![] });
    head(6);
    assert_eq!(bob.who_is_there(TOPIC), [NodePeople { node: ann.id, version: 6, people: vec![] }]);
    assert_eq!(bob.who_is_there("rooms:b"), []);
}

pub(crate) fn nodes_see_each_other_come(engine: Server) {
    let ann = Node::up(engine.settings());
    ann.sees_leases(&[ann.id]);
    let bob = Node::up(engine.settings());
    bob.sees_leases(&[ann.id, bob.id]);
    ann.sees_leases(&[ann.id, bob.id]);
    assert_eq!(ann.status.snapshot().nodes, 2);
}

pub(crate) fn a_node_that_was_killed_takes_its_people_with_it(engine: Server) {
    let [ann, bob] = [(); 2].map(|()| Node::up(prompt(engine.settings())));
    bob.subscribe(TOPIC);
    ann.sees_leases(&[ann.id, bob.id]);
    ann.comes(TOPIC, (1, 0), &person("ann", 1));
    change(&bob);
    ann.kill();
    bob.sees_leases(&[bob.id]);
    assert_eq!(bob.who_is_there(TOPIC), []);
}

pub(crate) fn a_node_whose_lease_was_over_comes_back_without_its_people(mut engine: Server) {
    let settings = brief(engine.settings());
    let lease = settings.times.lease;
    let ann = Node::up(settings);
    ann.comes(TOPIC, (1, 0), &person("ann", 1));
    // Answered after the preceding change was accepted.
    assert_eq!(ann.who_is_there(TOPIC), []);
    engine.kill();
    ann.waits_for_down();
    // No node is left that could notice the expiry.
    std::thread::sleep(lease);
    engine.start_again();
    ann.waits_for_up();
    let bob = Node::up(engine.settings());
    bob.sees_leases(&[ann.id, bob.id]);
    assert_eq!(bob.who_is_there(TOPIC), []);
}
