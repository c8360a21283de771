//! Engines that stop, die, and come back.

use crate::node::server::Server;
use crate::node::settings::prompt;
use crate::node::{Node, json, person, texts};
use bus::State;
use hub::{AppendError, BusEvent, Span};

const TOPIC: &str = "kept:a";

pub(crate) fn an_engine_that_stops_is_away_and_comes_back(engine: Server) {
    let node = Node::up(prompt(engine.settings()));
    engine.pause();
    node.waits_for_down();
    node.is_away_because("it does not answer in time");
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

pub(crate) fn an_engine_that_does_not_run_cannot_be_reached_and_is_found_when_it_does(mut engine: Server) {
    engine.kill();
    let node = Node::start(engine.settings());
    node.is_away_because("it cannot be reached");
    engine.start_again();
    node.waits_for_up();
}

pub(crate) fn more_than_a_queue_holds_is_answered_and_counted_and_the_rest_is_done(engine: Server) {
    let node = Node::up(engine.settings());
    engine.pause();
    // The queue's bound in bytes is reached long before its bound in messages.
    let large = "x".repeat(1 << 19);
    for _ in 0..400 {
        // In a cluster this topic is in the same partition as the other.
        node.publish("rooms:k", json(&large));
    }
    let token = node.asks_to_append(TOPIC, "1");
    assert_eq!(node.append_answer(token), Err(AppendError::Overloaded));
    let full = node.status.snapshot();
    assert!(full.dropped_total > 0);
    engine.resume();
    node.waits_until("the queue is empty", |now| now.queue_len == 0);
    let empty = node.status.snapshot();
    assert_eq!((empty.connects_total, empty.dropped_total), (1, full.dropped_total));
    node.append(TOPIC, "2");
}

pub(crate) fn what_was_kept_before_the_engine_was_killed_is_there_afterwards(mut engine: Server) {
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

pub(crate) fn an_engine_that_lost_its_newest_begins_another_order(mut engine: Server) {
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

pub(crate) fn nodes_go_on_together_after_the_engine_was_killed(mut engine: Server) {
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
