//! The driver's conversations against minimal servers: what counts as open, and what counts as a message.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bench_load::scenario::{Broadcast, BroadcastReport, broadcast};
use bench_load::wire::server_frame;
use bench_load::{Conversation, Target, wire};

const HEAD: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
const SUBJECT: &str = "rooms:lobby";
const RECEIVERS: usize = 3;
const ROUNDS: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_plain_server_passes_a_message_on_to_everyone() {
    let report = broadcast_by(Conversation::Upgrade, |server, stream| {
        let mut stream = server.upgraded(stream, HEAD);
        while let Some(text) = read_text(&mut stream) {
            assert_eq!(text, wire::broadcast(wire::PLAIN_TOPIC));
            server.tell_all(&server_frame(&text));
        }
    });
    assert_all_came(&report);
}

#[test]
fn receivers_that_read_at_set_times_get_everything_as_well() {
    let plan = Broadcast { read_every: Some(Duration::from_millis(30)), ..plan() };
    assert_all_came(&broadcast_as(plan, Conversation::Upgrade, |server, stream| {
        let mut stream = server.upgraded(stream, HEAD);
        while let Some(text) = read_text(&mut stream) {
            server.tell_all(&server_frame(&text));
        }
    }));
}

#[test]
fn a_nats_server_speaks_first_and_asks_for_signs_of_life_without_being_counted() {
    let conversation = Conversation::Subscribe(SUBJECT.to_owned());
    let report = broadcast_by(conversation, |server, stream| {
        let introduction = format!("INFO {{\"server_name\":\"{}\"}}\r\n", "n".repeat(300));
        let mut stream = server.upgraded(stream, &[HEAD, &server_frame(&introduction)].concat());
        while let Some(text) = read_text(&mut stream) {
            let publication = wire::nats_publication(SUBJECT, &wire::broadcast(SUBJECT));
            if text == publication {
                let delivery = publication.replace("PUB rooms:lobby", "MSG rooms:lobby 1");
                server.tell_all(&[server_frame("PING\r\n"), server_frame(&delivery)].concat());
            } else {
                assert_eq!(text, wire::nats_subscription(SUBJECT));
                stream.write_all(&server_frame("PONG\r\n")).expect("the driver reads");
            }
        }
    });
    assert_all_came(&report);
}

#[test]
fn a_subscription_that_is_refused_is_no_open_connection() {
    let (server, address) = Server::listening();
    server.serve(|server, stream| {
        let mut stream = server.upgraded(stream, HEAD);
        if read_text(&mut stream).is_some() {
            stream.write_all(&server_frame("-ERR 'Authorization Violation'\r\n")).expect("the driver reads");
        }
    });
    let target = Target::new(address, "/", Conversation::Subscribe(SUBJECT.to_owned()));
    let report = bench_load::scenario::connect(target, RECEIVERS, None, || ()).expect("it is measured");
    assert_eq!((report.opened.open, report.opened.failed), (0, RECEIVERS));
}

#[test]
fn behind_a_message_that_not_everyone_heard_no_other_follows() {
    let talk = |server: &Server, stream| {
        let mut stream = server.upgraded(stream, HEAD);
        while read_text(&mut stream).is_some() {}
    };
    let plan = Broadcast { patience: Duration::from_millis(50), ..plan() };
    let report = broadcast_as(plan, Conversation::Upgrade, talk);
    assert_eq!((report.lost, report.extra), (RECEIVERS as u64, 0));
    assert_eq!(report.last_receiver_ms, [0.0; 0]);
}

fn plan() -> Broadcast {
    Broadcast {
        receivers: RECEIVERS,
        threads: 1,
        rounds: ROUNDS,
        patience: PATIENCE,
        read_every: None,
        publication: Vec::new(),
    }
}

fn broadcast_by(
    conversation: Conversation,
    talk: impl Fn(&Server, TcpStream) + Send + Sync + 'static,
) -> BroadcastReport {
    broadcast_as(plan(), conversation, talk)
}

/// Broadcasts what is published in such a conversation.
fn broadcast_as(
    plan: Broadcast,
    conversation: Conversation,
    talk: impl Fn(&Server, TcpStream) + Send + Sync + 'static,
) -> BroadcastReport {
    let (server, address) = Server::listening();
    server.serve(talk);
    let target = Target::new(address, "/", conversation);
    let plan = Broadcast { publication: target.publication(), ..plan };
    broadcast(target, &plan, None).expect("it is measured")
}

fn assert_all_came(report: &BroadcastReport) {
    assert_eq!(report.opened.open, RECEIVERS);
    assert_eq!((report.lost, report.extra), (0, 0));
    assert_eq!(report.last_receiver_ms.len(), ROUNDS as usize);
}

/// A server with one thread per connection, and a list of all connections for broadcasts.
struct Server {
    listener: TcpListener,
    open: Mutex<Vec<TcpStream>>,
}

impl Server {
    fn listening() -> (Arc<Self>, SocketAddrV4) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let server = Self { listener, open: Mutex::default() };
        (Arc::new(server), SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
    }

    fn serve(self: &Arc<Self>, talk: impl Fn(&Server, TcpStream) + Send + Sync + 'static) {
        let (server, talk) = (Arc::clone(self), Arc::new(talk));
        thread::spawn(move || {
            while let Ok((stream, _)) = server.listener.accept() {
                let (server, talk) = (Arc::clone(&server), Arc::clone(&talk));
                thread::spawn(move || talk(&server, stream));
            }
        });
    }

    /// Reads the request, responds with `answer`, and adds the connection to those that receive broadcasts.
    fn upgraded(&self, mut stream: TcpStream, answer: &[u8]) -> TcpStream {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("the request is whole");
            request.extend(byte);
        }
        self.open.lock().expect("no thread panicked").push(stream.try_clone().expect("it is open"));
        stream.write_all(answer).expect("the driver reads");
        stream
    }

    fn tell_all(&self, frame: &[u8]) {
        for mut stream in self.open.lock().expect("no thread panicked").iter() {
            // The connection may have been closed.
            let _ = stream.write_all(frame);
        }
    }
}

/// Reads the client's next text, which here is shorter than 64 KiB; `None` if the client has disconnected.
fn read_text(stream: &mut TcpStream) -> Option<String> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let length = match head[1] & 0x7f {
        126 => {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).ok()?;
            usize::from(u16::from_be_bytes(bytes))
        }
        short => usize::from(short),
    };
    let (mut mask, mut payload) = ([0; 4], vec![0; length]);
    stream.read_exact(&mut mask).ok()?;
    stream.read_exact(&mut payload).ok()?;
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    String::from_utf8(payload).ok()
}
