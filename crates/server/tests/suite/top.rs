//! `throng top` against a running server, and the status that it requests.

use crate::client::Client;
use crate::throng::{Throng, command, until};
use serde_json::{Value, json};
use std::process::Output;
use std::time::{Duration, Instant};

const SOCKET: &str = "/socket/websocket?vsn=2.0.0";

fn status(server: &Throng, query: &str) -> Value {
    let answer = server.api("GET", &format!("/api/status{query}"), "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).expect("JSON")
}

fn top(server: &Throng, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().expect("a folder");
    let token = server.data_dir().join("admin-token");
    let mut command = command(home.path());
    command.args(["top", &format!("http://{}", server.admin), "--interval", "0.2"]).args(arguments);
    if !arguments.contains(&"--token-file") {
        command.arg("--token-file").arg(token);
    }
    command.output().expect("it ran")
}

#[test]
fn the_status_tells_topics_by_size_and_what_the_memory_is_made_of() {
    let server = Throng::start(&[]);
    let mut members: Vec<Client> = (0..3).map(|_| Client::open(server.address, SOCKET)).collect();
    for (number, member) in members.iter_mut().enumerate() {
        member.join("rooms:lobby", "{}");
        member.send(&format!(r#"["2","2","rooms:{number}","phx_join",{{}}]"#));
        member.hear_text();
    }
    let all = status(&server, "");
    assert_eq!(all["connections"]["open"], 3);
    assert_eq!(all["topics"][0], json!({"topic": "rooms:lobby", "members": 3}));
    assert_eq!(all["topics"].as_array().map(Vec::len), Some(4));
    assert_eq!(all["slow_readers"], json!([]));
    assert!(
        all["shards"].as_array().is_some_and(|shards| shards.iter().any(|shard| shard["connections"] != 0))
    );
    let components = all["memory"]["components"].as_array().expect("components");
    let sockets = components.iter().find(|part| part["component"] == "sockets").expect("the kernel's");
    assert!(sockets["kernel"] == true && sockets["connection_bytes"].as_u64() > Some(1_000), "{sockets}");
    assert_eq!(status(&server, "?topics=1&readers=0")["topics"].as_array().map(Vec::len), Some(1));
    assert_eq!(server.api("GET", "/api/status?topics=1001", "").status, 400);
}

#[test]
fn who_does_not_read_is_told_by_address_and_id() {
    let server = Throng::start(&["--set", "limits.outbox_bytes=1GiB"]);
    let mut slow = Client::open(server.address, "/socket/websocket?vsn=2.0.0&id=sleepy");
    slow.join("rooms:lobby", "{}");
    let news = format!(r#"{{"event":"news","payload":{{"text":"{}"}}}}"#, "x".repeat(500_000));
    let reader = until("a client that reads nothing is told", || {
        assert_eq!(server.api("POST", "/api/topics/rooms:lobby/messages", &news).status, 202);
        status(&server, "")["slow_readers"].get(0).cloned()
    });
    assert_eq!(reader["socket_id"], "sleepy");
    assert!(reader["remote"].as_str().is_some_and(|remote| remote.starts_with("127.0.0.1:")), "{reader}");
    assert!(reader["waiting_bytes"].as_u64() > Some(0), "{reader}");
}

#[test]
fn top_prints_everything_once_for_people_and_for_programs() {
    let server = Throng::start(&[]);
    let mut member = Client::open(server.address, SOCKET);
    member.join("rooms:lobby", "{}");
    let output = top(&server, &["--once"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for expected in ["Totals and rates", "Shards", "Memory", "1  rooms:lobby", "Slow clients"] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "a file has no colours");
    let output = top(&server, &["--once", "--json"]);
    let look: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(look["connections"]["open"], 1);
    assert!(look["rates"]["messages_in"].is_number(), "{look}");
}

#[test]
fn top_without_an_answer_says_what_to_do() {
    let server = Throng::start(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("token");
    std::fs::write(&wrong, "some-other-token-of-somebody\n").expect("written");
    let output = top(&server, &["--once", "--token-file", wrong.to_str().expect("UTF-8")]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("rejects the token"), "{error}");

    let gone = server.admin;
    let token = server.data_dir().join("admin-token");
    let kept = folder.path().join("kept");
    std::fs::copy(token, &kept).expect("copied");
    drop(server);
    let started = Instant::now();
    let output = command(folder.path())
        .args(["top", &format!("http://{gone}"), "--once", "--token-file"])
        .arg(kept)
        .output()
        .expect("it ran");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("start the server"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
}
