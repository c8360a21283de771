//! The histories of recoverable topics.

use crate::node::server::Server;
use crate::node::{DEADLINE, Node, texts};
use hub::{BusHistory, Ordered, Span};
use std::time::{Duration, Instant};

const TOPIC: &str = "kept:a";

fn numbers(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|number| number.to_string()).collect()
}

fn fill(node: &Node, topic: &str, count: usize) -> Vec<u64> {
    let tokens: Vec<_> = numbers(0, count).iter().map(|text| node.asks_to_append(topic, text)).collect();
    tokens.into_iter().map(|token| node.append_answer(token).expect("it is kept").offset).collect()
}

/// Asserts that each publication follows the one before it, and the first one follows `from`.
fn assert_whole(history: &BusHistory) {
    let mut reached = history.from;
    for Ordered { position, previous, .. } in &history.ordered {
        assert_eq!(*previous, reached);
        reached = position.offset;
    }
}

pub(crate) fn everything_is_read_from_the_oldest_on(engine: Server) {
    let (ann, bob) = (Node::up(engine.settings()), Node::up(engine.settings()));
    let begin = ann.subscribe(TOPIC).expect("it is recoverable").offset;
    let offsets = fill(&ann, TOPIC, 900);
    let (mut since, mut read, mut parts) = (begin, Vec::new(), 0);
    loop {
        let part = bob.read(TOPIC, Span::Oldest { since });
        assert_eq!((part.from, part.head.offset), (since, offsets[899]));
        assert_whole(&part);
        assert_eq!(part.ordered.last().map(|last| last.position.offset), Some(part.to));
        since = part.to;
        read.extend(part.ordered);
        parts += 1;
        if since == part.head.offset {
            break;
        }
    }
    assert_eq!(texts(&read), numbers(0, 900));
    assert!(parts > 1, "a part is bounded");
    let none = bob.read(TOPIC, Span::Oldest { since });
    assert_eq!((none.from, none.to, none.ordered.len()), (since, since, 0));
    let few = bob.read(TOPIC, Span::Oldest { since: offsets[897] });
    assert_eq!(texts(&few.ordered), ["898", "899"]);
}

pub(crate) fn the_newest_are_read_up_to_the_bounds(engine: Server) {
    let node = Node::up(engine.settings());
    let begin = node.subscribe(TOPIC).expect("it is recoverable").offset;
    let offsets = fill(&node, TOPIC, 100);
    let read = |since, until, messages_max, bytes_max| {
        let part = node.read(TOPIC, Span::Newest { since, until, messages_max, bytes_max });
        assert_eq!(part.to, until);
        assert_whole(&part);
        part
    };
    let many = 1 << 20;
    let all = read(begin, offsets[49], many, many);
    assert_eq!((all.from, texts(&all.ordered)), (begin, numbers(0, 50)));
    let some = read(offsets[9], offsets[49], many, many);
    assert_eq!((some.from, texts(&some.ordered)), (offsets[9], numbers(10, 50)));
    let cut = read(begin, offsets[49], 10, many);
    assert_eq!((cut.from, texts(&cut.ordered)), (offsets[39], numbers(40, 50)));
    let narrow = read(begin, offsets[49], many, 300);
    assert!(!narrow.ordered.is_empty() && narrow.ordered.len() < 50, "{}", narrow.ordered.len());
    let nothing = read(begin, offsets[49], many, 1);
    assert_eq!((nothing.from, nothing.ordered.len()), (offsets[49], 0));
}

pub(crate) fn what_is_too_many_is_gone_and_that_is_said(engine: Server) {
    let node = Node::up(engine.settings());
    let begin = node.subscribe("short:a").expect("it is recoverable").offset;
    let offsets = fill(&node, "short:a", 10);
    let part = node.read("short:a", Span::Oldest { since: begin });
    assert_eq!((part.from, part.to, part.head.offset), (offsets[6], offsets[9], offsets[9]));
    assert_eq!(texts(&part.ordered), ["7", "8", "9"]);
    let (messages_max, bytes_max) = (100, 100_000);
    let part =
        node.read("short:a", Span::Newest { since: begin, until: offsets[8], messages_max, bytes_max });
    assert_eq!((part.from, texts(&part.ordered)), (offsets[6], vec!["7".to_owned(), "8".to_owned()]));
    let part =
        node.read("short:a", Span::Newest { since: begin, until: offsets[5], messages_max, bytes_max });
    assert_eq!((part.from, part.ordered.len()), (offsets[5], 0));
}

pub(crate) fn what_is_too_old_is_gone_and_that_is_said(engine: Server) {
    let node = Node::up(engine.settings());
    node.subscribe("brief:a");
    let old = fill(&node, "brief:a", 5)[4];
    let began = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let newest = node.append("brief:a", "new").offset;
        let part = node.read("brief:a", Span::Oldest { since: 0 });
        assert_eq!(part.to, newest);
        if part.from >= old {
            assert_whole(&part);
            assert!(texts(&part.ordered).iter().all(|text| text == "new"));
            return;
        }
        assert!(began.elapsed() < DEADLINE, "nothing grows too old");
    }
}

pub(crate) fn what_is_too_old_is_gone_though_nothing_followed_it_and_the_topic_stands_where_it_stood(
    engine: Server,
) {
    let node = Node::up(engine.settings());
    let begin = node.subscribe("brief:a").expect("it is recoverable");
    let newest = fill(&node, "brief:a", 5)[4];
    let began = Instant::now();
    loop {
        let part = node.read("brief:a", Span::Oldest { since: begin.offset });
        assert_eq!((part.head.offset, part.to), (newest, newest));
        assert_whole(&part);
        if part.ordered.is_empty() {
            assert_eq!(part.from, newest, "it is said that something is gone");
            break;
        }
        assert!(began.elapsed() < DEADLINE, "nothing grows too old");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (since, messages_max, bytes_max) = (begin.offset, 100, 100_000);
    let part = node.read("brief:a", Span::Newest { since, until: newest, messages_max, bytes_max });
    assert_eq!((part.from, part.to, part.ordered.len()), (newest, newest, 0));
    assert_eq!(node.subscribe("brief:a").expect("it is recoverable").offset, newest);
    assert_eq!(node.read("brief:a", Span::Oldest { since: newest }).from, newest);
}

pub(crate) fn a_topic_that_nobody_published_on_has_nothing(engine: Server) {
    let node = Node::up(engine.settings());
    fill(&node, "kept:other", 3);
    let begin = node.subscribe(TOPIC).expect("it is recoverable");
    let part = node.read(TOPIC, Span::Oldest { since: begin.offset });
    assert_eq!((part.head.clone(), part.from, part.to), (begin.clone(), begin.offset, begin.offset));
    assert_eq!(part.ordered, []);
    node.append(TOPIC, "1");
    assert_eq!(node.ordered(TOPIC).previous, begin.offset);
}
