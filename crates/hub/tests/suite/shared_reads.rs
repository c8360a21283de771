//! Concurrent recoveries of the same part are served by one read from the bus.

use crate::node::{Client, Node};
use hub::{BusEffect, BusEvent, BusHistory, Draft, Epoch, Micros, Ordered, Outgoing, Position};
use serde_json::json;

const TOPIC: &str = "kept:room";
const NEWEST: u64 = 100;

fn position(offset: u64) -> Position {
    Position { epoch: Epoch::new("e").expect("an epoch"), offset }
}

fn ordered(offset: u64) -> Ordered {
    let draft = Draft {
        topic: TOPIC.into(),
        event: "said".into(),
        payload: Outgoing::from(json!({ "n": offset })).into_owned(),
        received: Micros(0),
        except: None,
    };
    Ordered { position: position(offset), previous: offset - 1, draft }
}

#[test]
fn a_hundred_who_come_back_at_the_same_time_cost_one_read() {
    let mut node = Node::on_bus(2);
    node.bus_says(&BusEvent::Up);
    node.join(0, TOPIC, json!({}));
    for effect in std::mem::take(&mut node.wanted) {
        let BusEffect::Interest { topic, on: Some(subscription) } = effect else { continue };
        node.bus_says(&BusEvent::Subscribed { topic, subscription, position: Some(position(NEWEST)) });
    }
    let missed = json!({ "recover": { "epoch": "e", "offset": NEWEST - 10 } });
    let back: Vec<Client> = (0..100).map(|nth| node.join(nth % 2, TOPIC, missed.clone()).0).collect();
    let reads = std::mem::take(&mut node.wanted).into_iter().filter_map(|wanted| match wanted {
        BusEffect::ReadHistory { token, .. } => Some(token),
        _ => None,
    });
    let reads: Vec<_> = reads.collect();
    let [token] = reads[..] else { panic!("{} reads", reads.len()) };
    let (from, to) = (NEWEST - 10, NEWEST);
    let history =
        BusHistory { head: position(NEWEST), from, to, ordered: (from + 1..=to).map(ordered).collect() };
    node.bus_says(&BusEvent::History { topic: TOPIC.into(), token, history: Some(Box::new(history)) });
    for client in back {
        let told = node.told(client);
        assert_eq!(told[0][1]["response"]["recover"]["recovered"], true, "{told:?}");
        assert_eq!(told.len(), 11, "the answer, and what was missed");
    }
    assert!(node.wanted.is_empty(), "nothing more is asked for");
}
