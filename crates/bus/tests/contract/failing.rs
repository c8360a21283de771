//! Engines that stop, die, and come back.

use crate::engine::Engine;
use crate::node::child::prompt;
use crate::node::{Node, person, texts};
use bus::State;
use hub::{BusEvent, Span};

const TOPIC: &str = "kept:a";

pub(crate) fn an_engine_that_stops_is_away_and_comes_back(engine: impl Engine) {
    let node = Node::up(prompt(engine.settings()));
    engine.pause();
    node.waits_for_down();
    node.is_away_because("");
    assert_eq!(node.status.snapshot().nodes, 0);
    engine.resume();
    node.waits_for_up();
    node.sees_leases(&[node.id]);
    assert!(matches!(node.status.state(), State::Up { .. }));
    assert!(node.status.snapshot().connects_total >= 2);
    node.subscribe(TOPIC);
    node.append(TOPIC, "1");
    node.ordered(TOPIC);
}

pub(crate) fn what_was_kept_before_the_engine_was_killed_is_there_afterwards(mut engine: impl Engine) {
    let node = Node::up(engine.settings());
    let begin = node.subscribe(TOPIC).expect("it is recoverable");
    let last = (0..50).map(|number| node.append(TOPIC, &number.to_string())).last();
    engine.kill();
    node.waits_for_down();
    engine.start_again();
    node.waits_for_up();
    assert_eq!(node.subscribe(TOPIC), last, "the order goes on");
    node.append(TOPIC, "50");
    let read = node.read(TOPIC, Span::Oldest { since: begin.offset });
    assert_eq!((read.from, read.head.epoch), (begin.offset, begin.epoch));
    assert_eq!(texts(&read.ordered), (0..=50).map(|number| number.to_string()).collect::<Vec<_>>());
}

pub(crate) fn an_engine_that_lost_its_newest_begins_another_order(mut engine: impl Engine) {
    let node = Node::up(engine.settings());
    let begin = node.subscribe(TOPIC).expect("it is recoverable");
    let kept = node.append(TOPIC, "kept");
    engine.save_files();
    let lost = node.append(TOPIC, "lost");
    assert_eq!(lost.epoch, begin.epoch);
    engine.kill();
    node.waits_for_down();
    engine.restore_files();
    engine.start_again();
    node.waits_for_up();
    let anew = node.subscribe(TOPIC).expect("it is recoverable");
    assert_ne!(anew.epoch, begin.epoch);
    assert_eq!(anew.offset, kept.offset);
    assert!(node.append(TOPIC, "new").offset > lost.offset, "no offset is given twice");
}

pub(crate) fn nodes_go_on_together_after_the_engine_was_killed(mut engine: impl Engine) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    ann.sees_leases(&[ann.id, bob.id]);
    engine.kill();
    for node in [&ann, &bob] {
        node.waits_for_down();
    }
    engine.start_again();
    for node in [&ann, &bob] {
        node.waits_for_up();
        node.sees_leases(&[ann.id, bob.id]);
        node.subscribe("rooms:a");
    }
    ann.comes("rooms:a", (1, 0), &person("ann", 1));
    bob.hears("somebody who came", |event| matches!(event, BusEvent::Present { .. }).then_some(()));
    assert_eq!(bob.who_is_there("rooms:a").len(), 1);
}
