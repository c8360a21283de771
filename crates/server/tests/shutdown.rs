//! The end of a server: everybody is told, and the process goes.

mod client;
mod throng;
mod tls;

use client::{Client, Said};
use nix::sys::signal::Signal;
use rustls::pki_types::CertificateDer;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use throng::{DEADLINE, Throng};

const CLIENTS: usize = 300;
const SERVICE_RESTART: u16 = 1012;
const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
const LOBBY: &str = "rooms:lobby";

/// Clients of which every second one has joined the lobby.
fn clients(server: &Throng, count: usize) -> Vec<Client> {
    let open = |index| {
        let mut client = Client::open(server.address, SOCKET);
        if index % 2 == 0 {
            client.join(LOBBY, "{}");
        }
        client
    };
    (0..count).map(open).collect()
}

#[test]
fn sigterm_closes_every_connection_with_1012_and_the_exit_code_is_0() {
    for (signal, tables) in [(Signal::SIGTERM, "shared"), (Signal::SIGINT, "private")] {
        let tables = format!("descriptor_tables={tables}");
        let mut server = Throng::start(&["--set", "shutdown.spread=1s", "--set", &tables]);
        let mut clients = clients(&server, CLIENTS);
        server.signal(signal);
        for client in &mut clients {
            assert_eq!(client.hear(), Said::Close(SERVICE_RESTART));
        }
        drop(clients);
        assert_eq!(server.exit_status().code(), Some(0));
    }
}

#[test]
fn a_server_that_ends_is_not_ready_and_a_second_signal_ends_it_at_once() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    let _clients = clients(&server, 10);
    assert_eq!(server.get(server.admin, "/readyz").status, 200);
    server.signal(Signal::SIGTERM);
    server.logged("closing 10 connections");
    let probe = server.get(server.admin, "/readyz");
    assert_eq!((probe.status, probe.body.as_str()), (503, "not ready\n"));
    assert_eq!(server.get(server.admin, "/healthz").status, 200);

    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(1));
}

#[test]
fn a_server_gives_notice_and_lets_people_in_until_it_closes() {
    let mut server = Throng::start(&["--set", "shutdown.notice=2s", "--set", "shutdown.spread=0s"]);
    let mut early = Client::open(server.address, SOCKET);
    server.signal(Signal::SIGTERM);
    server.logged("not ready any more");
    assert_eq!(server.get(server.admin, "/readyz").status, 503);
    let mut late = Client::open(server.address, SOCKET);
    late.join(LOBBY, "{}");
    server.logged("closing 2 connections");
    assert_eq!((early.hear_close(), late.hear_close()), (SERVICE_RESTART, SERVICE_RESTART));
    drop((early, late));
    assert_eq!(server.exit_status().code(), Some(0));
}

#[test]
fn a_newcomer_to_a_server_that_closes_is_told_to_come_back() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    let _client = Client::open(server.address, SOCKET);
    server.signal(Signal::SIGTERM);
    server.logged("closing 1 connections");
    // The shards hear of it one by one.
    let answer = loop {
        let answer = server.get(server.address, "/healthz");
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!(answer.status, 503);
    assert!(answer.head.contains("retry-after: 5"), "{}", answer.head);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(1));
}

#[test]
fn a_rate_of_closing_makes_the_end_as_long_as_it_takes() {
    let server = Throng::start(&["--set", "shutdown.spread=0s", "--set", "shutdown.closes_per_second=1"]);
    let _clients = clients(&server, 3);
    server.signal(Signal::SIGTERM);
    server.logged("closing 3 connections over 3s");
}

#[test]
fn a_server_without_connections_ends_without_waiting() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(0));
}

/// A client by TLS, and a connection by TLS that has had one answer and stays open.
struct Returning {
    client: Client,
    idle: Box<dyn client::Stream>,
}

