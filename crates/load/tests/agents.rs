//! A controller and several agents as processes on this machine.

mod processes;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use load::statistics::{Severity, Summary};
use nix::sys::signal::Signal;
use processes::{PATIENCE, agent, kept, run, said, signal, stampede, start, summary};

const TOKEN: &str = "open sesame";

/// A server that answers each request.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer(socket));
        }
    });
    address
}

fn answer(mut socket: TcpStream) {
    let (mut buffer, mut request) = ([0; 4096], Vec::new());
    while let Ok(read @ 1..) = socket.read(&mut buffer) {
        request.extend_from_slice(&buffer[..read]);
        while let Some(end) = request.windows(4).position(|end| end == b"\r\n\r\n") {
            request.drain(..end + 4);
            if socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

/// Users that make three requests within a time, with names from a file.
fn scenario(folder: &Path, users: u32, seconds: u32) -> PathBuf {
    std::fs::write(folder.join("names.csv"), "name\nanna\nbert\ncleo\n").expect("written");
    let text = format!(
        "target: http://{}
event_log: false
drain: 0s
feeders:
  people: {{ file: names.csv }}
phases:
  - burst: {users}
sessions:
  - name: ask
    steps:
      - loop:
          times: 3
          steps:
            - http: \"/{{{{people.name}}}}\"
            - think: {seconds}s
",
        server()
    );
    let path = folder.join("asking.yaml");
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn agents_play_every_user_once_by_their_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario(folder.path(), 80, 0);
    let out = folder.path().join("agents").display().to_string();
    let (_one, one) = agent(&["--token", TOKEN, "--out", &out]);
    let (_two, two) = agent(&["--token", TOKEN, "--out", &out, "--weight", "3"]);
    for flags in [&["--json", "--token", TOKEN][..], &["--json", "--token", TOKEN, "--event-log", "csv"]] {
        let output = run(&scenario, &[&one, &two], flags).output().expect("a run");
        let summary = summary(&output);
        assert_eq!(
            (summary.counts.users_wanted, summary.counts.users_finished),
            (80, 80),
            "{}",
            said(&output)
        );
        assert_eq!((summary.counts.http, summary.counts.errors), (240, 0));
        assert_eq!(summary.ended_by, "finished");
        assert_eq!(summary.times.http.count, 240);
        assert_eq!((summary.machines.len(), summary.generator.agents_lost), (2, 0));
        assert!(summary.machines[0].name.contains(&one), "{:?}", summary.machines[0].name);
        assert!(summary.generator.clock_error_us > 0, "no clock is exact");
    }
    // With the log, each agent has left its own directory with its own share.
    let shares = std::fs::read_dir(out).expect("their folders").map(|entry| {
        let text = std::fs::read_to_string(entry.expect("a folder").path().join("summary.json"));
        let summary: Summary = serde_json::from_str(&text.expect("its summary")).expect("a summary");
        summary.counts.users
    });
    let mut shares: Vec<u64> = shares.collect();
    shares.sort_unstable();
    assert_eq!(shares, [20, 60]);
}

#[test]
fn the_loss_of_an_agent_loses_its_users_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario(folder.path(), 40, 3);
    let (_one, one) = agent(&[]);
    let (mut two, two_address) = agent(&[]);
    let mut controller = start(&mut run(&scenario, &[&one, &two_address], &[]));
    // Reports of the first seconds have arrived by then, and the agent's users stay for nine.
    controller.hear_any(&["00:03 ", "00:04 ", "00:05 ", "00:06 "]);
    two.process.kill().expect("it is running");
    controller.hear(&format!("agent {two_address} was lost"));
    let status = controller.process.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let summary = kept(folder.path());
    assert_eq!(summary.counts.users, 40);
    assert_eq!((summary.counts.users_finished, summary.counts.users_failed), (20, 20));
    assert_eq!(summary.generator.agents_lost, 1);
    assert!(!summary.verdict.valid);
    assert!(summary.verdict.reasons.iter().any(|reason| reason.contains("agent was lost")));
    let lost = summary.errors.iter().find(|error| error.outcome == "agent_lost").expect("it is an error");
    assert!(lost.count == 20 && lost.example.contains(&two_address), "{lost:?}");
    assert!(summary.findings.iter().any(|finding| finding.severity == Severity::Error));
}

#[test]
fn a_signal_to_the_controller_stops_the_users_of_all_agents_and_the_folder_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = scenario(folder.path(), 8, 600);
    let (one, one_address) = agent(&[]);
    let (two, two_address) = agent(&[]);
    let mut controller = start(&mut run(&long, &[&one_address, &two_address], &[]));
    // Reports of the first seconds have arrived by then.
    controller.hear_any(&["00:03 ", "00:04 ", "00:05 ", "00:06 "]);
    signal(&controller, Signal::SIGINT);
    let status = controller.process.wait().expect("it ends");
    let stopped = kept(folder.path());
    assert_eq!(stopped.ended_by, "stopped", "{status}");
    assert_eq!((stopped.counts.users, stopped.counts.users_stopped), (8, 8));
    assert_eq!((stopped.counts.users_finished, stopped.counts.users_failed), (0, 0));
    assert_eq!(stopped.generator.agents_lost, 0);
    // Both are free for the next run: nothing of the stopped one is still running.
    for agent in [&one, &two] {
        agent.hear(" is done");
    }
    let short = scenario(folder.path(), 4, 0);
    let output = run(&short, &[&one_address, &two_address], &["--json"]).output().expect("a run");
    assert_eq!(summary(&output).counts.users_finished, 4, "{}", said(&output));
}

#[test]
fn the_first_example_of_an_error_is_shown_while_agents_play_and_stays_when_they_are_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("refused.yaml");
    let steps = "[{ http: { get: /, expect: 201 } }, { think: 100ms }]";
    let text = format!(
        "target: http://{}
event_log: false
drain: 0s
phases: [{{ burst: 4 }}]
sessions: [{{ name: ask, steps: [{{ loop: {{ for: 10m, steps: {steps} }} }}] }}]
",
        server()
    );
    std::fs::write(&path, text).expect("written");
    let (mut one, address) = agent(&[]);
    let mut controller = start(&mut run(&path, &[&address], &[]));
    let line = controller.hear("error: http rejected 200");
    assert!(line.ends_with(": status 200"), "{line}");
    one.process.kill().expect("it is running");
    let line = controller.hear("error: finish agent_lost");
    assert!(line.contains(&format!("agent {address} was lost after")), "{line}");
    controller.process.wait().expect("it ends");
    let summary = kept(folder.path());
    let rejected = summary.errors.iter().find(|error| error.outcome == "rejected").expect("an error");
    assert_eq!(rejected.example, "status 200");
}

