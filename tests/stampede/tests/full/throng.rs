//! Throng, as it is delivered: the ready-made runs against its lobby, with its own counts beside ours.

use stampede_tests::{Lab, Summary, Throng, wait_until};

#[test]
#[ignore = "needs throng"]
fn rooms_in_either_serializer_get_every_message_once() {
    let throng = Throng::start();
    for dialect in ["phoenix-v1", "phoenix-v2"] {
        let arguments = "--rooms 5 --clients 8 --rate 4 --seconds 5 --dialect";
        let summary = play("rooms", &throng, &format!("{arguments} {dialect}"));
        assert_eq!((summary.count("connects"), summary.count("joins")), (40, 40), "{dialect}");
        assert_eq!(summary.count("expected"), summary.count("sent") * 8, "{dialect}");
        assert!(summary.count("sent") >= 40 * 15, "{dialect}: {}", summary.0["counts"]);
        assert_all_delivered(&summary);
    }
}

#[test]
#[ignore = "needs throng"]
fn a_fan_out_reaches_first_and_last_receiver_of_every_publication() {
    let throng = Throng::start();
    let summary = play("fanout", &throng, "--users 200 --messages 10 --rate 5");
    assert_eq!(summary.count("sent"), 10);
    assert_all_delivered(&summary);
    let fan_out = &summary.0["fan_out"];
    assert_eq!((&fan_out["publications"], &fan_out["complete"]), (&10.into(), &10.into()));
    assert_eq!(fan_out["first_receiver"]["count"], 10);
    assert_eq!(fan_out["last_receiver"]["count"], 10);
    assert!(fan_out["first_receiver"]["p50_us"].as_u64() <= fan_out["last_receiver"]["p50_us"].as_u64());
}

#[test]
#[ignore = "needs throng"]
fn people_who_come_and_go_leave_no_message_unaccounted() {
    let throng = Throng::start();
    let summary = play("churn", &throng, "--rooms 4 --arrivals 20 --visit 3 --pause 0.5 --seconds 10");
    assert!(summary.count("users") >= 150, "{}", summary.0["counts"]);
    assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
    assert_eq!((summary.count("lost"), summary.count("duplicates")), (0, 0));
    summary.assert_adds_up();
}

#[test]
#[ignore = "needs throng"]
fn after_each_storm_everybody_is_back() {
    let throng = Throng::start();
    let summary = play("storm", &throng, "--users 100 --storms 2 --calm 2 --arrivals 200");
    assert_eq!(summary.count("connects"), 300, "once, and again after each storm: {}", summary.0["errors"]);
    assert_eq!((summary.count("joins"), summary.count("connected_max")), (300, 100));
    assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
}

#[test]
#[ignore = "needs throng"]
fn three_thousand_who_are_cut_at_once_are_all_back_and_all_accounted_for() {
    let throng = Throng::start();
    let summary = play("storm", &throng, "--users 3000 --storms 1 --calm 1 --arrivals 1500");
    let counts = &summary.0["counts"];
    for (name, count) in [
        ("users", 3_000),
        ("users_finished", 3_000),
        ("connected_max", 3_000),
        ("connects", 6_000),
        ("joins", 6_000),
        ("transactions", 3_000),
        ("disconnects", 0),
        ("errors", 0),
    ] {
        assert_eq!(summary.count(name), count, "{name}: {counts} {}", summary.0["errors"]);
    }
    let back = summary.0["times"]["labelled"].as_array().expect("labels").iter();
    let back: Vec<_> = back.filter(|one| one["label"] == "back after a storm").collect();
    assert_eq!(back.len(), 1, "{}", summary.0["times"]);
    assert_eq!(back[0]["spread"]["count"], 3_000);
    // The way back begins with each one's own cut: what is due at one moment are the cuts.
    assert!(summary.0["times"]["burst"]["count"].as_u64() >= Some(3_000), "{}", summary.0["times"]["burst"]);
    summary.assert_adds_up();
}

#[test]
#[ignore = "needs throng"]
fn held_connections_are_seen_by_the_server_and_its_memory_by_us() {
    let throng = Throng::start();
    let lab = Lab::new();
    let (pid, metrics, socket) = (throng.pid().to_string(), throng.metrics(), throng.socket());
    let ended = lab.run(&[
        "hold",
        &socket,
        "--clients",
        "300",
        "--rate",
        "300",
        "--seconds",
        "6",
        "--every",
        "1",
        "--pid",
        &pid,
        "--scrape",
        &metrics,
    ]);
    let summary = ended.summary();
    assert_eq!((summary.count("connected_max"), summary.count("joins")), (300, 300), "{}", ended.words());
    assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
    let servers = std::fs::read_to_string(ended.folder.join("servers.csv")).expect("samples of the server");
    assert!(servers.contains(&pid), "{servers}");
    assert!(servers.lines().count() > 8, "both are sampled each second: {servers}");
    assert!(ended.output.contains("server RSS KiB"), "{}", ended.words());
}

#[test]
#[ignore = "needs throng"]
fn when_throng_is_killed_the_run_ends_with_every_user_accounted_for() {
    let throng = Throng::start();
    let lab = Lab::new();
    let socket = throng.socket();
    let run = lab.start_run(&[
        "rooms",
        &socket,
        "--rooms",
        "5",
        "--clients",
        "8",
        "--rate",
        "5",
        "--seconds",
        "60",
        "--event-log",
        "csv",
    ]);
    let log = run.folder().join("events.csv");
    wait_until("rooms talk", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.matches(",receive,").count() > 500)
    });
    throng.kill();
    let ended = run.ended();
    let summary = ended.summary();
    summary.assert_adds_up();
    assert_eq!((summary.count("users"), summary.count("disconnects")), (40, 40), "{}", summary.0["errors"]);
    assert_eq!(summary.count("users_failed"), 40);
    let log = ended.event_log();
    assert_eq!(log.count(&[("kind", "send")]), summary.count("sent"));
    assert_eq!(log.count(&[("kind", "receive")]), summary.count("received"));
}

#[test]
#[ignore = "needs throng"]
fn the_doctor_looks_at_throng() {
    let throng = Throng::start();
    let outcome = Lab::new().ask(&["doctor", &throng.socket(), "--clients", "100", "--json"]);
    let examination: serde_json::Value = serde_json::from_str(&outcome.output).expect("JSON");
    assert_eq!(examination["targets"].as_array().map(Vec::len), Some(1), "{examination}");
}

#[test]
#[ignore = "needs throng"]
fn http_requests_for_its_page_are_all_answered() {
    let throng = Throng::start();
    let url = format!("http://{}/readyz", throng.address());
    let ended = Lab::new().run(&["http", &url, "--concurrent", "10", "--repetitions", "20"]);
    let summary = ended.summary();
    assert_eq!((summary.count("http"), summary.count("http_failed")), (200, 0), "{}", ended.words());
}

fn play(command: &str, throng: &Throng, arguments: &str) -> Summary {
    let socket = throng.socket();
    let arguments: Vec<&str> = [command, &socket].into_iter().chain(arguments.split(' ')).collect();
    let ended = Lab::new().run(&arguments);
    let summary = ended.summary();
    assert_eq!(ended.code, summary.exit_code(), "{}", ended.words());
    summary
}

fn assert_all_delivered(summary: &Summary) {
    summary.assert_adds_up();
    let counts = &summary.0["counts"];
    assert_eq!(summary.count("delivered"), summary.count("expected"), "{counts}");
    assert_eq!(
        (summary.count("duplicates"), summary.count("reordered"), summary.count("errors")),
        (0, 0, 0),
        "{counts}"
    );
}
