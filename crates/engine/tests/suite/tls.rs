//! Connections that use TLS: adopted after their handshake, then served like any other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::line::{Fixture, Options, PATIENCE, Seen, config, config_with_tables, value, wait_until};
use engine::{Adoption, EndCause, EngineConfig, EngineLimits, ShardIndex, Tables};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

type TlsClient = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// Connects with a certificate made for the test, does the handshake, sends `early` and gives the server's side to the
/// shard.
fn adopt_tls(fixture: &Fixture, early: &str) -> TlsClient {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
    let server_config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certified.cert.der().clone()).unwrap();
    let client_config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client_stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client_stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut stream, remote) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let server = std::thread::spawn(move || {
        let mut session = ServerConnection::new(Arc::new(server_config)).unwrap();
        while session.is_handshaking() {
            session.complete_io(&mut stream).unwrap();
        }
        (session, stream)
    });
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = ClientConnection::new(Arc::new(client_config), name).unwrap();
    while session.is_handshaking() {
        session.complete_io(&mut client_stream).unwrap();
    }
    let mut client = StreamOwned::new(session, client_stream);
    client.write_all(early.as_bytes()).unwrap();
    let (session, stream) = server.join().unwrap();
    let adoption = Adoption { stream, tls: Some(Box::new(session)), remote, unread: Vec::new(), seed: "tls" };
    fixture.engine.adopt(ShardIndex(0), adoption);
    let mut client = BufReader::new(client);
    assert_eq!(hear(&mut client), "welcome");
    client
}

fn hear(client: &mut TlsClient) -> String {
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    line.truncate(line.trim_end().len());
    line
}

fn say(client: &mut TlsClient, text: &str) {
    client.get_mut().write_all(text.as_bytes()).unwrap();
}

#[test]
fn lines_come_back_encrypted() {
    for tables in [Tables::Shared, Tables::Private] {
        let fixture = Fixture::start_with(config_with_tables(tables), Options::default());
        let mut client = adopt_tls(&fixture, "early\n");
        assert_eq!(hear(&mut client), "early");
        for piece in ["hel", "lo\nshared all\n\nde", "liver x\n\n"] {
            say(&mut client, piece);
        }
        for expected in ["hello", "all", "x"] {
            assert_eq!(hear(&mut client), expected);
        }
        assert_eq!(
            value(&fixture.counters().bytes_in),
            "early\nhello\nshared all\n\ndeliver x\n\n".len() as u64
        );
    }
}

#[test]
fn much_text_comes_back_in_order() {
    let limits = EngineLimits { outbox_bytes_max: usize::MAX, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let counters = fixture.counters();
    let mut client = adopt_tls(&fixture, "");
    say(&mut client, "flood 20000\nand this\n");
    fixture.wait_for(|seen| *seen == Seen::Line(b"and this".to_vec()));
    for message in 0..20_000 {
        assert_eq!(hear(&mut client), format!("{message:0>999}"));
    }
    assert_eq!(hear(&mut client), "and this");
    wait_until(&counters.outbox_bytes, 0);
    assert_eq!(value(&counters.open), 1);
}

#[test]
fn a_close_says_that_nothing_more_comes() {
    let fixture = Fixture::start();
    let mut client = adopt_tls(&fixture, "");
    say(&mut client, "one\nbye farewell\n");
    let mut text = String::new();
    // Without the close_notify, rustls would report an unexpected end of stream.
    client.read_to_string(&mut text).unwrap();
    assert_eq!(text, "farewell");
    drop(client);
    assert_eq!(fixture.wait_for_end(), EndCause::Local);
}

#[test]
fn an_orderly_end_by_the_peer_is_one() {
    let fixture = Fixture::start();
    let mut client = adopt_tls(&fixture, "");
    client.get_mut().conn.send_close_notify();
    client.get_mut().flush().unwrap();
    assert_eq!(fixture.wait_for_end(), EndCause::PeerClosed);
}

#[test]
fn bytes_that_are_not_tls_end_the_connection() {
    let fixture = Fixture::start();
    let mut client = adopt_tls(&fixture, "");
    client.get_mut().sock.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(fixture.wait_for_end(), EndCause::Tls);
}

#[test]
fn an_outbox_beyond_its_limit_ends_with_last_words() {
    let limits = EngineLimits { outbox_bytes_max: 100_000, linger: PATIENCE, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let mut client = adopt_tls(&fixture, "");
    say(&mut client, "flood 20000\n");
    fixture.wait_for(|seen| *seen == Seen::Overflowed);
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("\ntoo slow\n"));
    drop(client);
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
}

#[test]
fn what_the_kernel_keeps_for_a_peer_that_reads_nothing_is_counted_by_tls_too() {
    let limits = EngineLimits {
        outbox_bytes_max: usize::MAX,
        send_queues_bytes_max: 100_000,
        ..EngineLimits::default()
    };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let mut client = adopt_tls(&fixture, "");
    say(&mut client, "flood 20000\n");
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
    assert_eq!(value(&fixture.counters().unread_cut_total), 1);
    assert!(!fixture.shut_down().contains(&Seen::Overflowed), "its outbox had no bound");
}
