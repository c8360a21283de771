//! What clients of a recoverable topic get.

use crate::node::{Client, Node, retention};
use hub::{Limits, Retention};
use serde_json::{Value, json};

fn node(shards: u16) -> Node {
    Node::new(shards, retention(), &Limits::default())
}

/// Returns the `recover` member of a join's reply.
fn recover_of(told: &[Value]) -> Value {
    assert_eq!(told[0][0], "phx_reply", "{told:?}");
    told[0][1]["response"]["recover"].clone()
}

/// Returns the numbers in the messages, with their offsets.
fn said(told: &[Value]) -> Vec<(u64, u64)> {
    let said = told.iter().filter(|message| message[0] == "said" || message[0] == "changed");
    said.map(|message| {
        let number = |key: &str| message[1][key].as_u64().unwrap_or_else(|| panic!("{key} in {message}"));
        (number("n"), number("phx_offset"))
    })
    .collect()
}

fn say(node: &mut Node, client: Client, topic: &str, numbers: std::ops::RangeInclusive<u64>) {
    for n in numbers {
        node.say(client, topic, "say", json!({ "n": n }));
    }
    node.settle();
}

#[test]
fn members_of_all_shards_are_given_the_same_order_and_the_publisher_hears_that_it_was_accepted() {
    let mut node = node(3);
    for home in 0..3 {
        let topic = node.topic_at(home);
        let clients: Vec<Client> = (0..3).map(|shard| node.join(shard, &topic, json!({})).0).collect();
        for n in 1..=3 {
            for &client in &clients {
                node.say(client, &topic, "say", json!({ "n": n }));
            }
        }
        node.settle();
        let orders: Vec<_> = clients.iter().map(|&client| node.told(client)).collect();
        let order = said(&orders[0]);
        assert_eq!(order.iter().map(|(_, offset)| *offset).collect::<Vec<_>>(), (1..=9).collect::<Vec<_>>());
        for told in &orders {
            assert_eq!(said(told), order);
            let accepted: Vec<&Value> = told.iter().filter(|message| message[0] == "phx_reply").collect();
            assert_eq!(accepted.len(), 3);
            assert!(accepted.iter().all(|reply| reply[1]["status"] == "ok"), "{accepted:?}");
            assert!(
                accepted[0][1]["response"]["offset"].is_u64()
                    && accepted[0][1]["response"]["epoch"].is_string()
            );
        }
    }
}

#[test]
fn who_comes_back_to_any_shard_is_given_what_it_missed_before_anything_new() {
    let mut node = node(3);
    let topic = node.topic_at(0);
    let (speaker, _) = node.join(1, &topic, json!({}));
    let (gone, told) = node.join(2, &topic, json!({}));
    let mut position = recover_of(&told);
    say(&mut node, speaker, &topic, 1..=2);
    position["offset"] = json!(said(&node.told(gone)).last().expect("two messages").1);
    node.close(gone);
    say(&mut node, speaker, &topic, 3..=5);
    for shard in 0..3 {
        let (client, told) = node.join(shard, &topic, json!({ "recover": position }));
        let recover = recover_of(&told);
        assert_eq!((&recover["recovered"], &recover["offset"]), (&json!(true), &json!(2)), "{recover}");
        assert_eq!(recover["publisher"], position["publisher"], "the name is kept");
        let newest = 5 + shard as u64;
        assert_eq!(said(&told), (3..=newest).map(|n| (n, n)).collect::<Vec<_>>());
        say(&mut node, speaker, &topic, newest + 1..=newest + 1);
        assert_eq!(said(&node.told(client)), [(newest + 1, newest + 1)]);
        node.close(client);
    }
}

#[test]
fn joins_that_recover_at_the_same_time_are_each_given_their_own_part() {
    let mut node = node(2);
    let topic = node.topic_at(0);
    let (speaker, told) = node.join(0, &topic, json!({}));
    let epoch = recover_of(&told)["epoch"].clone();
    say(&mut node, speaker, &topic, 1..=6);
    let clients: Vec<Client> = (0..=6).map(|_| node.open(1)).collect();
    for (offset, &client) in clients.iter().enumerate() {
        let payload = json!({ "recover": { "epoch": epoch, "offset": offset } });
        node.say(client, &topic, "phx_join", payload);
    }
    node.say(speaker, &topic, "say", json!({ "n": 7 }));
    node.settle();
    for (offset, &client) in (0..).zip(&clients) {
        let told = node.told(client);
        let expected: Vec<_> = (offset + 1..=7).map(|n| (n, n)).collect();
        assert_eq!((recover_of(&told)["recovered"].clone(), said(&told)), (json!(true), expected));
    }
}

