//! Connections that leave a shard and connections that a shard adopts, with shared and with private descriptor tables.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use crate::line::{Client, Fixture, Options, PATIENCE, Seen, config, config_with_tables, value, wait_until};
use engine::{Adoption, EndCause, EngineConfig, EngineLimits, HandedOff, ShardIndex, Tables};

const BOTH: [Tables; 2] = [Tables::Shared, Tables::Private];

/// Returns the two ends of a connection that no shard has seen.
fn pair() -> (Client, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (Client::new(client), listener.accept().unwrap().0)
}

fn adoption(stream: TcpStream, unread: &[u8], seed: &'static str) -> Adoption<&'static str> {
    let remote = stream.peer_addr().unwrap();
    Adoption { stream, tls: None, remote, unread: unread.to_vec(), seed }
}

fn next_handed_off(fixture: &Fixture) -> HandedOff {
    fixture.handed_off.recv_timeout(PATIENCE).unwrap()
}

#[test]
fn a_connection_that_is_handed_off_lives_on_elsewhere() {
    for tables in BOTH {
        let fixture = Fixture::start_with(config_with_tables(tables), Options::default());
        let mut client = fixture.connect();
        client.say("first\n");
        assert_eq!(client.hear(), "first");
        client.say("second\nhandoff\nGET / HTTP/1.1\n");
        let HandedOff { stream, remote, listener, unread } = next_handed_off(&fixture);
        assert_eq!(fixture.wait_for_end(), EndCause::HandedOff);
        assert_eq!(unread, b"GET / HTTP/1.1\n");
        assert_eq!(remote, client.stream().local_addr().unwrap());
        assert_eq!(listener.0, 0);
        stream.set_nonblocking(false).unwrap();
        let mut stream = BufReader::new(stream);
        stream.get_mut().write_all(b"from elsewhere\n").unwrap();
        assert_eq!(client.hear(), "second", "what was staged comes before");
        assert_eq!(client.hear(), "from elsewhere");
        client.say("to elsewhere\n");
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert_eq!(line, "to elsewhere\n", "the shard reads no more");
    }
}

#[test]
fn an_adopted_connection_is_served_with_what_was_read_before() {
    for tables in BOTH {
        let fixture = Fixture::start_with(config_with_tables(tables), Options::default());
        let (mut client, stream) = pair();
        client.say(" two\nthree\n");
        fixture.engine.adopt(ShardIndex(0), adoption(stream, b"zero\none", "seed"));
        fixture.wait_for(|seen| *seen == Seen::Adopted("seed"));
        for expected in ["welcome", "zero", "one two", "three"] {
            assert_eq!(client.hear(), expected);
        }
        client.say("close\n");
        drop(client);
        assert_eq!(fixture.wait_for_end(), EndCause::Local);
    }
}

#[test]
fn what_was_read_before_may_be_longer_than_the_read_buffer() {
    let fixture = Fixture::start();
    let (mut client, stream) = pair();
    let unread: String = (0..20_000).map(|number| format!("number {number}\n")).collect();
    fixture.engine.adopt(ShardIndex(0), adoption(stream, unread.as_bytes(), "quiet"));
    for number in 0..20_000 {
        assert_eq!(client.hear(), format!("number {number}"));
    }
}

#[test]
fn hundreds_cross_to_their_shards_and_back() {
    const CROWD: usize = 600;
    for tables in BOTH {
        let config = EngineConfig { shards: 3, tables, ..config() };
        let fixture = Fixture::start_with(config, Options::default());
        let mut clients = Vec::new();
        for number in 0..CROWD {
            let (client, stream) = pair();
            fixture.engine.adopt(ShardIndex((number % 3) as u16), adoption(stream, b"", "seed"));
            clients.push(client);
        }
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.hear(), "welcome");
            client.say(&format!("handoff\n{number}"));
        }
        let mut back: Vec<bool> = vec![false; CROWD];
        for _ in 0..CROWD {
            let handed_off = next_handed_off(&fixture);
            let number: usize = String::from_utf8(handed_off.unread).unwrap().parse().unwrap();
            assert_eq!(handed_off.remote, clients[number].stream().local_addr().unwrap());
            assert!(!std::mem::replace(&mut back[number], true));
        }
        for shard in 0..3 {
            let counters = fixture.engine.counters(ShardIndex(shard));
            assert_eq!(value(&counters.handed_off_total), CROWD as u64 / 3);
            wait_until(&counters.open, 0);
        }
    }
}

#[test]
fn an_adoption_beyond_the_limit_is_closed_and_counted() {
    for tables in BOTH {
        let limits = EngineLimits { connections_max: 1, ..EngineLimits::default() };
        let fixture = Fixture::start_with(EngineConfig { limits, tables, ..config() }, Options::default());
        let (mut first, stream) = pair();
        fixture.engine.adopt(ShardIndex(0), adoption(stream, b"", "seed"));
        assert_eq!(first.hear(), "welcome");
        let (second, stream) = pair();
        fixture.engine.adopt(ShardIndex(0), adoption(stream, b"", "seed"));
        assert_eq!(second.hear_all(), Vec::<String>::new());
        assert_eq!(value(&fixture.counters().refused_total), 1);
    }
}
