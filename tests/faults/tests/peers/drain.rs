//! A gateway that drains: sockets and polling clients are sent away one by one, each kind as the other.

use faults::{Client, Fixture, Gate, PATIENCE, Room, wait_until};
use gateway::{CloseReason, Ended, Gateway, Handle, Mount};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// Of each kind.
const CLIENTS: usize = 40;
const SERVICE_RESTART: u16 = 1012;
/// What is answered to who is to come back later.
const SENT_AWAY: u16 = 500;
/// Longer than any test, and no moment of it is likely to come during one.
const FOR_EVER: Duration = Duration::from_secs(10_000_000);

/// A polling client on one connection.
struct Poller {
    client: Client,
    target: String,
}

impl Poller {
    /// Begins a session and joins.
    fn open(fixture: &Fixture, mount: &str, topic: &str) -> Poller {
        let mut poller = Poller {
            client: Client::connect(fixture.address()),
            target: format!("{mount}/longpoll?vsn=2.0.0"),
        };
        let opened = poller.poll();
        assert_eq!(opened["status"], 410, "a new session is announced so");
        let token = opened["token"].as_str().expect("a token");
        poller.target = format!("{}&token={token}", poller.target);
        assert_eq!(poller.post(&message("1", topic, "phx_join"))["status"], 200);
        assert_eq!(poller.poll()["messages"].as_array().map(Vec::len), Some(1), "the join's reply");
        poller
    }

    fn poll(&mut self) -> Value {
        self.send("GET", "");
        self.answer()
    }

    fn post(&mut self, body: &str) -> Value {
        self.send("POST", body);
        self.answer()
    }

    fn send(&mut self, method: &str, body: &str) {
        let head = format!(
            "{method} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
             Content-Length: {}\r\n\r\n",
            self.target,
            body.len()
        );
        self.client.send(&[head.as_bytes(), body.as_bytes()].concat());
    }

    fn answer(&mut self) -> Value {
        let answer = self.client.answer();
        assert_eq!(answer.status, 200, "{}", answer.head);
        serde_json::from_str(&answer.body).expect("JSON")
    }
}

fn message(reference: &str, topic: &str, event: &str) -> String {
    json!(["1", reference, topic, event, {}]).to_string()
}

/// Begins to drain. What is given back says whether that is over.
fn drain(handle: &Handle, spread: Duration) -> impl Fn() -> bool + use<> {
    let handle = handle.clone();
    let drain = RefCell::new(Box::pin(async move { handle.drain(spread).await }));
    let is_over =
        move || drain.borrow_mut().as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!is_over(), "there is somebody");
    is_over
}

#[test]
fn sockets_and_polling_clients_are_sent_away_in_one_random_order() {
    let (sender, ends) = channel();
    let rooms = Mount::channels("/patient").idle_timeout(None).longpoll(Some(PATIENCE));
    let rooms = rooms.channel("room:*", move || Room::new(Gate::default(), Some(sender.clone())));
    let fixture = Fixture::build(Gateway::builder().mount(rooms));
    let mut sockets: Vec<Client> = (0..CLIENTS)
        .map(|_| {
            let mut client = Client::open(fixture.address(), "/patient/websocket?vsn=2.0.0");
            assert_eq!(client.join("room:sockets")["status"], "ok");
            client
        })
        .collect();
    let mut pollers: Vec<Poller> = (0..CLIENTS)
        .map(|_| {
            let mut poller = Poller::open(&fixture, "/patient", "room:polled");
            poller.send("GET", "");
            poller
        })
        .collect();

    let spread = Duration::from_secs(2);
    let began = Instant::now();
    let is_over = drain(&fixture.handle(), spread);
    wait_until("the drain is over", is_over);
    // Of so many random moments the last is not in the first half.
    assert!(began.elapsed() >= spread / 2, "{:?}", began.elapsed());
    let metrics = fixture.handle().metrics();
    assert_eq!((metrics.connections_open, metrics.longpoll_sessions), (0, 0));
    assert_eq!(fixture.closed(CloseReason::Drained), 2 * CLIENTS as u64);

    // In the gateway's own order, however late who is sent away learns of it.
    let order: Vec<String> = ends
        .try_iter()
        .map(|(topic, reason)| {
            assert_eq!(reason, Ended::Disconnected);
            topic
        })
        .collect();
    assert_eq!(order.len(), 2 * CLIENTS);
    for half in order.chunks(CLIENTS) {
        let kinds: BTreeSet<&str> = half.iter().map(String::as_str).collect();
        assert_eq!(kinds, BTreeSet::from(["room:polled", "room:sockets"]), "{order:?}");
    }
    for socket in &mut sockets {
        assert_eq!(socket.close_code(), Some(SERVICE_RESTART));
    }
    for poller in &mut pollers {
        assert_eq!(poller.answer()["status"], SENT_AWAY);
        poller.client.end();
    }
}

#[test]
fn until_its_moment_a_polling_client_is_served_by_its_connection() {
    let fixture = Fixture::start();
    let mut poller = Poller::open(&fixture, "/brief", "room:polled");
    let is_over = drain(&fixture.handle(), FOR_EVER);
    for reference in ["2", "3"] {
        assert_eq!(poller.post(&message(reference, "room:polled", "echo"))["status"], 200);
        assert_eq!(poller.poll()["messages"].as_array().map(Vec::len), Some(1), "the echo's reply");
    }
    assert!(!is_over(), "it is still there");
    // Its session is not to be had any more by who has lost it, and the connection is for nothing else.
    poller.target = "/brief/longpoll?vsn=2.0.0".to_owned();
    assert_eq!(poller.poll()["status"], SENT_AWAY);
    poller.client.end();
}

#[test]
fn a_session_that_ends_by_itself_is_not_waited_for() {
    let fixture = Fixture::start();
    let _silent = Poller::open(&fixture, "/brief", "room:polled");
    wait_until("the drain is over", drain(&fixture.handle(), FOR_EVER));
    assert_eq!(fixture.handle().metrics().longpoll_sessions, 0);
    assert_eq!((fixture.closed(CloseReason::Client), fixture.closed(CloseReason::Drained)), (1, 0));
}