#[test]
fn who_cannot_be_given_everything_is_told_why() {
    let limits = Limits { recovery_messages_max: 10, ..Limits::default() };
    let mut node = Node::new(2, retention(), &limits);
    let topic = node.topic_at(1);
    let (speaker, told) = node.join(0, &topic, json!({}));
    let epoch = recover_of(&told)["epoch"].clone();
    say(&mut node, speaker, &topic, 1..=30);
    for (shard, epoch, offset, reason) in [
        (0, &epoch, 5, "too_old"),
        (1, &epoch, 15, "too_many"),
        (0, &epoch, 99, "epoch"),
        (1, &json!("another"), 30, "epoch"),
    ] {
        let payload = json!({ "recover": { "epoch": epoch, "offset": offset } });
        let (_, told) = node.join(shard, &topic, payload);
        let recover = recover_of(&told);
        assert_eq!((&recover["recovered"], &recover["reason"]), (&json!(false), &json!(reason)), "{recover}");
        assert_eq!((&recover["offset"], told.len()), (&json!(30), 1), "it goes on from the newest");
    }
    let (_, told) = node.join(0, &topic, json!({ "recover": { "epoch": epoch, "offset": 20 } }));
    assert_eq!(said(&told).len(), 10);
}

#[test]
fn a_bad_form_of_recover_is_refused_and_none_is_not() {
    let mut node = node(1);
    let (_, told) = node.join(0, "kept:1", json!({ "recover": 7 }));
    assert_eq!(told[0][1]["status"], "error");
    assert!(told[0][1]["response"]["reason"].as_str().is_some_and(|reason| reason.contains("bad recover")));
    let (_, told) = node.join(0, "kept:1", json!({ "recover": null }));
    assert_eq!(recover_of(&told)["recovered"], Value::Null);
    let (_, told) = node.join(0, "other:1", json!({ "recover": 7 }));
    assert_eq!(told, [json!(["phx_reply", { "status": "ok", "response": {} }])], "an ephemeral topic");
}

#[test]
fn what_was_meant_for_the_others_is_kept_from_its_publisher_now_and_when_it_recovers() {
    let mut node = node(3);
    let topic = node.topic_at(0);
    let (author, told) = node.join(1, &topic, json!({}));
    let (other, _) = node.join(2, &topic, json!({}));
    let position = recover_of(&told);
    node.say(author, &topic, "say to others", json!({ "n": 1 }));
    node.say(author, &topic, "say", json!({ "n": 2 }));
    node.settle();
    assert_eq!(said(&node.told(author)), [(2, 2)]);
    assert_eq!(said(&node.told(other)), [(1, 1), (2, 2)]);
    node.close(author);
    let (_, told) = node.join(2, &topic, json!({ "recover": position }));
    assert_eq!(said(&told), [(2, 2)]);
    let (again, told) = node.join(0, &topic, json!({ "recover": recover_of(&told) }));
    assert_eq!(said(&told), [(2, 2)], "however often it comes back");
    node.say(again, &topic, "say to others", json!({ "n": 3 }));
    node.settle();
    assert_eq!(said(&node.told(again)), []);
    assert_eq!(said(&node.told(other)), [(3, 3)]);
}

#[test]
fn a_channel_that_intercepts_is_given_what_its_client_missed() {
    let mut node = node(2);
    let topic = node.topic_at(0);
    let (speaker, told) = node.join(1, &topic, json!({}));
    let position = recover_of(&told);
    node.say(speaker, &topic, "watched", json!({ "n": 1 }));
    node.settle();
    let (_, told) = node.join(1, &topic, json!({ "recover": position }));
    assert_eq!((told[1][0].clone(), said(&told)), (json!("changed"), vec![(1, 1)]));
}

