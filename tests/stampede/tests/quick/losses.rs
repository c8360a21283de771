//! Through a proxy that loses, repeats and reorders messages, Stampede's counts are the proxy's.

use stampede_tests::{
    Direction, Disturbance, Done, Lab, LossyProxy, Summary, by_connection, by_name, echo, rooms,
};

const ECHO_USERS: u64 = 20;
const ECHOES_EACH: u64 = 100;
const MEMBERS: u64 = 10;
const WORDS_EACH: u64 = 60;

#[test]
fn echoes_are_lost_repeated_and_reordered_as_often_as_by_the_proxy_in_either_direction() {
    for direction in [Direction::Up, Direction::Down] {
        let (server, _) = echo();
        let proxy = LossyProxy::start(server.address(), disturbance(direction, by_connection));
        let scenario = crate::echoes(&proxy.url(), ECHO_USERS as u32, ECHOES_EACH as u32, "20ms");
        let ended = Lab::new().play(&scenario);
        let (summary, done) = (ended.summary(), proxy.done());
        let sent = ECHO_USERS * ECHOES_EACH;
        assert_eq!(summary.count("sent"), sent, "{direction:?}");
        assert_eq!(summary.count("expected"), sent, "{direction:?}");
        if direction == Direction::Up {
            assert_eq!(done.messages, sent);
        }
        assert_counts_of(&done, 1, &summary, direction);
        let log = ended.event_log();
        for (outcome, count) in [("duplicate", done.repeated), ("reordered", done.reordered)] {
            assert_eq!(log.count(&[("kind", "receive"), ("outcome", outcome)]), count, "{direction:?}");
        }
        assert_eq!(log.count(&[("kind", "send")]), sent, "{direction:?}");
    }
}

#[test]
fn a_rooms_messages_are_lost_repeated_and_reordered_as_often_as_by_the_proxy() {
    for (direction, receivers) in [(Direction::Down, 1), (Direction::Up, MEMBERS)] {
        let (server, _) = rooms();
        let proxy = LossyProxy::start(server.address(), disturbance(direction, by_name));
        let ended = Lab::new().play(&talk(&proxy.url()));
        let (summary, done) = (ended.summary(), proxy.done());
        let sent = MEMBERS * WORDS_EACH;
        assert_eq!(summary.count("sent"), sent, "{direction:?}");
        assert_eq!(summary.count("expected"), sent * MEMBERS, "{direction:?}");
        assert_eq!(done.messages, sent * MEMBERS / receivers, "{direction:?}");
        assert_counts_of(&done, receivers, &summary, direction);
        let publications = summary.0["fan_out"]["publications"].as_u64().expect("a count");
        assert_eq!(publications, sent, "{direction:?}");
        if direction == Direction::Up {
            let complete = summary.0["fan_out"]["complete"].as_u64().expect("a count");
            assert_eq!(complete, sent - done.lost, "who loses none of its receivers is complete");
        }
    }
}

fn disturbance(direction: Direction, sender_of: fn(&[u8]) -> Option<u64>) -> Disturbance {
    Disturbance { seed: 20_120_613, direction, lost: 0.01, repeated: 0.01, reordered: 0.02, sender_of }
}

/// Each fate of a message of the proxy's has so many receivers.
fn assert_counts_of(done: &Done, receivers: u64, summary: &Summary, direction: Direction) {
    assert!(done.lost > 0 && done.repeated > 0 && done.reordered > 0, "the proxy did something: {done:?}");
    let expected = [
        ("lost", done.lost * receivers),
        ("duplicates", done.repeated * receivers),
        ("reordered", done.reordered * receivers),
        ("in_flight", 0),
        ("late", 0),
        ("unexpected", 0),
        ("delivered", summary.count("expected") - done.lost * receivers),
        ("received", summary.count("expected") - done.lost * receivers + done.repeated * receivers),
    ];
    for (name, count) in expected {
        assert_eq!(summary.count(name), count, "{name}, {direction:?}: {done:?}, {}", summary.0["counts"]);
    }
    summary.assert_adds_up();
}

/// Users who gather in a room and say who they are in each message.
fn talk(url: &str) -> String {
    format!(
        "name: talk
target: {url}
phases:
  - burst: {MEMBERS}
drain: 2s
sessions:
  - name: talker
    steps:
      - connect: {{ path: /lobby, room: lobby, echo: true }}
      - barrier: everybody
      - loop:
          times: {WORDS_EACH}
          steps:
            - send: {{ text: \"from={{{{user_id}}}} {{{{stamp}}}}\", audience: room }}
            - pace: 40ms
      - stay
"
    )
}
