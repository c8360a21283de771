//! Long-polling over several nodes: what the network between them does, and who comes to the listener that is for nodes.

use faults::{Client, Fixture, PATIENCE, wait_until};
use gateway::{BusEvents, Gateway, Limits, NodeAddress, NodeId};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

const ROOM: &str = "room:far";
const OPENING: &str = "/brief/longpoll?vsn=2.0.0";

/// A gateway that listens for nodes, with a bus that says what a test wants it to say.
struct Node {
    fixture: Fixture,
    id: NodeId,
    listening: NodeAddress,
    bus: BusEvents,
}

impl Node {
    fn start() -> Node {
        Node::start_with(Limits::default())
    }

    fn start_with(limits: Limits) -> Node {
        let (sender, ports) = channel();
        let builder =
            Gateway::builder().limits(limits).listen_for_nodes(([127, 0, 0, 1], 0)).bus(move |port| {
                sender.send((port.node, port.listening, port.events.clone())).expect("the test waits for it");
                async move {
                    let _requests = port.requests;
                    std::future::pending::<()>().await;
                }
            });
        let fixture = Fixture::build(builder);
        let (id, listening, bus) = ports.recv_timeout(PATIENCE).expect("the bus is run");
        Node { fixture, id, listening: listening.expect("it listens"), bus }
    }

    /// As the bus tells of it.
    fn told(&self) -> (NodeId, NodeAddress) {
        (self.id, self.listening.clone())
    }

    fn knows(&self, nodes: &[(NodeId, NodeAddress)]) {
        self.bus.peers(nodes.to_vec());
    }

    /// Its secret, at another place.
    fn moved(&self, to: SocketAddr) -> (NodeId, NodeAddress) {
        (self.id, NodeAddress { address: to, ..self.listening.clone() })
    }

    fn request(&self, method: &str, target: &str, body: &str) -> Value {
        request(&mut Client::connect(self.fixture.address()), method, target, body)
    }

    /// Begins a session here. The target of its requests.
    fn session(&self) -> String {
        let opened = self.request("GET", OPENING, "");
        assert_eq!(opened["status"], 410, "a new session is announced so");
        format!("{OPENING}&token={}", opened["token"].as_str().expect("a token"))
    }

    fn forwarded(&self, outcome: &str) -> u64 {
        let forwarded = self.fixture.handle().metrics().longpoll_forwarded;
        forwarded.iter().find(|(known, _)| *known == outcome).map_or(0, |(_, count)| *count)
    }
}

/// Two nodes that know each other.
fn pair() -> (Node, Node) {
    let (near, far) = (Node::start(), Node::start());
    for node in [&near, &far] {
        node.knows(&[near.told(), far.told()]);
    }
    (near, far)
}

fn message(reference: &str, event: &str, payload: &Value) -> String {
    json!(["1", reference, ROOM, event, payload]).to_string()
}

fn send(client: &mut Client, method: &str, target: &str, body: &str) {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    client.send(&[head.as_bytes(), body.as_bytes()].concat());
}

fn request(client: &mut Client, method: &str, target: &str, body: &str) -> Value {
    send(client, method, target, body);
    answer(client)
}

fn answer(client: &mut Client) -> Value {
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{}", answer.head);
    serde_json::from_str(&answer.body).expect("JSON")
}

