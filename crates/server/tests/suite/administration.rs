//! The administration listener of a running server.

use crate::client::{Client, Said};
use crate::throng::{Throng, request};
use serde_json::{Value, json};

const SOCKET: &str = "/socket/websocket?vsn=2.0.0";

fn json_of(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

#[test]
fn without_the_token_the_api_answers_with_a_problem() {
    let server = Throng::start(&[]);
    let admin = server.admin;
    for header in ["", "authorization: Bearer wrong\r\n", "authorization: Basic eDp5\r\n"] {
        for path in ["/api/topics", "/api/nothing"] {
            let answer = request(
                admin,
                &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{header}\r\n"),
            );
            assert_eq!(answer.status, 401, "{path} {header}");
            assert!(answer.head.contains("content-type: application/problem+json"), "{}", answer.head);
            assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
            assert_eq!(json_of(&answer.body)["status"], 401);
        }
    }
}

#[test]
fn what_the_api_publishes_reaches_the_members_of_the_topic() {
    let server = Throng::start(&[]);
    let mut member = Client::open(server.address, SOCKET);
    member.join("rooms:lobby", "{}");
    let answer =
        server.api("POST", "/api/topics/rooms:lobby/messages", r#"{"event":"notice","payload":{"n":1}}"#);
    assert_eq!(answer.status, 202, "{}", answer.body);
    assert_eq!(member.hear_text(), r#"[null,null,"rooms:lobby","notice",{"n":1}]"#);
}

#[test]
fn topics_are_listed_by_size() {
    let server = Throng::start(&[]);
    let mut members: Vec<Client> = (0..3).map(|_| Client::open(server.address, SOCKET)).collect();
    for member in &mut members {
        member.join("rooms:lobby", "{}");
    }
    members[0].send(r#"["2","2","rooms:small","phx_join",{}]"#);
    members[0].hear_text();
    let all = server.api("GET", "/api/topics", "");
    let (large, small) =
        (json!({"topic": "rooms:lobby", "members": 3}), json!({"topic": "rooms:small", "members": 1}));
    assert_eq!(json_of(&all.body), json!({ "topics": [large, small] }));
    assert_eq!(json_of(&server.api("GET", "/api/topics?limit=1", "").body), json!({ "topics": [large] }));
}

#[test]
fn a_socket_is_disconnected_by_its_id() {
    let server = Throng::start(&[]);
    let mut ann = Client::open(server.address, "/socket/websocket?vsn=2.0.0&id=ann");
    let mut bob = Client::open(server.address, "/socket/websocket?vsn=2.0.0&id=bob");
    ann.join("rooms:lobby", "{}");
    bob.join("rooms:lobby", "{}");
    assert_eq!(server.api("POST", "/api/sockets/ann/disconnect", "").status, 202);
    assert_eq!(ann.hear(), Said::Close(1001));
    bob.send(r#"["1","2","rooms:lobby","echo",{}]"#);
    assert!(bob.hear_text().contains("phx_reply"));
}

#[test]
fn a_bad_request_is_told_what_to_send() {
    let server = Throng::start(&[]);
    let publish = "/api/topics/rooms:lobby/messages";
    let table = [
        ("POST", publish, "", 400, "send {\"event\": \"…\", \"payload\": {…}}"),
        ("POST", publish, r#"{"event":"x","payload":[]}"#, 400, "must be an object"),
        ("POST", publish, r#"{"event":"phx_close","payload":{}}"#, 400, "reserved for the server"),
        ("POST", publish, r#"{"event":"presence_diff","payload":{}}"#, 400, "reserved for the server"),
        (
            "POST",
            "/api/topics/room:default%2Flobby/messages",
            r#"{"event":"sanction","payload":{}}"#,
            400,
            "reserved for the messenger",
        ),
        ("GET", "/api/topics?limit=0", "", 400, "must be from 1 to 10000"),
        ("GET", "/api/topics?limit=x", "", 400, "limit"),
        ("GET", publish, "", 405, "does not support this method"),
        ("GET", "/api/nothing", "", 404, "this path does not exist"),
    ];
    for (method, path, body, status, detail) in table {
        let answer = server.api(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}");
        let problem = json_of(&answer.body);
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(detail)), "{problem}");
    }
}

#[test]
fn a_scrape_has_every_metric_and_counts_what_happened() {
    let server = Throng::start(&[]);
    let mut member = Client::open(server.address, SOCKET);
    member.join("rooms:lobby", "{}");
    member.send(r#"["1","2","rooms:lobby","new_msg",{"body":"hi"}]"#);
    member.hear_text();
    member.hear_text();
    let scrape = server.get(server.admin, "/metrics");
    assert_eq!(scrape.status, 200);
    assert!(scrape.head.contains("content-type: text/plain; version=0.0.4"), "{}", scrape.head);
    for line in
        ["throng_connections_open 1", "throng_connections_total 1", "throng_joins_total 1", "throng_topics 1"]
    {
        assert!(scrape.body.lines().any(|found| found == line), "{line} in\n{}", scrape.body);
    }
    for name in [
        "throng_connections_closed_total{reason=",
        "throng_messages_in_total ",
        "throng_messages_out_total ",
        "throng_bytes_in_total ",
        "throng_bytes_out_total ",
        "throng_processing_seconds_bucket{le=",
        "throng_processing_seconds_count ",
        "throng_fanout_size_bucket{le=",
        "throng_outbox_bytes ",
        "throng_slow_consumer_closes_total ",
        "throng_mailbox_depth{shard=\"0\"} ",
        "throng_mailbox_dropped_total{shard=\"0\"} ",
        "throng_rejected_total{reason=",
        "throng_tls_refusals_total{outcome=",
        "throng_shard_busy_seconds_total{shard=\"0\"} ",
        "process_cpu_seconds_total ",
        "process_start_time_seconds ",
        "process_resident_memory_bytes ",
        "throng_bytes_per_connection ",
        "throng_kernel_socket_memory_bytes ",
        "throng_memory_bytes{component=",
    ] {
        assert!(scrape.body.lines().any(|line| line.starts_with(name)), "{name} in\n{}", scrape.body);
    }
}

#[test]
fn a_scraper_that_asks_for_openmetrics_gets_it() {
    let server = Throng::start(&[]);
    let accept = "accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let scrape = request(
        server.admin,
        &format!("GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{accept}\r\n\r\n"),
    );
    assert_eq!(scrape.status, 200);
    assert!(scrape.head.contains("content-type: application/openmetrics-text"), "{}", scrape.head);
    assert!(scrape.body.contains("# TYPE throng_connections counter\n"), "{}", scrape.body);
    assert!(scrape.body.ends_with("# EOF\n"), "{}", scrape.body);
}
