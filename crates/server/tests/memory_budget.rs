//! A server with a small memory budget.

mod client;
mod throng;
mod tls;

use client::{Client, Said};
use gateway::machine;
use std::io::{ErrorKind, Read, Write};
use throng::{Throng, command, request, until};

const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
/// Twice what the server, which is built without optimisation here, takes without any client.
const BUDGET: &str = "64MiB";
const BUDGET_BYTES: f64 = (64 << 20) as f64;

fn metric(server: &Throng, name: &str) -> f64 {
    let body = server.get(server.admin, "/metrics").body;
    let line = body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is missing in\n{body}"))
}

/// Returns the announced number of idle connections that the budget has room for.
fn announced(server: &mut Throng) -> usize {
    let line = server.announced_like("memory budget 64 MiB: room for about ");
    line.split(' ').filter_map(|word| word.parse().ok()).nth(1).expect("a number")
}

/// Opens and joins connections until one is refused.
fn fill(server: &Throng, members: &mut Vec<Client>, most: usize) {
    while let Ok(mut member) = Client::try_open(server.address, SOCKET, "") {
        member.join(&format!("rooms:{}", members.len() % 100), "{}");
        members.push(member);
        assert!(members.len() <= most, "nobody was refused");
    }
}

/// Opens and joins connections until there are more than `enough`, whoever is refused on the way, and then until one is
/// refused.
fn fill_beyond(server: &Throng, members: &mut Vec<Client>, enough: usize, most: usize) {
    until(&format!("more than {enough} of {most} are let in"), || {
        fill(server, members, most);
        (members.len() > enough).then_some(())
    });
}

#[test]
fn past_the_budget_newcomers_come_back_later_and_who_is_there_stays() {
    machine::raise_descriptor_limit().expect("raised");
    let mut server = Throng::start(&["--memory-budget", BUDGET]);
    let capacity = announced(&mut server);
    let mut members = Vec::new();
    // Half of the remaining room is given away at a time, so the last places are given slowly.
    fill_beyond(&server, &mut members, capacity / 2, capacity);
    assert!(metric(&server, "throng_memory_whole_bytes") < BUDGET_BYTES);
    assert_eq!(metric(&server, "throng_memory_budget_bytes"), BUDGET_BYTES);
    assert!(metric(&server, "throng_rejected_total{reason=\"memory_budget\"}") >= 1.0);

    members[0].send(r#"["1","2","rooms:0","echo",{"still":"here"}]"#);
    assert!(members[0].hear_text().contains(r#"{"still":"here"}"#));

    let full = members.len();
    members.truncate(full / 2);
    fill_beyond(&server, &mut members, full / 4 * 3, capacity);
}

#[test]
fn who_is_refused_is_told_why_and_when_to_come_back() {
    machine::raise_descriptor_limit().expect("raised");
    let mut server = Throng::start(&["--set", &format!("limits.memory_budget={BUDGET}")]);
    let capacity = announced(&mut server);
    let mut members = Vec::new();
    let refused = loop {
        fill(&server, &mut members, capacity);
        let answer = request(server.address, "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        if answer.status == 503 {
            break answer;
        }
    };
    assert!(refused.head.contains("retry-after: 5\r\n"), "{}", refused.head);
    assert!(refused.head.contains("content-type: text/plain; charset=utf-8\r\n"), "{}", refused.head);
    assert_eq!(refused.body, "the server has reached its memory budget");
    // The administration listener still answers when it is needed most.
    assert_eq!(server.get(server.admin, "/readyz").status, 200);
    assert!(members.iter_mut().all(|member| {
        member.send(r#"[null,"9","phoenix","heartbeat",{}]"#);
        matches!(member.hear(), Said::Text(reply) if reply.contains("phx_reply"))
    }));
}

#[test]
fn who_is_refused_by_tls_is_told_the_same() {
    machine::raise_descriptor_limit().expect("raised");
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = tls::write_pair(folder.path());
    let mut server = tls::start(folder.path(), &["--memory-budget", BUDGET]);
    let capacity = announced(&mut server);
    let mut members = Vec::new();
    let answer = loop {
        fill(&server, &mut members, capacity);
        let mut stream = tls::connect(tls::address(&server), &certificate).expect("a listener");
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        match stream.read_to_string(&mut answer) {
            // A connection that is cut after the answer is fine.
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => panic!("no answer: {error}"),
            Ok(_) | Err(_) => {}
        }
        // There may be room again by now.
        if !answer.starts_with("HTTP/1.1 200 ") {
            break answer;
        }
    };
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("Retry-After: 5\r\n"), "{answer}");
    assert!(answer.contains("memory budget"), "{answer}");
    until("the answer is counted", || {
        (metric(&server, "throng_tls_refusals_total{outcome=\"answered\"}") >= 1.0).then_some(())
    });
}

#[test]
fn a_budget_without_room_for_anybody_is_refused_with_a_better_one() {
    let home = tempfile::tempdir().expect("a folder");
    let output = command(home.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", "--memory-budget", "8MiB"])
        .output()
        .expect("it ran");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("write a size from \"16MiB\""), "{error}");
}