/// The session is unknown wherever its requests come: who posts is told so, and who polls is given another.
fn assert_unknown(node: &Node, target: &str) {
    assert_eq!(node.request("POST", target, &message("9", "echo", &json!({})))["status"], 410);
    let polled = node.request("GET", target, "");
    assert_eq!(polled["status"], 410);
    let token = polled["token"].as_str().expect("a token");
    assert!(!target.ends_with(token), "it is a new one");
    let target = format!("{OPENING}&token={token}");
    assert_eq!(node.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
}

#[test]
fn a_session_is_served_wherever_its_requests_come() {
    let (near, far) = pair();
    let target = far.session();
    let mut client = Client::connect(near.fixture.address());
    assert_eq!(request(&mut client, "POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    let polled = request(&mut client, "GET", &target, "");
    assert_eq!(polled["status"], 200);
    assert_eq!(polled["messages"].as_array().map(Vec::len), Some(1), "the join's reply: {polled}");
    assert!(target.ends_with(polled["token"].as_str().expect("a token")), "the session stays the same");
    // A poll that waits here is answered by what comes there.
    send(&mut client, "GET", &target, "");
    let payload = json!({ "text": "\"quoted\" and \\ and ☃" });
    assert_eq!(far.request("POST", &target, &message("2", "echo", &payload))["status"], 200);
    let polled = answer(&mut client);
    let reply: Value = serde_json::from_str(polled["messages"][0].as_str().expect("a text")).expect("JSON");
    assert_eq!(reply[4]["response"], payload);
    assert_eq!(request(&mut client, "GET", &target, "")["status"], 204, "nothing more within the window");
    // Mistakes are told as they are at home.
    assert_eq!(request(&mut client, "POST", &target, "no message")["status"], 400);
    assert_eq!(near.forwarded("answered"), 5);
    assert_eq!((near.forwarded("gone"), near.forwarded("unreachable"), far.forwarded("answered")), (0, 0, 0));
}

#[test]
fn as_much_as_may_wait_for_a_client_comes_through() {
    let (near, far) = pair();
    let target = far.session();
    let messages = 800;
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    let flood = message("2", "flood", &json!({ "messages": messages }));
    assert_eq!(near.request("POST", &target, &flood)["status"], 200);
    let polled = near.request("GET", &target, "");
    assert_eq!(polled["messages"].as_array().map(Vec::len), Some(1 + messages));
}

#[test]
fn a_later_poll_takes_over_whichever_way_it_comes() {
    let (near, far) = pair();
    let target = far.session();
    for (first, second) in [(&near, &far), (&far, &near), (&near, &near)] {
        let mut waiting = Client::connect(first.fixture.address());
        send(&mut waiting, "GET", &target, "");
        assert!(waiting.hears_nothing(Duration::from_millis(300)));
        let mut later = Client::connect(second.fixture.address());
        send(&mut later, "GET", &target, "");
        assert_eq!(answer(&mut waiting)["status"], 204);
        assert_eq!(answer(&mut later)["status"], 204, "its window is over");
    }
}

#[test]
fn a_session_of_a_node_that_is_gone_is_unknown() {
    let (near, far) = pair();
    let target = far.session();
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
    let moved = far.moved(nobody);
    drop(far);
    // It went by its lease; it is believed to live, and its port is closed; nobody ever heard of it.
    near.knows(&[near.told()]);
    assert_unknown(&near, &target);
    near.knows(&[moved]);
    assert_unknown(&near, &target);
    assert_unknown(&Node::start(), &target);
    assert_eq!(near.forwarded("unreachable"), 4);
}

#[test]
fn a_node_that_says_nothing_or_nonsense_counts_as_gone() {
    let (near, far) = (Node::start(), Node::start());
    let target = far.session();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    near.knows(&[far.moved(silent.local_addr().expect("an address"))]);
    assert_unknown(&near, &target);

    let nonsense = TcpListener::bind("127.0.0.1:0").expect("a port");
    near.knows(&[far.moved(nonsense.local_addr().expect("an address"))]);
    thread::spawn(move || {
        while let Ok((mut stream, _)) = nonsense.accept() {
            // Whoever reads it has gone away, or will.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        }
    });
    assert_unknown(&near, &target);
    assert_eq!(near.forwarded("unreachable"), 4);
}

/// A way to a node that forgets its connections when it is told so: what they carry then arrives nowhere, and nobody hears
/// of it. Later ones are carried.
struct Forgetful {
    address: SocketAddr,
    forgotten: Arc<Mutex<Arc<AtomicBool>>>,
    /// Says that whoever came by a connection has given it up.
    given_up: Receiver<()>,
}

impl Forgetful {
    fn to(node: SocketAddr) -> Forgetful {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let forgotten = Arc::new(Mutex::new(Arc::new(AtomicBool::new(false))));
        let (ended, given_up) = channel();
        let now = forgotten.clone();
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let far = TcpStream::connect(node).expect("the node listens");
                let forgotten = now.lock().expect("nobody panics").clone();
                let back = (far.try_clone().expect("a handle"), near.try_clone().expect("a handle"));
                let (on_back, ended) = (forgotten.clone(), ended.clone());
                thread::spawn(move || carry(back.0, back.1, &on_back));
                thread::spawn(move || {
                    carry(near, far, &forgotten);
                    // The test may be over.
                    let _ = ended.send(());
                });
            }
        });
        Forgetful { address, forgotten, given_up }
    }

    fn forget(&self) {
        let mut forgotten = self.forgotten.lock().expect("nobody panics");
        forgotten.store(true, Relaxed);
        *forgotten = Arc::default();
    }
}

/// Copies until the end of what is read, which is told only as long as nothing is forgotten.
fn carry(mut from: TcpStream, mut to: TcpStream, forgotten: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !forgotten.load(Relaxed) && to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
    if !forgotten.load(Relaxed) {
        // It may be gone already.
        let _ = to.shutdown(Shutdown::Write);
    }
}

#[test]
fn a_connection_that_was_forgotten_on_the_way_while_nobody_needed_it_costs_no_session() {
    let (near, far) = (Node::start(), Node::start());
    let way = Forgetful::to(far.listening.address);
    near.knows(&[far.moved(way.address)]);
    let target = far.session();
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    way.forget();
    way.given_up.recv_timeout(PATIENCE).expect("the node asks by itself whether the other is there");
    // A session without polls ends after a while.
    let target = far.session();
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    assert_eq!((near.forwarded("answered"), near.forwarded("unreachable")), (2, 0));
}

#[test]
fn a_request_is_forwarded_once_at_most() {
    let (near, far) = pair();
    let target = far.session();
    // Each takes the other's place for the way there, so that a request that went on would go round for ever.
    near.knows(&[(far.id, near.listening.clone())]);
    far.knows(&[(near.id, far.listening.clone())]);
    assert_unknown(&near, &target);
    assert_eq!((near.forwarded("gone"), near.forwarded("answered")), (2, 0));
    let third = Node::start();
    third.knows(&[(far.id, near.listening.clone())]);
    near.knows(&[(far.id, third.listening.clone())]);
    assert_unknown(&third, &target);
    assert_eq!((third.forwarded("gone"), near.forwarded("gone")), (2, 2));
}

#[test]
fn who_does_not_show_the_secret_is_not_let_in() {
    let (near, far) = (Node::start(), Node::start());
    let target = far.session();
    for secret in ["", "another secret", &near.listening.secret] {
        near.knows(&[(far.id, NodeAddress { secret: secret.into(), ..far.listening.clone() })]);
        assert_unknown(&near, &target);
    }
    assert_eq!(near.forwarded("unreachable"), 6);
    near.knows(&[far.told()]);
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
}

#[test]
fn what_is_no_node_is_cut() {
    let node =
        Node::start_with(Limits { handshake_time_max: Duration::from_millis(300), ..Limits::default() });
    let mut silent = Client::connect(node.listening.address);
    let mut old = Client::connect(node.listening.address);
    old.send(b"GET /brief/longpoll HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // It says hello as HTTP/2 wants it, and goes on to say nothing.
    let mut polite = Client::connect(node.listening.address);
    polite.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    for stranger in [&mut silent, &mut old, &mut polite] {
        stranger.end();
    }
    node.fixture.assert_serves();
}

#[test]
fn who_polls_a_node_that_drains_is_given_a_session_elsewhere() {
    let (near, far) = pair();
    let target = far.session();
    let mut client = Client::connect(near.fixture.address());
    send(&mut client, "GET", &target, "");
    assert!(client.hears_nothing(Duration::from_millis(300)));
    let draining = far.fixture.handle();
    assert_eq!(draining.metrics().longpoll_sessions, 1, "there is a session to end");
    // It begins at the first look, and may be over with it: nobody has to wait for its end.
    let _ = pin!(draining.drain(Duration::ZERO)).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(answer(&mut client)["status"], 410);
    wait_until("it is a session of the other", || near.fixture.handle().metrics().longpoll_sessions == 1);
}

#[test]
fn who_comes_by_another_node_keeps_a_session_of_a_node_that_drains_until_its_moment() {
    let (near, far) = pair();
    let target = far.session();
    let draining = far.fixture.handle();
    let spread = Duration::from_secs(10_000_000);
    let mut drain = pin!(draining.drain(spread));
    assert!(drain.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(near.request("POST", &target, &message("1", "phx_join", &json!({})))["status"], 200);
    assert_eq!(near.request("GET", &target, "")["status"], 200, "the join's reply");
    assert_eq!(near.fixture.handle().metrics().longpoll_sessions, 0, "nobody was given a session elsewhere");
}