#[test]
fn bytes_on_a_recoverable_topic_fail_the_channel() {
    let mut node = node(1);
    let (client, _) = node.join(0, "kept:1", json!({}));
    node.say(client, "kept:1", "say bytes", json!({}));
    assert_eq!(node.told(client), [json!(["phx_error", { "reason": "channel_crash" }])]);
}

#[test]
fn a_publisher_is_told_that_the_home_is_overloaded() {
    let mut node = node(2);
    let topic = node.topic_at(1);
    let (client, _) = node.join(0, &topic, json!({}));
    node.mailbox_max = 2;
    for n in 1..=3 {
        node.say(client, &topic, "say", json!({ "n": n }));
    }
    assert_eq!(
        node.told(client),
        [json!(["phx_reply", { "status": "error", "response": { "reason": "overloaded" } }])]
    );
    node.mailbox_max = usize::MAX;
    node.settle();
    let told = node.told(client);
    assert_eq!(said(&told), [(1, 1), (2, 2)]);
    assert_eq!(node.counters()[0].appends_refused, 1);
}

#[test]
fn a_lost_tail_is_noticed_and_healed_within_two_seconds() {
    let mut node = node(2);
    let topic = node.topic_at(0);
    let (speaker, _) = node.join(0, &topic, json!({}));
    let (listener, _) = node.join(1, &topic, json!({}));
    node.mailbox_max = 3;
    for n in 1..=10 {
        node.say(speaker, &topic, "say", json!({ "n": n }));
    }
    node.settle();
    assert_eq!(said(&node.told(listener)).len(), 3);
    node.now = node.now + 2_000_000;
    node.settle();
    let expected: Vec<_> = (4..=10).map(|n| (n, n)).collect();
    assert_eq!(said(&node.told(listener)), expected);
    assert_eq!((node.counters()[1].gaps, node.counters()[1].gaps_healed), (1, 1));
}

#[test]
fn members_are_told_what_is_lost_to_them() {
    let mut node = Node::new(2, Retention { messages_max: 4, ..retention() }, &Limits::default());
    let topic = node.topic_at(0);
    let (speaker, _) = node.join(0, &topic, json!({}));
    let (listener, told) = node.join(1, &topic, json!({}));
    let epoch = recover_of(&told)["epoch"].clone();
    node.mailbox_max = 0;
    for n in 1..=9 {
        node.say(speaker, &topic, "say", json!({ "n": n }));
    }
    node.mailbox_max = usize::MAX;
    node.say(speaker, &topic, "say", json!({ "n": 10 }));
    node.settle();
    let told = node.told(listener);
    let gap = json!(["gap", { "epoch": epoch, "from": 0, "to": 6, "reason": "too_old" }]);
    assert_eq!((&told[0], said(&told)), (&gap, (7..=10).map(|n| (n, n)).collect()));
    assert_eq!(node.counters()[1].gaps_told, 1);
}

#[test]
fn a_shard_whose_queue_is_full_fetches_the_rest_when_it_has_room() {
    let retention = Retention { messages_max: 10_000, bytes_max: 1 << 26, ..retention() };
    let mut node = Node::new(1, retention, &Limits::default());
    let (speaker, _) = node.join(0, "kept:1", json!({}));
    for n in 1..=6000 {
        node.say(speaker, "kept:1", "say", json!({ "n": n }));
    }
    node.settle();
    let told = node.told(speaker);
    assert_eq!(said(&told), (1..=6000).map(|n| (n, n)).collect::<Vec<_>>());
    assert_eq!(node.counters()[0].gaps_told, 0);
}

#[test]
fn histories_are_counted_bounded_and_end() {
    let limits = Limits { history_bytes_max: 100_000, ..Limits::default() };
    let mut node = Node::new(1, retention(), &limits);
    for topic in 0..100 {
        let topic = format!("kept:{topic}");
        let (client, _) = node.join(0, &topic, json!({}));
        for n in 1..=10 {
            node.say(client, &topic, "say", json!({ "n": n, "text": "x".repeat(500) }));
        }
        node.settle();
        let bytes = node.hub(0).memory().histories;
        assert!((5_000..110_000).contains(&bytes), "{bytes}");
        node.close(client);
        node.now = node.now + 1_500_000;
    }
    while let Some(deadline) = node.deadline() {
        node.now = node.now.max(deadline);
        node.settle();
    }
    assert!(node.hub(0).is_empty());
}
