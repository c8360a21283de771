//! Ready-made runs and flags, played to their end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use stampede_tests::{Lab, Server, echo};

/// Answers each GET after a while, and counts them by path.
fn waiting_room(waits: Duration) -> (Server, Arc<Mutex<BTreeMap<String, u64>>>) {
    let asked = Arc::<Mutex<BTreeMap<String, u64>>>::default();
    let counted = Arc::clone(&asked);
    let server = Server::start(move |peer| {
        loop {
            let head = peer.request()?;
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            *counted.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_default() += 1;
            thread::sleep(waits);
            peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")?;
        }
    });
    (server, asked)
}

#[test]
fn hold_keeps_waiting_http_requests_open_on_the_urls_of_a_file() {
    let (server, asked) = waiting_room(Duration::from_millis(300));
    let lab = Lab::new();
    let urls = lab.file("urls.txt", "/wait/ann\n/wait/bob\n");
    let base = format!("http://{}", server.address());
    let file = urls.to_str().expect("its name is text");
    let ended =
        lab.run(&["hold", &base, "--http", file, "--clients", "10", "--rate", "100", "--seconds", "3"]);
    let summary = ended.summary();
    assert_eq!(summary.count("http_failed"), 0, "{}{}", summary.0["errors"], ended.words());
    assert!(summary.count("http") > 10, "each asks again: {}", ended.words());
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    asked.remove("/"); // the doctor's, before the run
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["/wait/ann", "/wait/bob"]);
    assert!(asked.values().sum::<u64>() >= summary.count("http"), "{asked:?}");
}

#[test]
fn users_are_computed_from_members_per_hour_and_the_length_of_their_visits() {
    let lab = Lab::new();
    let visits = ["--members-per-hour", "36000", "--visit-minutes", "0.05", "--print-scenario"];
    let outcome = lab.ask(&[&["http", "http://127.0.0.1:1/"][..], &visits].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.complaints);
    assert!(outcome.output.contains("burst: 30\n"), "{}", outcome.output);
    assert!(outcome.complaints.contains("30 concurrent users"), "{}", outcome.complaints);
}

#[test]
fn users_come_from_each_address_of_a_range() {
    let (server, _) = echo();
    let lab = Lab::new();
    let scenario = crate::echoes(&server.url(), 9, 1, "10ms");
    let ended = lab.start_scenario(&scenario, &["--source", "127.0.1.1-127.0.1.3"]).ended();
    let log = ended.event_log();
    let connects = [1, 2, 3].map(|last| {
        let address = format!("127.0.1.{last}");
        log.count(&[("kind", "connect"), ("outcome", "ok"), ("source", &address)])
    });
    assert!(connects.iter().all(|connects| *connects > 0), "{connects:?} {}", ended.words());
    assert_eq!(connects.iter().sum::<u64>(), 9, "{connects:?} {}", ended.words());
}

#[test]
fn what_the_doctor_finds_is_said_before_the_first_user_comes() {
    let (server, _) = echo();
    let lab = Lab::new();
    let scenario = crate::echoes(&server.url(), 1, 1, "10ms");
    let told = lab.start_scenario(&scenario, &[]).ended().complaints;
    assert!(told.contains(": caution: cores: the target runs on this machine"), "{told}");
    assert!(!told.contains("starts anyway"), "{told}");
    let quiet = lab.start_scenario(&scenario, &["--quiet"]).ended().complaints;
    assert!(!quiet.contains("doctor: "), "{quiet}");

    let nobody = crate::echoes("ws://127.0.0.1:1", 1, 1, "10ms");
    let ended = lab.start_scenario(&nobody, &["--quiet"]).ended();
    let told = &ended.complaints;
    assert!(told.contains(": stop: 127.0.0.1:1: cannot be reached: "), "{told}");
    assert!(told.contains("doctor: the run starts anyway"), "{told}");
    assert_eq!(ended.summary().errors("connect", "refused").0, 1, "{}", ended.words());
}
