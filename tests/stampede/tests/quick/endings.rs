//! Whatever ends a run, its folder is complete and its event log says the same as its summary.

use nix::sys::signal::Signal;
use stampede_tests::{Ended, Lab, Opcode, Server, Summary, echo, wait_until};

const USERS: u32 = 10;

#[test]
fn a_run_that_is_interrupted_is_complete_to_the_last_line() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let (server, messages) = echo();
        let lab = Lab::new();
        let run = lab.start_scenario(&crate::endless_echoes(&server.url(), USERS), &[]);
        messages.wait_for(200);
        run.program.signal(signal);
        let ended = run.ended();
        let summary = ended.summary();
        assert_eq!(summary.0["ended_by"], "stopped", "{signal}");
        assert_eq!(ended.code, summary.exit_code(), "{signal}: {}", ended.words());
        // The server was well: what was sent came back, or was on its way.
        assert_eq!((summary.count("lost"), summary.count("disconnects")), (0, 0), "{signal}");
        assert_log_and_summary_agree(&lab, &ended, &summary);
    }
}

#[test]
fn who_has_not_come_when_a_run_is_stopped_by_hand_is_no_error() {
    let (server, messages) = echo();
    // Who runs the tests may have them ignore a hangup, as by `nohup`.
    let lab = Lab::under(&["env", "--default-signal=HUP"]);
    let scenario =
        crate::echoes(&server.url(), 1, 1, "1ms").replace("burst: 1", "rate: 50/s\n    duration: 10m");
    for signal in [Signal::SIGINT, Signal::SIGHUP] {
        let run = lab.start_scenario(&scenario, &["--threshold", "errors == 0"]);
        messages.wait_for(messages.count() + 20);
        run.program.signal(signal);
        let ended = run.ended();
        let summary = ended.summary();
        assert_eq!(
            (summary.count("errors"), summary.count("users_dropped")),
            (0, 0),
            "{}",
            summary.0["errors"]
        );
        assert_eq!(summary.0["ended_by"], "stopped", "{signal}");
        assert!(!summary.reasons().contains("not started"), "{}", summary.reasons());
        assert_log_and_summary_agree(&lab, &ended, &summary);
    }
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let scenario = crate::endless_echoes(&server.url(), USERS).replace("drain: 2s", "drain: 10m");
    let run = lab.start_scenario(&scenario, &[]);
    messages.wait_for(200);
    run.program.signal(Signal::SIGINT);
    // The run drains for ten minutes, unless it is told again: it hears no more than one signal at a time.
    let said_before = messages.count();
    wait_until("it has stopped talking", || {
        let before = messages.count();
        std::thread::sleep(std::time::Duration::from_millis(200));
        before >= said_before && messages.count() == before
    });
    run.program.signal(Signal::SIGINT);
    let ended = run.ended();
    let summary = ended.summary();
    assert_eq!(summary.0["ended_by"], "aborted");
    assert_log_and_summary_agree(&lab, &ended, &summary);
}

#[test]
fn when_the_target_dies_every_user_is_accounted_for() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let run =
        lab.start_scenario(&crate::endless_echoes(&server.url(), USERS), &["--threshold", "errors == 0"]);
    messages.wait_for(200);
    drop(server);
    let ended = run.ended();
    let summary = ended.summary();
    let users = u64::from(USERS);
    assert_eq!((summary.count("users"), summary.count("disconnects")), (users, users));
    assert_eq!(summary.count("users_failed"), users, "{}", summary.0["errors"]);
    assert_eq!(ended.code, summary.exit_code(), "{}", ended.words());
    assert_ne!(ended.code, 0);
    assert_log_and_summary_agree(&lab, &ended, &summary);
}

#[test]
fn echoes_that_come_when_the_run_is_over_are_late_and_the_account_adds_up() {
    const ECHOES: u64 = 3;
    // Every echo is held back until the client closes, which it does when the run has drained.
    let server = Server::start(|peer| {
        peer.upgrade()?;
        let mut held = Vec::new();
        loop {
            let frame = peer.frame()?;
            if frame.opcode != Opcode::Close {
                held.push(frame);
                continue;
            }
            held.iter().try_for_each(|frame| peer.send(frame))?;
            return peer.send(&frame);
        }
    });
    let lab = Lab::new();
    let scenario =
        crate::echoes(&server.url(), USERS, ECHOES as u32, "20ms").replace("drain: 2s", "drain: 200ms");
    let ended = lab.play(&scenario);
    let summary = ended.summary();
    let sent = u64::from(USERS) * ECHOES;
    let counts = ["expected", "late", "delivered", "lost", "in_flight"].map(|name| summary.count(name));
    assert_eq!(counts, [sent, sent, 0, 0, 0], "{}", summary.0["counts"]);
    let findings = summary.0["findings"].to_string();
    assert!(findings.contains("after the end of the run"), "{findings}");
    assert_log_and_summary_agree(&lab, &ended, &summary);
}

#[test]
fn what_a_killed_run_has_logged_can_still_be_reported() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let run = lab.start_scenario(&crate::endless_echoes(&server.url(), USERS), &["--event-log", "csv"]);
    messages.wait_for(200);
    let mut logged = 0;
    let folder = run.folder();
    wait_until("something is in the log", || {
        logged = std::fs::read(folder.join("events.csv")).map_or(0, |log| log.len());
        logged > 10_000
    });
    run.program.signal(Signal::SIGKILL);
    assert_eq!(run.program.ended().code, -9);
    let recounted = crate::recounted(&lab, folder.to_str().expect("text"));
    assert!(recounted.count("sent") > 0 && recounted.count("delivered") > 0, "{}", recounted.0["counts"]);
    // Nobody knows how it would have ended.
    assert!(
        !recounted.is_valid() && recounted.reasons().contains("end of the run is unknown"),
        "{}",
        recounted.reasons()
    );
    for file in ["summary.json", "histograms.json", "series.csv", "servers.csv", "report.html"] {
        assert!(folder.join(file).is_file(), "{file} is missing");
    }
}

fn assert_log_and_summary_agree(lab: &Lab, ended: &Ended, summary: &Summary) {
    summary.assert_adds_up();
    let log = ended.event_log();
    assert_eq!(log.count(&[("kind", "send")]), summary.count("sent"));
    assert_eq!(log.count(&[("kind", "receive")]), summary.count("received"));
    // Every user has one end: its own, a failure, or that the run was stopped.
    let (finished, failed) = (summary.count("users_finished"), summary.count("users_failed"));
    let stopped = log.count(&[("kind", "finish"), ("outcome", "stopped")]);
    assert_eq!(log.count(&[("kind", "finish")]), summary.count("users"));
    assert_eq!(summary.count("users"), finished + failed + stopped);
    let recounted = crate::recounted(lab, ended.path());
    for part in ["counts", "times", "fan_out", "errors", "verdict"] {
        assert_eq!(recounted.0[part], summary.0[part], "{part}");
    }
}