#[test]
fn an_agent_that_falls_silent_is_lost_and_the_run_ends_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario(folder.path(), 8, 3);
    let (_one, one) = agent(&[]);
    let (two, two_address) = agent(&[]);
    let mut controller = start(&mut run(&scenario, &[&one, &two_address], &[]));
    controller.hear_any(&["00:03 ", "00:04 ", "00:05 ", "00:06 "]);
    // Its connection stays open: only its silence reveals that it is gone.
    signal(&two, Signal::SIGSTOP);
    controller.hear(&format!("agent {two_address} was lost"));
    let status = controller.process.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let summary = kept(folder.path());
    assert_eq!((summary.counts.users, summary.counts.users_finished), (8, 4));
    assert_eq!((summary.counts.users_failed, summary.generator.agents_lost), (4, 1));
    let lost = summary.errors.iter().find(|error| error.outcome == "agent_lost").expect("it is an error");
    assert!(lost.example.contains("nothing was heard for 10 s"), "{}", lost.example);
}

#[test]
fn an_agent_whose_controller_vanished_is_free_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = scenario(folder.path(), 4, 600);
    let (agent, address) = agent(&[]);
    let mut controller = start(&mut run(&long, &[&address], &["--quiet"]));
    agent.hear("a run begins");

    let busy = run(&long, &[&address], &["--quiet"]).output().expect("a run");
    assert_eq!(busy.status.code(), Some(4));
    assert!(said(&busy).contains(&address) && said(&busy).contains("busy"), "{}", said(&busy));

    controller.process.kill().expect("it is running");
    agent.hear("the connection was closed");
    let short = scenario(folder.path(), 4, 0);
    let output = run(&short, &[&address], &["--json"]).output().expect("a run");
    assert_eq!(summary(&output).counts.users_finished, 4, "{}", said(&output));
}

#[test]
fn who_does_not_know_the_token_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario(folder.path(), 1, 0);
    let (_agent, address) = agent(&["--token", TOKEN]);
    for flags in [&["--quiet"][..], &["--quiet", "--token", "open sesam"]] {
        let output = run(&scenario, &[&address], flags).output().expect("a run");
        assert_eq!(output.status.code(), Some(4));
        assert!(said(&output).contains(&address) && said(&output).contains("token"), "{}", said(&output));
        assert!(!said(&output).contains("sesam"), "{}", said(&output));
    }
}

#[test]
fn an_agent_that_strangers_can_reach_wants_a_token() {
    let output = stampede().args(["agent", "--listen", "0.0.0.0:0"]).output().expect("an agent");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--token"), "{}", said(&output));
}

#[test]
fn a_controller_of_another_version_is_told_both_versions() {
    let (_agent, address) = agent(&[]);
    let mut socket = TcpStream::connect(&address).expect("a connection");
    socket.set_read_timeout(Some(PATIENCE)).expect("set");
    socket.write_all(b"{\"hello\":{\"protocol\":9,\"version\":\"9.9.9\",\"token\":null}}\n").expect("said");
    let mut answer = String::new();
    BufReader::new(&socket).read_line(&mut answer).expect("an answer");
    assert!(answer.contains("refused") && answer.contains(env!("CARGO_PKG_VERSION")), "{answer}");
}

#[test]
fn an_agent_speaks_tls_to_who_trusts_its_authority() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario(folder.path(), 4, 0);
    let signed = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let (certificate, key) = (folder.path().join("agent.pem"), folder.path().join("agent.key"));
    std::fs::write(&certificate, signed.cert.pem()).expect("written");
    std::fs::write(&key, signed.signing_key.serialize_pem()).expect("written");
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let (_agent, address) = agent(&["--token", TOKEN, "--certificate", &certificate, "--key", &key]);

    let flags = ["--json", "--token", TOKEN, "--agent-ca", &certificate];
    let output = run(&scenario, &[&address], &flags).output().expect("a run");
    assert_eq!(summary(&output).counts.users_finished, 4, "{}", said(&output));
    let plain = run(&scenario, &[&address], &["--quiet", "--token", TOKEN]).output().expect("a run");
    assert_eq!(plain.status.code(), Some(4));
    assert!(said(&plain).contains(&address), "{}", said(&plain));
}

#[test]
fn the_doctor_looks_at_every_agents_machine() {
    let (_one, one) = agent(&[]);
    let (_two, two) = agent(&[]);
    let agents = format!("{one},{two}");
    let output = stampede().args(["doctor", "--clients", "10", "--json", "--agents", &agents]).output();
    let output = output.expect("a visit");
    let examined: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for address in [&one, &two] {
        assert!(examined[address]["facts"]["name"].is_string(), "{examined}");
    }
}
