//! Long-polling clients that stop to poll, and those that post too much.

use faults::{Answer, Client, Fixture, wait_until};
use gateway::{CloseReason, Ended, Limits};
use serde_json::{Value, json};
use std::time::Duration;

const ROOM: &str = "room:polled";
/// The largest body that a POST may have.
const BODY_BYTES_MAX: usize = 8_000_000;
/// The request that begins a session that dies soon.
const OPENING: &str = "/brief/longpoll?vsn=2.0.0";

struct Session {
    client: Client,
    target: String,
}

impl Session {
    fn open(fixture: &Fixture, mount: &str) -> Session {
        let mut client = Client::connect(fixture.address());
        let target = format!("{mount}/longpoll?vsn=2.0.0");
        let opened = request(&mut client, "GET", &target, "");
        assert_eq!(opened["status"], 410, "a new session is announced so");
        let token = opened["token"].as_str().expect("a token").to_owned();
        Session { client, target: format!("{target}&token={token}") }
    }

    fn poll(&mut self) -> Value {
        request(&mut self.client, "GET", &self.target, "")
    }

    fn post(&mut self, body: &str) -> Value {
        request(&mut self.client, "POST", &self.target, body)
    }

    fn join(&mut self, topic: &str) {
        assert_eq!(self.post(&message("1", topic, "phx_join"))["status"], 200);
    }
}

fn message(reference: &str, topic: &str, event: &str) -> String {
    json!(["1", reference, topic, event, {}]).to_string()
}

fn request(client: &mut Client, method: &str, target: &str, body: &str) -> Value {
    let answer = raw_request(client, method, target, body);
    assert_eq!(answer.status, 200, "{}", answer.head);
    serde_json::from_str(&answer.body).expect("JSON")
}

fn raw_request(client: &mut Client, method: &str, target: &str, body: &str) -> Answer {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    // An answer may come before the whole body has been sent.
    let _ = client.try_send(&[head.as_bytes(), body.as_bytes()].concat());
    client.answer()
}

#[test]
fn a_session_that_nobody_polls_dies() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/brief");
    session.join(ROOM);
    assert_eq!(session.poll()["messages"].as_array().map(Vec::len), Some(1), "the join's reply");
    assert_eq!(fixture.channel_end(), (ROOM.to_owned(), Ended::Disconnected));
    fixture.wait_until_empty();
    assert_eq!(session.post(&message("2", ROOM, "echo"))["status"], 410);
}

#[test]
fn a_session_whose_client_vanished_during_a_poll_dies() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/brief");
    session.join(ROOM);
    session.poll();
    session.client.send(format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", session.target).as_bytes());
    session.client.reset();
    assert_eq!(fixture.channel_end(), (ROOM.to_owned(), Ended::Disconnected));
    fixture.wait_until_empty();
}

#[test]
fn a_session_whose_messages_nobody_fetches_ends_at_the_limit() {
    let fixture = Fixture::start_with(Limits { outbox_bytes_max: 64 << 10, ..Limits::default() });
    let mut session = Session::open(&fixture, "/socket");
    session.join(ROOM);
    session.poll();
    let news = json!({ "filling": "x".repeat(1000) });
    for _ in 0..100 {
        fixture.handle().broadcast(ROOM, "news", news.clone()).expect("room");
    }
    assert_eq!(fixture.channel_end(), (ROOM.to_owned(), Ended::Disconnected));
    fixture.wait_until_empty();
    assert_eq!(fixture.closed(CloseReason::SlowConsumer), 1);
    assert_eq!(session.poll()["status"], 410, "the client begins anew instead of missing messages");
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let answer = raw_request(&mut session.client, "POST", &session.target, &"x".repeat(BODY_BYTES_MAX + 1));
    assert_eq!(answer.status, 400);
    fixture.assert_serves();
}

#[test]
fn bodies_that_are_announced_and_not_sent_let_others_post() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let target = &session.target;
    let head =
        format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY_BYTES_MAX}\r\n\r\n");
    // One more than there is room for at the same time.
    let mut silent: Vec<Client> = (0..65).map(|_| Client::connect(fixture.address())).collect();
    silent.iter_mut().for_each(|client| client.send(head.as_bytes()));
    session.join(ROOM);
    let still_awaited = |client: &mut Client| client.hears_nothing(Duration::from_millis(1));
    assert!(silent.iter_mut().all(still_awaited), "their time is not over: nobody waited for its end");
}

#[test]
fn a_flood_of_posts_behind_an_undecided_join_ends_the_session() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let join = format!("{}\n", message("1", "room:late", "phx_join"));
    let echo = format!("{}\n", message("2", "room:late", "echo"));
    // The answers wait for the join, so each post needs a connection of its own.
    let mut others: Vec<Client> = (0..3).map(|_| Client::connect(fixture.address())).collect();
    for (number, client) in others.iter_mut().enumerate() {
        let start = if number == 0 { &join } else { "" };
        let body = [start, &echo.repeat(90)].concat();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: {}\r\n\r\n",
            session.target,
            body.len()
        );
        client.send(&[head, body].concat().into_bytes());
        wait_until("the join is being decided", || fixture.handle().metrics().messages_in_total > 0);
    }
    for client in &mut others {
        let answer: Value = serde_json::from_str(&client.answer().body).expect("JSON");
        assert!(matches!(answer["status"].as_u64(), Some(400 | 410)), "{answer}");
    }
    wait_until("the session has ended", || fixture.handle().metrics().longpoll_sessions == 0);
    assert_eq!(session.post(&echo)["status"], 410);
    fixture.gate().open();
    fixture.assert_serves();
}

