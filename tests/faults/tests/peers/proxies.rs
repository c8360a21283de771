//! Load balancers that say whose connection they bring, and others who say it too.

use axum::{Extension, Router};
use faults::{Answer, Client, Connecting, Trust, self_signed, upgrade_request, wait_until};
use gateway::{ConnectRequest, Gateway, Limits, Mount, Refusal, RemotePeer, Running, Socket};
use std::net::SocketAddr;
use std::time::Duration;

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const CLIENT: [u8; 4] = [203, 0, 113, 7];
const ELSEWHERE: Connecting<'_> =
    Connecting { from: Some([127, 0, 0, 2]), receive_buffer_bytes: None, tls: None };

/// A gateway that believes 127.0.0.1, and tells everybody who they are: the router by its answer, the mount `/who` by its
/// refusal.
struct Balanced {
    running: Running,
    trust: Trust,
}

/// How a load balancer brings its clients.
#[derive(Clone, Copy, Debug)]
enum Way {
    Forwarded,
    Announced,
    ForwardedByTls,
    AnnouncedByTls,
}

const WAYS: [Way; 4] = [Way::Forwarded, Way::Announced, Way::ForwardedByTls, Way::AnnouncedByTls];

impl Balanced {
    fn start(limits: Limits) -> Balanced {
        let (config, certificate) = self_signed();
        let who = |request: &ConnectRequest<'_>| -> Result<Socket, Refusal> {
            let remote = request.remote().expect("the client is there");
            Err(Refusal::with(418, &remote.to_string()))
        };
        let router = Router::new().fallback(|Extension(peer): Extension<RemotePeer>| async move {
            format!("{} {}", peer.address, if peer.secure { "by TLS" } else { "in the clear" })
        });
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        let running = Gateway::builder()
            .limits(limits)
            .trusted_proxies(["127.0.0.1/32".parse().expect("a network")])
            .listen(any)
            .listen_proxied(any)
            .listen_tls(any, config.clone())
            .listen_tls_proxied(any, config)
            .shards(2)
            .mount(Mount::echo("/echo"))
            .mount(Mount::channels("/who").connect(who))
            .http(router)
            .start()
            .expect("free ports");
        Balanced { running, trust: Trust::certificate(certificate) }
    }

    fn address(&self, way: Way) -> SocketAddr {
        match way {
            Way::Forwarded => self.running.local_addresses()[0],
            Way::Announced => self.running.local_addresses()[1],
            Way::ForwardedByTls => self.running.tls_addresses()[0],
            Way::AnnouncedByTls => self.running.tls_addresses()[1],
        }
    }

    fn connecting(&self, way: Way) -> Connecting<'_> {
        match way {
            Way::Forwarded | Way::Announced => Connecting::default(),
            Way::ForwardedByTls | Way::AnnouncedByTls => {
                Connecting { tls: Some(&self.trust), ..Connecting::default() }
            }
        }
    }

    /// A connection for a client, and what its requests must say besides.
    fn bring(&self, way: Way, client: [u8; 4]) -> (Client, String) {
        let mut connection = self.connecting(way).connect(self.address(way));
        match way {
            Way::Forwarded | Way::ForwardedByTls => {
                let [a, b, c, d] = client;
                (connection, format!("X-Forwarded-For: 198.51.100.1, {a}.{b}.{c}.{d}\r\n"))
            }
            Way::Announced | Way::AnnouncedByTls => {
                connection.send_beneath_tls(&announcement(client, 12345));
                (connection, String::new())
            }
        }
    }

    /// The answer to somebody who wants a socket.
    fn upgrade(&self, way: Way, client: [u8; 4], target: &str) -> (Client, Answer) {
        let (mut connection, headers) = self.bring(way, client);
        connection.send(&upgrade_request(target, &headers));
        let answer = connection.answer();
        (connection, answer)
    }

    fn rejected(&self, reason: &str) -> u64 {
        let rejected = self.running.handle().metrics().rejected;
        rejected.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
    }
}

impl Drop for Balanced {
    fn drop(&mut self) {
        self.running.handle().stop();
    }
}

