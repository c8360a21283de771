//! Shutdown of a server: every client is notified, and the process ends.

use crate::client::{self, Client, Said};
use crate::throng::{DEADLINE, Throng};
use crate::tls;
use nix::sys::signal::Signal;
use rustls::pki_types::CertificateDer;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: usize = 300;
const SERVICE_RESTART: u16 = 1012;
const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
const LOBBY: &str = "rooms:lobby";

/// Opens clients, every second of which has joined the lobby.
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
    server.logged("no longer ready");
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
    // The shards get the request one by one.
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
fn a_rate_of_closing_counts_sockets_and_polling_clients_and_makes_the_end_as_long_as_it_takes() {
    const EACH: usize = 40;
    let mut server =
        Throng::start(&["--set", "shutdown.spread=0s", "--set", "shutdown.closes_per_second=40"]);
    let time = Duration::from_secs(2);
    let sockets = clients(&server, EACH);
    let pollers: Vec<Poller> = (0..EACH).map(|_| Poller::start(server.address)).collect();
    let began = Instant::now();
    server.signal(Signal::SIGTERM);
    server.logged("closing 80 connections over 2s");
    let [sockets, pollers] = thread::scope(|scope| {
        let sockets = scope.spawn(move || {
            for mut client in sockets {
                assert_eq!(client.hear_close(), SERVICE_RESTART);
            }
            began.elapsed()
        });
        let pollers = scope.spawn(move || {
            pollers.into_iter().for_each(Poller::wait_until_sent_away);
            began.elapsed()
        });
        [sockets, pollers].map(|last| last.join().expect("all were sent away"))
    });
    // The last of so many random times is late in the interval, and no client is notified before its own.
    assert!(sockets >= time / 2, "the last socket was closed after {sockets:?}");
    assert!(pollers >= time / 2, "the last session was ended after {pollers:?}");
    assert!(sockets.max(pollers) >= time * 3 / 4, "all were sent away after {sockets:?} and {pollers:?}");
    assert_eq!(server.exit_status().code(), Some(0));
}

#[test]
fn a_server_that_ends_at_once_answers_every_polling_client() {
    let mut server = Throng::start(&["--set", "shutdown.spread=0s"]);
    let pollers: Vec<Poller> = (0..CLIENTS).map(|_| Poller::start(server.address)).collect();
    // This answer comes after the polls have been read.
    assert_eq!(server.get(server.address, "/healthz").status, 200);
    server.signal(Signal::SIGTERM);
    pollers.into_iter().for_each(Poller::wait_until_sent_away);
    assert_eq!(server.exit_status().code(), Some(0));
}

#[test]
fn a_server_without_connections_ends_without_waiting() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(0));
}

/// A client over TLS, and an idle connection over TLS that has had one answer.
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

    /// Reconnects as soon as it is sent away, with both connections. Returns whether it was told that the server is
    /// going away.
    fn come_back(mut self, address: SocketAddr, trusted: &CertificateDer<'static>) -> bool {
        assert_eq!(self.client.hear_close(), SERVICE_RESTART);
        let anew = tls::connect(address, trusted)
            .map(|stream| Client::upgrade(Box::new(stream), address, SOCKET, ""));
        assert!(!matches!(anew, Ok(Ok(Ok(_)))), "nobody is let in by a new connection");
        match Client::upgrade(self.idle, address, SOCKET, "") {
            Ok(Ok(_)) => panic!("nobody is let in by an old connection"),
            Ok(Err(status)) => status == 503,
            // The last ones find nobody listening.
            Err(_) => false,
        }
    }
}

/// Publishes, and waits for each answer, until the server closes. Returns the close code.
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

/// Opens a connection that has sent half a request.
fn half_a_head(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(b"GET /socket/websocket HTTP/1.1\r\nHost: ")?;
    Ok(stream)
}

/// A polling client that sends all requests on one connection.
struct Poller {
    stream: TcpStream,
    target: String,
}

impl Poller {
    /// Begins a session, and polls.
    fn start(address: SocketAddr) -> Poller {
        let stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(DEADLINE)).expect("set");
        let mut poller = Poller { stream, target: "/socket/longpoll?vsn=2.0.0".to_owned() };
        poller.ask();
        let session = poller.answer();
        poller.target = format!("{}&token={}", poller.target, session["token"].as_str().expect("a token"));
        poller.ask();
        poller
    }

    fn ask(&mut self) {
        let text = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", self.target);
        self.stream.write_all(text.as_bytes()).expect("written");
    }

    /// Reads one JSON object without nested objects.
    fn answer(&mut self) -> serde_json::Value {
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).expect("an answer");
            answer.push(byte[0]);
        }
        let answer = String::from_utf8(answer).expect("text");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).expect("JSON")
    }

    /// Polls until the session ends.
    fn wait_until_sent_away(mut self) {
        let answer = loop {
            match self.answer() {
                nothing if nothing["status"] == 204 => self.ask(),
                answer => break answer,
            }
        };
        assert_eq!(answer["status"], 500, "a status at which clients come back later");
    }
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
    let poller = Poller::start(address);

    thread::scope(|scope| {
        let publishers: Vec<_> =
            publishers.map(|publisher| scope.spawn(move || publish_until_closed(publisher))).collect();
        let returning: Vec<_> = returning
            .into_iter()
            .map(|returning| scope.spawn(move || returning.come_back(by_tls, trusted)))
            .collect();
        // The slow clients do not read before this.
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
        poller.wait_until_sent_away();
        let mut answer = String::new();
        half.read_to_string(&mut answer).expect("an answer and the end");
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    });
    assert_eq!(server.exit_status().code(), Some(0));
}