#[test]
fn tokens_that_nobody_was_given_open_nothing() {
    let fixture = Fixture::start();
    let mut client = Client::connect(fixture.address());
    for token in ["", "nonsense", "%00%ff", &"A".repeat(30), &"_".repeat(30), &"x".repeat(4000)] {
        let target = format!("/socket/longpoll?vsn=2.0.0&token={token}");
        let posted = request(&mut client, "POST", &target, &message("1", ROOM, "phx_join"));
        assert_eq!(posted["status"], 410, "{token}");
    }
    fixture.wait_until_empty();
}

#[test]
fn sessions_beyond_the_limit_are_told_to_come_back_later() {
    let fixture = Fixture::start_with(Limits { longpoll_sessions_max: 2, ..Limits::default() });
    let mut sessions: Vec<Session> = (0..2).map(|_| Session::open(&fixture, "/brief")).collect();
    let mut client = Client::connect(fixture.address());
    assert_eq!(request(&mut client, "GET", OPENING, "")["status"], 500);
    assert_eq!(fixture.rejected("longpoll_sessions"), 1);
    sessions.clear();
    wait_until("a place is free", || {
        request(&mut Client::connect(fixture.address()), "GET", OPENING, "")["status"] == 410
    });
}

#[test]
fn sessions_count_to_their_address_without_any_connection() {
    let limits = Limits { connections_per_ip_max: 3, ..Limits::default() };
    let fixture = Fixture::start_with(limits);
    let mut client = Client::connect(fixture.address());
    for expected in [410, 410, 500] {
        assert_eq!(request(&mut client, "GET", OPENING, "")["status"], expected);
    }
    assert_eq!(fixture.rejected("connections_per_ip"), 1);
    drop(client);
    wait_until("the sessions have died", || {
        let answer = raw_request(&mut Client::connect(fixture.address()), "GET", OPENING, "");
        answer.status == 200 && answer.body.contains(r#""status":410"#)
    });
}

#[test]
fn a_message_larger_than_the_mount_allows_is_refused() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let too_large = format!("[{}]", "1".repeat(Fixture::MESSAGE_BYTES_MAX));
    let answer = raw_request(&mut session.client, "POST", &session.target, &too_large);
    assert_eq!(answer.status, 400);
    session.join(ROOM);
}

#[test]
fn a_connection_changes_between_polls_and_other_requests() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    session.join(ROOM);
    assert_eq!(session.poll()["messages"].as_array().map(Vec::len), Some(1));
    // No mount has this path, and what follows it on the connection is the HTTP library's.
    assert_eq!(raw_request(&mut session.client, "GET", "/elsewhere", "").status, 404);
    assert_eq!(session.post(&message("2", ROOM, "echo"))["status"], 200);
    assert_eq!(session.poll()["messages"].as_array().map(Vec::len), Some(1), "the echo");
}

#[test]
fn requests_may_be_sent_before_the_answer_to_the_last_and_in_pieces() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let post = |body: &str| {
        let (target, length) = (&session.target, body.len());
        format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let poll = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", session.target);
    let all = [post(&message("1", ROOM, "phx_join")), poll, post(&message("2", ROOM, "echo"))].concat();
    for piece in all.as_bytes().chunks(7) {
        session.client.send(piece);
    }
    let mut statuses = Vec::new();
    for _ in 0..3 {
        let answer: Value = serde_json::from_str(&session.client.answer().body).expect("JSON");
        statuses.push(answer["status"].as_u64());
    }
    assert_eq!(statuses, [Some(200); 3]);
    assert_eq!(session.poll()["messages"].as_array().map(Vec::len), Some(1), "the echo");
}

#[test]
fn bodies_of_unknown_length_are_read_too() {
    let fixture = Fixture::start();
    let mut session = Session::open(&fixture, "/socket");
    let join = message("1", ROOM, "phx_join");
    let (target, length) = (&session.target, join.len());
    let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    session.client.send(format!("{head}{length:x}\r\n{join}\r\n0\r\n\r\n").as_bytes());
    let answer: Value = serde_json::from_str(&session.client.answer().body).expect("JSON");
    assert_eq!(answer["status"], 200);
    assert_eq!(session.poll()["messages"].as_array().map(Vec::len), Some(1), "the join's reply");
}

#[test]
fn who_wants_the_connection_closed_is_told_that_it_is() {
    let fixture = Fixture::start();
    let mut client = Client::connect(fixture.address());
    client.send(format!("GET {OPENING} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
    let answer = client.answer();
    assert!(answer.head.contains("Connection: close"), "{}", answer.head);
    client.end();
}