#[test]
fn the_room_of_a_path_or_a_query_is_a_parameter_and_the_path_wins() {
    let room = |request: &ConnectRequest<'_>| -> Result<Socket, Refusal> {
        Err(Refusal::with(418, request.param("room").unwrap_or("none")))
    };
    let mount = |path| Mount::channels(path).connect(room);
    let running = Gateway::builder()
        .listen(([127, 0, 0, 1], 0))
        .mount(mount("/socket"))
        .mount(mount("/socket/:room"))
        .start()
        .expect("a free port");
    for (target, status, body) in [
        ("/socket/websocket", 418, "none"),
        ("/socket/websocket?room=a%20b", 418, "a b"),
        ("/socket/caf%C3%A9+%2F1/websocket", 418, "caf\u{e9}+/1"),
        ("/socket/path/websocket?room=query", 418, "path"),
        ("/socket/50%/websocket", 400, "malformed percent-encoding in path or query"),
    ] {
        let mut client = Client::connect(running.local_addresses()[0]);
        client.send(&upgrade_request(target, ""));
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.as_str()), (status, body), "{target}");
    }
    running.handle().stop();
}

/// PROXY protocol, version 2: a TCP connection by IPv4, with a field behind the addresses that nobody reads.
fn announcement(client: [u8; 4], port: u16) -> Vec<u8> {
    let addresses = [&client[..], &[10, 0, 0, 1], &port.to_be_bytes(), &[0x01, 0xbb]].concat();
    [SIGNATURE, &[0x21, 0x11, 0, 18], &addresses, &[0x04, 0, 3, 1, 2, 3]].concat()
}

fn get(headers: &str) -> Vec<u8> {
    format!("GET /me HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").into_bytes()
}

#[test]
fn whom_a_trusted_proxy_names_is_the_client_of_sockets_and_pages() {
    let balanced = Balanced::start(Limits::default());
    for (way, client, scheme) in [
        (Way::Forwarded, "203.0.113.7:0", "in the clear"),
        (Way::Announced, "203.0.113.7:12345", "in the clear"),
        (Way::ForwardedByTls, "203.0.113.7:0", "by TLS"),
        (Way::AnnouncedByTls, "203.0.113.7:12345", "by TLS"),
    ] {
        let (_, answer) = balanced.upgrade(way, CLIENT, "/who/websocket");
        assert_eq!((answer.status, answer.body.as_str()), (418, client), "{way:?}");
        let (mut connection, headers) = balanced.bring(way, CLIENT);
        connection.send(&get(&headers));
        assert_eq!(connection.answer().body, format!("{client} {scheme}"), "{way:?}");
    }
}

#[test]
fn one_connection_of_a_proxy_carries_the_requests_of_many() {
    let balanced = Balanced::start(Limits::default());
    for way in [Way::Forwarded, Way::ForwardedByTls] {
        let mut connection = balanced.connecting(way).connect(balanced.address(way));
        for client in ["203.0.113.7", "203.0.113.8", "2001:db8::1"] {
            connection.send(&get(&format!("X-Forwarded-For: {client}\r\nX-Forwarded-Proto: https\r\n")));
            let address = SocketAddr::new(client.parse().expect("an address"), 0);
            assert_eq!(connection.answer().body, format!("{address} by TLS"), "{way:?}");
        }
        connection.send(&upgrade_request("/who/websocket", "X-Forwarded-For: 203.0.113.9\r\n"));
        assert_eq!(connection.answer().body, "203.0.113.9:0", "{way:?}");
    }
}

#[test]
fn a_proxy_behind_a_proxy_that_announces_it_names_the_client() {
    let balanced = Balanced::start(Limits::default());
    for way in [Way::Announced, Way::AnnouncedByTls] {
        let (mut connection, _) = balanced.bring(way, [127, 0, 0, 1]);
        connection.send(&upgrade_request("/who/websocket", "X-Forwarded-For: 203.0.113.9\r\n"));
        assert_eq!(connection.answer().body, "203.0.113.9:0", "{way:?}");
    }
}

#[test]
fn a_proxy_that_speaks_for_itself_is_its_own_client() {
    let balanced = Balanced::start(Limits::default());
    for way in [Way::Announced, Way::AnnouncedByTls] {
        let mut connection = balanced.connecting(way).connect(balanced.address(way));
        connection.send_beneath_tls(&[SIGNATURE, &[0x20, 0, 0, 0]].concat());
        connection.send(&upgrade_request("/who/websocket", ""));
        let body = connection.answer().body;
        assert!(body.starts_with("127.0.0.1:") && !body.ends_with(":0"), "{way:?}: {body}");
    }
}

#[test]
fn nobody_else_is_believed() {
    let balanced = Balanced::start(Limits::default());
    let mut liar = ELSEWHERE.connect(balanced.address(Way::Forwarded));
    liar.send(&upgrade_request("/who/websocket", "X-Forwarded-For: 203.0.113.9\r\n"));
    let body = liar.answer().body;
    assert!(body.starts_with("127.0.0.2:"), "{body}");

    for (way, cut) in [(Way::Announced, 1), (Way::AnnouncedByTls, 2)] {
        let mut liar = ELSEWHERE.connect(balanced.address(way));
        let _ = liar.try_send(&announcement(CLIENT, 12345));
        liar.end();
        wait_until("it is counted", || balanced.rejected("proxy_protocol") == cut);
    }
}

