//! Echo servers that others wrote: npm `ws` and Python's `websockets`.

use stampede_tests::{Lab, Program, node_echo, python_echo};

const USERS: u64 = 10;
const TIMES: u64 = 30;

#[test]
#[ignore = "needs Node.js and the modules of tests/clients"]
fn every_message_comes_back_once_from_npm_ws() {
    assert_echoes(node_echo());
}

#[test]
#[ignore = "needs Python and its package websockets"]
fn every_message_comes_back_once_from_pythons_websockets() {
    assert_echoes(python_echo());
}

#[test]
#[ignore = "needs Node.js and the modules of tests/clients"]
fn when_npm_ws_is_killed_every_user_is_accounted_for() {
    let (server, address) = node_echo();
    let lab = Lab::new();
    let scenario = scenario(&address, false).replace(&format!("times: {TIMES}"), "for: 60s");
    let mut run = lab.start_scenario(&scenario, &["--event-log", "csv"]);
    let log = run.folder().join("events.csv");
    stampede_tests::wait_until("messages come back", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.matches(",receive,").count() > 100)
    });
    assert!(!run.program.has_ended());
    server.signal(nix::sys::signal::Signal::SIGKILL);
    let ended = run.ended();
    let summary = ended.summary();
    summary.assert_adds_up();
    assert_eq!((summary.count("disconnects"), summary.count("users_failed")), (USERS, USERS));
    let log = ended.event_log();
    assert_eq!(log.count(&[("kind", "send")]), summary.count("sent"));
    assert_eq!(log.count(&[("kind", "receive")]), summary.count("received"));
}

fn assert_echoes((server, address): (Program, String)) {
    let lab = Lab::new();
    for deflate in [false, true] {
        let ended = lab.play(&scenario(&address, deflate));
        let summary = ended.summary();
        let messages = 2 * USERS * TIMES;
        for name in ["sent", "expected", "delivered", "received"] {
            assert_eq!(summary.count(name), messages, "{name}, deflate: {deflate}: {}", summary.0["counts"]);
        }
        assert_eq!(summary.count("errors"), 0, "deflate: {deflate}: {}", summary.0["errors"]);
        assert_eq!(summary.count("users_finished"), USERS);
        summary.assert_adds_up();
    }
    drop(server);
}

/// Text and binary messages, from some bytes to more than one frame's first length holds.
fn scenario(address: &str, deflate: bool) -> String {
    format!(
        "name: echoes
target: ws://{address}
phases: [{{ burst: {USERS} }}]
sessions:
  - name: speaker
    steps:
      - connect: {{ path: /, deflate: {deflate} }}
      - loop:
          times: {TIMES}
          steps:
            - send: {{ size: 64..200, audience: echo }}
            - send: {{ size: 64..100000, frame: binary, audience: echo }}
            - wait: {{ echo: true, count: 2 }}
            - think: 10ms
      - close
"
    )
}
