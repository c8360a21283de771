//! Recoverable topics: all nodes see the same order.

use crate::node::server::Server;
use crate::node::{Node, SHARD, texts};
use hub::{BusEffect, BusEvent, Ordered, PublisherId};

const TOPIC: &str = "kept:a";

pub(crate) fn all_nodes_are_told_the_same_order_without_a_hole(engine: Server) {
    let nodes = [(); 3].map(|()| Node::up(engine.settings()));
    let begins = nodes.each_ref().map(|node| node.subscribe(TOPIC).expect("it is recoverable"));
    assert_eq!((&begins[0], &begins[1]), (&begins[1], &begins[2]));
    let mut asked = Vec::new();
    for number in 0..100 {
        for (name, node) in nodes.iter().enumerate() {
            asked.push((node, node.asks_to_append(TOPIC, &format!("{name}:{number}"))));
        }
    }
    let mut told: Vec<_> =
        asked.into_iter().map(|(node, token)| node.append_answer(token).expect("it is kept")).collect();
    let orders = nodes.each_ref().map(|node| (0..300).map(|_| node.ordered(TOPIC)).collect::<Vec<Ordered>>());
    for order in &orders {
        let mut reached = begins[0].offset;
        for ordered in order {
            assert_eq!(ordered.previous, reached);
            assert!(ordered.position.offset > reached && ordered.position.epoch == begins[0].epoch);
            reached = ordered.position.offset;
        }
        assert_eq!(texts(order), texts(&orders[0]));
    }
    told.sort_by_key(|position| position.offset);
    let places: Vec<_> = orders[0].iter().map(|ordered| ordered.position.clone()).collect();
    assert_eq!(told, places, "each publisher was told its own place");
    for name in 0..3 {
        let own: Vec<String> =
            texts(&orders[0]).into_iter().filter(|text| text.starts_with(&format!("{name}:"))).collect();
        let sent: Vec<String> = (0..100).map(|number| format!("{name}:{number}")).collect();
        assert_eq!(own, sent, "what one shard wants is done in its order");
    }
    assert!(places.iter().all(|place| place.offset <= 1 << 53), "JavaScript keeps it");
}

pub(crate) fn a_subscription_says_where_the_topic_stands_and_nothing_is_missing_behind_that(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    for round in 0..20 {
        let tokens: Vec<_> =
            (0..20).map(|number| ann.asks_to_append(TOPIC, &format!("{round}:{number}"))).collect();
        let begin = bob.subscribe(TOPIC).expect("it is recoverable");
        let last = tokens.into_iter().map(|token| ann.append_answer(token).expect("it is kept")).last();
        let mut reached = begin.offset;
        while Some(reached) < last.as_ref().map(|last| last.offset) {
            let ordered = bob.ordered(TOPIC);
            if ordered.position.offset > begin.offset {
                assert_eq!(ordered.previous, reached, "round {round}");
                reached = ordered.position.offset;
            }
        }
        bob.unsubscribe(TOPIC);
    }
}

pub(crate) fn who_is_left_out_is_told_with_the_publication(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    bob.subscribe(TOPIC);
    let except = PublisherId::parse("AAAAAAAAAAAAAAAA");
    ann.append_answer(ann.asks_to_append_except(TOPIC, "1", except)).expect("it is kept");
    assert_eq!(bob.ordered(TOPIC).draft.except, except);
    let read = bob.read(TOPIC, hub::Span::Oldest { since: 0 });
    assert_eq!(read.ordered[0].draft.except, except);
    assert_eq!(&*read.ordered[0].draft.event, "said");
}

pub(crate) fn heads_are_told_to_the_others(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    for node in [&ann, &bob] {
        node.subscribe(TOPIC);
    }
    let position = ann.append(TOPIC, "1");
    ann.wants(BusEffect::Heads(vec![
        (TOPIC.into(), position.clone()),
        ("kept:nobody".into(), position.clone()),
    ]));
    let told = bob.hears("a head", |event| match event {
        BusEvent::Head { topic, position } if &**topic == TOPIC => Some(position.clone()),
        _ => None,
    });
    assert_eq!(told, position);
    ann.append(TOPIC, "2");
    assert!(!ann.rest().iter().any(|event| matches!(event, BusEvent::Head { .. })));
}

pub(crate) fn answers_go_to_the_shard_that_asked(engine: Server) {
    let node = Node::up(engine.settings());
    let leases = |event: &BusEvent| matches!(event, BusEvent::Leases(_)).then_some(());
    assert_eq!(node.hears_for("leases", leases), (None, ()));
    let token = node.asks_to_append(TOPIC, "1");
    let answer = |event: &BusEvent| match event {
        BusEvent::Appended { token: of, result: Ok(_) } => Some(*of),
        _ => None,
    };
    assert_eq!(node.hears_for("an answer to an append", answer), (Some(SHARD), token));
}
