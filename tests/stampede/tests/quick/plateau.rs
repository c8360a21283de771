//! A server that takes so many connections and no more: the report says at what number connects, or waiting requests,
//! stop.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Socket, Type};
use stampede_tests::{Lab, accept_key};

/// Connections that the server accepts before it stops; a few more wait in its queue, and get no answer.
const ACCEPTED: u64 = 30;
const QUEUE: i32 = 4;

/// Listens with a short queue, takes so many clients, and accepts nobody after that. The thread keeps what it accepted
/// until its clients have gone.
fn server(take: fn(TcpStream) -> Option<TcpStream>) -> (SocketAddr, JoinHandle<()>) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    socket.bind(&any.into()).expect("a free port");
    socket.listen(QUEUE).expect("it listens");
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().expect("it is bound");
    let serving = thread::spawn(move || {
        let clients: Vec<TcpStream> =
            listener.incoming().flatten().filter_map(take).take(ACCEPTED as usize).collect();
        for mut client in clients {
            // Nobody talks: its end is what is waited for.
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    (address, serving)
}

fn head_of(client: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Lets who asks for news wait for ever; nothing for the doctor, who asks for something else.
fn let_wait(mut client: TcpStream) -> Option<TcpStream> {
    if head_of(&mut client)?.starts_with("GET /news ") {
        return Some(client);
    }
    client.write_all(NOT_FOUND).ok()?;
    None
}

/// Grants the upgrade; nothing for the doctor, who asks for none.
fn grant(mut client: TcpStream) -> Option<TcpStream> {
    let head = head_of(&mut client)?;
    let key = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("sec-websocket-key").then_some(value)
    });
    let Some(key) = key else {
        client.write_all(NOT_FOUND).ok()?;
        return None;
    };
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_key(key)
    );
    client.write_all(answer.as_bytes()).ok()?;
    Some(client)
}

#[test]
fn connects_that_stop_at_a_number_are_named_with_it_whatever_the_rate() {
    let lab = Lab::new();
    for rate in [10, 40] {
        let (address, serving) = server(grant);
        let scenario = format!(
            "name: crowd
target: ws://{address}
phases:
  - rate: {rate}/s
    duration: 10s
drain: 0s
sessions:
  - name: idler
    steps:
      - connect: {{ path: /, connect_timeout: 1s, handshake_timeout: 1s }}
      - stay
"
        );
        let ended = lab.play(&scenario);
        let summary = ended.summary();
        assert_eq!(summary.count("connected_max"), ACCEPTED, "{}", ended.words());
        let failed =
            ["connect_timeout", "handshake_timeout"].map(|outcome| summary.errors("connect", outcome).0);
        assert_eq!(failed.iter().sum::<u64>(), summary.count("users") - ACCEPTED, "{}", summary.0["errors"]);
        let findings = summary.0["findings"].as_array().expect("findings");
        let words =
            findings.iter().filter_map(|finding| finding["text"].as_str()).collect::<Vec<_>>().join("\n");
        assert!(words.contains(&format!("Connections stopped at {ACCEPTED}")), "{words}");
        serving.join().expect("the server ends with its clients");
    }
}

#[test]
fn waiting_requests_that_stop_at_a_number_are_named_with_it() {
    let lab = Lab::new();
    let (address, serving) = server(let_wait);
    let scenario = format!(
        "name: waiting
target: http://{address}
duration: 16s
phases:
  - rate: 20/s
    max_users: 100
drain: 0s
sessions:
  - name: reader
    steps:
      - loop: {{ steps: [ {{ pace: 1s }}, {{ http: {{ get: /news, connect_timeout: 1s, timeout: 60s }} }} ] }}
"
    );
    let ended = lab.play(&scenario);
    let summary = ended.summary();
    assert!(summary.errors("http", "connect_timeout").0 > 100, "{}", summary.0["errors"]);
    let findings = summary.0["findings"].as_array().expect("findings");
    let mut words = findings.iter().filter_map(|finding| finding["text"].as_str());
    let most = words.find_map(|text| text.strip_prefix("Waiting requests stopped at ")?.split(':').next());
    let most: u64 = most.and_then(|most| most.parse().ok()).unwrap_or_else(|| panic!("{findings:?}"));
    // Those in its queue wait, too, as far as anybody can see.
    assert!((ACCEPTED..=ACCEPTED + 2 * QUEUE as u64 + 2).contains(&most), "{most}");
    serving.join().expect("the server ends with its clients");
}