#[test]
fn a_connection_that_does_not_begin_with_its_header_is_cut_and_counted() {
    let limits = Limits { handshake_time_max: Duration::from_secs(2), ..Limits::default() };
    let balanced = Balanced::start(limits);
    let version_1 = b"PROXY TCP4 203.0.113.7 10.0.0.1 12345 4000\r\nGET / HTTP/1.1\r\n\r\n".to_vec();
    let mut cut = 0;
    for way in [Way::Announced, Way::AnnouncedByTls] {
        for beginning in [get(""), version_1.clone(), [SIGNATURE, &[0x21, 0x11, 0xff, 0xff]].concat()] {
            let mut connection = Client::connect(balanced.address(way));
            connection.send(&beginning);
            connection.end();
            cut += 1;
            wait_until("it is counted", || balanced.rejected("proxy_protocol") == cut);
        }
        Client::connect(balanced.address(way)).end();
        cut += 1;
        wait_until("silence is counted, too", || balanced.rejected("proxy_protocol") == cut);
    }
}

#[test]
fn header_and_request_may_come_in_pieces() {
    let balanced = Balanced::start(Limits::default());
    let whole = [announcement(CLIENT, 12345), upgrade_request("/echo/websocket", "")].concat();
    for cut in [1, 12, 15, 16, 30, 34, 35, 60, whole.len() - 1] {
        let mut connection = Client::connect(balanced.address(Way::Announced));
        connection.send(&whole[..cut]);
        assert!(connection.hears_nothing(Duration::from_millis(20)), "cut behind {cut} bytes");
        connection.send(&whole[cut..]);
        assert_eq!(connection.answer().status, 101, "cut behind {cut} bytes");
        connection.text("here");
        assert_eq!(connection.message(), "here");
    }
}

#[test]
fn each_client_of_a_proxy_has_its_own_limit() {
    for way in WAYS {
        let balanced = Balanced::start(Limits { connections_per_ip_max: 2, ..Limits::default() });
        let open = |client| balanced.upgrade(way, client, "/echo/websocket");
        let is_let_in = |client| open(client).1.status == 101;
        let held = [open(CLIENT), open(CLIENT)];
        assert!(held.iter().all(|(_, answer)| answer.status == 101), "{way:?}");
        let on_shards = || balanced.running.handle().metrics().connections_open;
        // With TLS they are answered before a shard has them.
        wait_until("shards have both", || on_shards() == 2);
        let (mut connection, headers) = balanced.bring(way, CLIENT);
        let _ = connection.try_send(&upgrade_request("/echo/websocket", &headers));
        assert_eq!(connection.answer().status, 429, "{way:?}");
        assert!(is_let_in([203, 0, 113, 8]), "{way:?}: another client");
        drop(held);
        wait_until("there is room again", || match way {
            Way::Forwarded | Way::Announced | Way::ForwardedByTls => is_let_in(CLIENT),
            // Asked for so often, one of the refusals would be cut.
            Way::AnnouncedByTls => on_shards() == 0,
        });
        assert!(is_let_in(CLIENT), "{way:?}: both went");
    }
}

#[test]
fn a_listener_for_proxies_needs_one_that_is_trusted() {
    let builder = Gateway::builder().listen_proxied(([127, 0, 0, 1], 0));
    let error = builder.start().err().expect("it does not start");
    assert!(error.to_string().contains("no proxy is trusted"), "{error}");
}

#[test]
fn connections_beyond_the_rate_are_answered_503_and_come_in_later() {
    let limits = Limits { connection_rate_max: Some(2), connection_burst_max: 4, ..Limits::default() };
    let balanced = Balanced::start(limits);
    let plain = balanced.address(Way::Forwarded);
    let answers: Vec<Answer> = (0..12)
        .map(|_| {
            let mut client = ELSEWHERE.connect(plain);
            let _ = client.try_send(&get(""));
            client.answer()
        })
        .collect();
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert!((1..=8).contains(&refused.len()), "a burst of four is let in: {} refused", refused.len());
    assert!(refused.iter().all(|answer| answer.head.contains("Retry-After: 5")));
    assert!(balanced.rejected("connection_rate") >= refused.len() as u64);
    wait_until("the rate allows another", || {
        let mut client = ELSEWHERE.connect(plain);
        let _ = client.try_send(&get(""));
        client.answer().status == 200
    });
}