impl Returning {
    fn start(address: SocketAddr, trusted: &CertificateDer<'static>) -> Returning {
        let connect = || Box::new(tls::connect(address, trusted).expect("connected"));
        let mut client =
            Client::upgrade(connect(), address, SOCKET, "").expect("an answer").expect("upgraded");
        client.join(LOBBY, "{}");
        let mut idle = connect();
        idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\nok\n") {
            let mut byte = [0];
            idle.read_exact(&mut byte).expect("an answer");
            answer.push(byte[0]);
        }
        Returning { client, idle }
    }

    /// Comes back as soon as it is sent away, both ways. Whether it was told that the server goes.
    fn come_back(mut self, address: SocketAddr, trusted: &CertificateDer<'static>) -> bool {
        assert_eq!(self.client.hear_close(), SERVICE_RESTART);
        let anew = tls::connect(address, trusted)
            .map(|stream| Client::upgrade(Box::new(stream), address, SOCKET, ""));
        assert!(!matches!(anew, Ok(Ok(Ok(_)))), "nobody is let in by a new connection");
        match Client::upgrade(self.idle, address, SOCKET, "") {
            Ok(Ok(_)) => panic!("nobody is let in by an old connection"),
            Ok(Err(status)) => status == 503,
            // The last ones find nobody at all.
            Err(_) => false,
        }
    }
}

/// Talks, and waits for each answer, until the server closes.
fn publish_until_closed(mut publisher: Client) -> u16 {
    loop {
        publisher.send(r#"["1","2","rooms:lobby","new_msg",{"body":"news"}]"#);
        loop {
            match publisher.hear() {
                Said::Text(text) if text.contains("phx_reply") => break,
                Said::Text(_) => {}
                Said::Close(code) => return code,
            }
        }
    }
}

/// A connection that has said half a request.
fn half_a_head(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(b"GET /socket/websocket HTTP/1.1\r\nHost: ")?;
    Ok(stream)
}

/// Asks for a poll on a connection that stays open.
fn ask_to_poll(stream: &mut TcpStream, target: &str) {
    let text = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(text.as_bytes()).expect("written");
}

/// The answer to a poll: one JSON object without others in it.
fn polled(stream: &mut TcpStream) -> serde_json::Value {
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer");
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).expect("text");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
    serde_json::from_str(body).expect("JSON")
}

#[test]
fn sigterm_under_load_ends_with_status_0_and_lets_nobody_back_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let trusted = &tls::write_pair(folder.path());
    let mut server = tls::start(folder.path(), &["--set", "shutdown.spread=2s"]);
    let (address, by_tls) = (server.address, tls::address(&server));
    let returning: Vec<Returning> = (0..20).map(|_| Returning::start(by_tls, trusted)).collect();
    let mut slow = clients(&server, 10);
    let publishers = clients(&server, 3).into_iter().step_by(2);
    let mut half = half_a_head(address).expect("the server listens");
    let mut poller = TcpStream::connect(address).expect("connected");
    poller.set_read_timeout(Some(DEADLINE)).expect("set");
    ask_to_poll(&mut poller, "/socket/longpoll?vsn=2.0.0");
    let session = polled(&mut poller);
    let target = format!("/socket/longpoll?vsn=2.0.0&token={}", session["token"].as_str().expect("a token"));

    thread::scope(|scope| {
        let publishers: Vec<_> =
            publishers.map(|publisher| scope.spawn(move || publish_until_closed(publisher))).collect();
        let returning: Vec<_> = returning
            .into_iter()
            .map(|returning| scope.spawn(move || returning.come_back(by_tls, trusted)))
            .collect();
        ask_to_poll(&mut poller, &target);
        // Those who are slow do not read before this.
        server.signal(Signal::SIGTERM);
        server.logged("closing");
        for client in &mut slow {
            assert_eq!(client.hear_close(), SERVICE_RESTART);
        }
        for publisher in publishers {
            assert_eq!(publisher.join().expect("it was closed"), SERVICE_RESTART);
        }
        let told = returning.into_iter().map(|client| client.join().expect("it was closed"));
        assert!(told.filter(|told| *told).count() > 0, "an open connection is answered 503");
        assert_eq!(polled(&mut poller)["status"], 500, "a status at which clients come back later");
        let mut answer = String::new();
        half.read_to_string(&mut answer).expect("an answer and the end");
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    });
    assert_eq!(server.exit_status().code(), Some(0));
}
