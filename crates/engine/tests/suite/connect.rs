//! Outgoing connections: how they are made, from where, and every way in which they can fail.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::caller::{Call, Fixture, PATIENCE, Post, Seen, config, loopback, value, wait_until};
use engine::{EndCause, EngineConfig, EngineLimits, ShardIndex, Tables};
use socket2::{Domain, Socket, Type};

/// EMFILE.
const NO_DESCRIPTOR: Option<i32> = Some(24);

/// A kernel-level listener from which only the test accepts.
fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A listener whose queue is full, so that the kernel answers no further SYN: whoever connects to it waits.
struct Silent {
    listener: Socket,
    waiting: TcpStream,
    address: SocketAddr,
}

impl Silent {
    fn new() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&loopback(1, 0).into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let waiting = TcpStream::connect(address).unwrap();
        Self { listener, waiting, address }
    }

    /// Makes room for the next connection.
    fn answer(self) -> Socket {
        self.listener.accept().unwrap();
        drop(self.waiting);
        self.listener
    }
}

/// Returns an address on which nobody listens.
fn deaf() -> SocketAddr {
    listener().1
}

#[test]
fn a_shard_talks_to_its_own_listener() {
    for tables in [Tables::Shared, Tables::Private] {
        let fixture = Fixture::start_with(EngineConfig { tables, ..config() });
        let counters = fixture.counters();
        let remote = fixture.engine.local_addresses()[0];
        fixture.call(Call { greeting: b"hello", ..Call::new(1, remote) });
        assert_eq!(fixture.next(), Seen::Begun(1));
        fixture.wait_for(|seen| *seen == Seen::Connected(1));
        assert_eq!(fixture.hear(1, 5), b"hello");
        assert_eq!((value(&counters.accepted_total), value(&counters.open)), (1, 2));
        assert_eq!((value(&counters.connects_total), value(&counters.connecting)), (1, 0));

        fixture.post(Post::Close(1));
        assert_eq!(fixture.wait_for_end(), EndCause::Local);
        wait_until(&counters.open, 0);
        assert_eq!((value(&counters.ended_total), value(&counters.connect_errors_total)), (2, 0));
    }
}

#[test]
fn an_engine_that_listens_nowhere_connects() {
    for tables in [Tables::Shared, Tables::Private] {
        let (listener, remote) = listener();
        let config = EngineConfig { shards: 2, tables, ..EngineConfig::new(vec![]) };
        let fixture = Fixture::start_with(config);
        for shard in 0..2 {
            fixture.post_to(shard, Post::Call(Call { greeting: b"hi", ..Call::new(shard.into(), remote) }));
            let mut stream = accept(&listener);
            stream.read_exact(&mut [0; 2]).unwrap();
            stream.write_all(b"you too").unwrap();
            assert_eq!(fixture.hear(shard.into(), 7), b"you too");
        }
    }
}

#[test]
fn an_established_connection_hears_who_speaks_first() {
    let (listener, remote) = listener();
    let fixture = Fixture::start();
    for label in 0..50 {
        fixture.call(Call::new(label, remote));
        // The data and the end may have arrived before the shard looks for the first time.
        accept(&listener).write_all(b"welcome").unwrap();
        assert_eq!(fixture.next(), Seen::Begun(label));
        assert_eq!(fixture.next(), Seen::Connected(label));
        assert_eq!(fixture.next(), Seen::Heard(label, b"welcome".to_vec()));
        assert_eq!(fixture.next(), Seen::Ended(label, EndCause::PeerClosed));
    }
    assert_eq!(value(&fixture.counters().connect_errors_total), 0);
}

#[test]
fn an_established_idle_connection_costs_no_read_and_no_memory_beside_its_slot() {
    let (listener, remote) = listener();
    let fixture = Fixture::start();
    let counters = fixture.counters();
    fixture.call(Call::new(1, remote));
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    let stream = accept(&listener);
    assert_eq!(fixture.told_until_now(), []);
    assert_eq!((value(&counters.reads_total), value(&counters.writes_total)), (0, 0));
    assert_eq!(value(&counters.extra_bytes), 0);
    drop(stream);
}

#[test]
fn nobody_listens() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    fixture.call(Call::new(1, deaf()));
    // The kernel may report it at once or a moment later.
    match fixture.wait_for(|seen| !matches!(seen, Seen::Begun(1))) {
        Seen::Ended(1, EndCause::Reset(ErrorKind::ConnectionRefused)) => {}
        Seen::Failed(1, ErrorKind::ConnectionRefused, _) => {}
        other => panic!("{other:?}"),
    }
    wait_until(&counters.connect_errors_total, 1);
    assert_eq!((value(&counters.connecting), value(&counters.open)), (0, 0));
}

#[test]
fn a_peer_that_does_not_answer_is_given_up_by_an_abort() {
    let silent = Silent::new();
    let fixture = Fixture::start();
    let counters = fixture.counters();
    fixture.call(Call { early: b"anybody?", ..Call::new(1, silent.address) });
    assert_eq!(fixture.next(), Seen::Begun(1));
    assert_eq!(fixture.told_until_now(), []);
    assert_eq!((value(&counters.connecting), value(&counters.open)), (1, 1));
    assert_eq!(value(&counters.writes_total), 0, "nothing is written to nobody");
    fixture.post(Post::Abort(1));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Aborted));
    assert_eq!((value(&counters.connecting), value(&counters.open)), (0, 0));
    assert_eq!((value(&counters.connects_total), value(&counters.connect_errors_total)), (1, 1));
    assert_eq!((value(&counters.outbox_bytes), value(&counters.extra_bytes)), (0, 0));
}

#[test]
fn a_peer_that_does_not_answer_is_silent_beyond_its_limit() {
    let silent = Silent::new();
    let fixture = Fixture::start();
    fixture.call(Call { idle_limit: Some(Duration::from_millis(50)), ..Call::new(1, silent.address) });
    assert_eq!(fixture.next(), Seen::Begun(1));
    assert_eq!(fixture.next(), Seen::Expired(1));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Aborted));
}

#[test]
fn an_abort_in_the_same_call_leaves_nothing() {
    let (_listener, remote) = listener();
    let fixture = Fixture::start();
    fixture.post(Post::CallAndAbort((0..20).map(|label| Call::new(label, remote)).collect()));
    for _ in 0..20 {
        assert_eq!(fixture.wait_for_end(), EndCause::Aborted);
    }
    let counters = fixture.counters();
    assert_eq!((value(&counters.connecting), value(&counters.open)), (0, 0));
    assert_eq!(fixture.shut_down(), [], "each has one end");
}

#[test]
fn what_is_said_early_arrives_in_order_once_there_is_a_connection() {
    let silent = Silent::new();
    let remote = silent.address;
    let fixture = Fixture::start();
    let counters = fixture.counters();
    fixture.call(Call { early: b"one ", greeting: b"three", ..Call::new(1, remote) });
    fixture.say(1, b"two ");
    assert_eq!(fixture.told_until_now(), [Seen::Begun(1)]);
    wait_until(&counters.outbox_bytes, "one two ".len() as u64);
    let listener = silent.answer();
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    let (mut stream, _) = listener.accept().unwrap();
    let mut heard = [0; 13];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"one two three");
    wait_until(&counters.extra_bytes, 0);
}

#[test]
fn a_close_before_there_is_a_connection_still_says_what_was_said() {
    let silent = Silent::new();
    let limits = EngineLimits { linger: PATIENCE, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..EngineConfig::new(vec![]) });
    fixture.call(Call { early: b"farewell", ..Call::new(1, silent.address) });
    fixture.post(Post::Close(1));
    assert_eq!(fixture.told_until_now(), [Seen::Begun(1)]);
    let listener = silent.answer();
    let (mut stream, _) = listener.accept().unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "farewell");
    drop(stream);
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Local), "the driver does not hear of it before");
}

#[test]
fn a_close_of_a_peer_that_does_not_answer_is_cut_when_the_linger_time_is_over() {
    let silent = Silent::new();
    let limits = EngineLimits { linger: Duration::from_millis(20), ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..EngineConfig::new(vec![]) });
    fixture.call(Call::new(1, silent.address));
    fixture.post(Post::Close(1));
    assert_eq!(fixture.next(), Seen::Begun(1));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Lingered));
}

#[test]
fn the_source_address_is_the_one_asked_for() {
    let (listener, remote) = listener();
    let fixture = Fixture::start();
    for last in [2, 77, 254] {
        fixture.call(Call { local: Some(loopback(last, 0)), ..Call::new(last.into(), remote) });
        let (_stream, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), loopback(last, 0).ip());
        assert_ne!(from.port(), 0);
        fixture.wait_for(|seen| *seen == Seen::Connected(last.into()));
    }
}

#[test]
fn the_newer_ip_version_is_spoken_too() {
    // A machine may be without it.
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return };
    let local = Some("[::1]:0".parse().unwrap());
    let fixture = Fixture::start();
    fixture.call(Call { local, ..Call::new(1, listener.local_addr().unwrap()) });
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    assert!(listener.accept().unwrap().1.ip().is_loopback());
}

#[test]
fn one_source_port_serves_one_connection_to_each_peer() {
    let local = TcpListener::bind(loopback(3, 0)).unwrap().local_addr().unwrap();
    let (first, second) = (listener(), listener());
    let fixture = Fixture::start();
    for (label, (listener, remote)) in [(1, &first), (2, &second)] {
        fixture.call(Call { local: Some(local), ..Call::new(label, *remote) });
        fixture.wait_for(|seen| *seen == Seen::Connected(label));
        let (stream, from) = listener.accept().unwrap();
        assert_eq!(from, local);
        // The port is held by the other side's end of the connection, which stays.
        std::mem::forget(stream);
    }
    fixture.call(Call { local: Some(local), ..Call::new(3, first.1) });
    match fixture.next() {
        Seen::Failed(3, ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable, Some(_)) => {}
        other => panic!("{other:?}"),
    }
    let counters = fixture.counters();
    assert_eq!((value(&counters.connects_total), value(&counters.connect_errors_total)), (3, 1));
    assert_eq!(value(&counters.open), 2);
}

#[test]
fn a_failure_at_once_is_told_and_leaves_no_connection() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let (_listener, remote) = listener();
    let foreign = "192.0.2.7:0".parse().unwrap();
    fixture.call(Call { local: Some(foreign), ..Call::new(1, remote) });
    assert!(matches!(fixture.next(), Seen::Failed(1, ErrorKind::AddrNotAvailable, Some(_))));
    let other_version = "[::1]:0".parse().unwrap();
    fixture.call(Call { local: Some(other_version), ..Call::new(2, remote) });
    assert!(matches!(fixture.next(), Seen::Failed(2, ..)));
    // No connection can be made to a multicast group.
    fixture.call(Call::new(3, "224.0.0.1:80".parse().unwrap()));
    assert!(matches!(fixture.next(), Seen::Failed(3, ErrorKind::NetworkUnreachable, Some(_))));
    assert_eq!((value(&counters.connects_total), value(&counters.connect_errors_total)), (3, 3));
    assert_eq!((value(&counters.connecting), value(&counters.open)), (0, 0));
}

#[test]
fn beyond_the_limit_of_connections_none_is_begun_until_one_ends() {
    let limits = EngineLimits { connections_max: 2, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..EngineConfig::new(vec![]) });
    let (_listener, remote) = listener();
    for label in 1..=3 {
        fixture.call(Call::new(label, remote));
    }
    match fixture.wait_for(|seen| matches!(seen, Seen::Failed(..))) {
        Seen::Failed(3, _, number) => assert_eq!(number, NO_DESCRIPTOR),
        other => panic!("{other:?}"),
    }
    fixture.post(Post::Abort(1));
    fixture.wait_for(|seen| *seen == Seen::Ended(1, EndCause::Aborted));
    fixture.call(Call::new(4, remote));
    fixture.wait_for(|seen| *seen == Seen::Connected(4));
}

#[test]
fn a_shutdown_ends_what_is_established_and_what_is_not() {
    let silent = Silent::new();
    let (_listener, remote) = listener();
    let fixture = Fixture::start();
    fixture.call(Call::new(1, remote));
    fixture.call(Call::new(2, silent.address));
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    let counters = fixture.counters();
    wait_until(&counters.connects_total, 2);
    let mut ends: Vec<_> = fixture.shut_down();
    ends.retain(|seen| matches!(seen, Seen::Ended(..)));
    ends.sort_by_key(|seen| format!("{seen:?}"));
    assert_eq!(ends, [Seen::Ended(1, EndCause::Shutdown), Seen::Ended(2, EndCause::Shutdown)]);
    assert_eq!((value(&counters.connecting), value(&counters.open)), (0, 0));
}

#[test]
fn a_reset_of_an_established_connection_is_told_as_one() {
    let (listener, remote) = listener();
    let fixture = Fixture::start();
    fixture.call(Call::new(1, remote));
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    let stream = accept(&listener);
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Reset(ErrorKind::ConnectionReset)));
    assert_eq!(value(&fixture.counters().connect_errors_total), 0);
}

/// Together the two shards have 10,000 sockets.
#[test]
fn thousands_connect_from_one_process_to_itself() {
    const CALLS: u32 = 5000;
    engine::machine::raise_descriptor_limit().unwrap();
    let limits = EngineLimits { connections_max: 2 * CALLS as usize, ..EngineLimits::default() };
    let config = EngineConfig { shards: 2, tables: Tables::Private, limits, ..config() };
    let fixture = Fixture::start_with(config);
    let remote = fixture.engine.local_addresses()[0];
    for label in 0..CALLS {
        let shard = (label % 2) as u16;
        let local = Some(loopback(10 + (label % 100) as u8, 0));
        let call = Call { local, greeting: b"hello", ..Call::new(label, remote) };
        fixture.post_to(shard, Post::Call(call));
    }
    let mut connected = 0;
    let mut heard = 0;
    while heard < 5 * CALLS as usize {
        match fixture.next() {
            Seen::Connected(_) => connected += 1,
            Seen::Heard(_, bytes) => heard += bytes.len(),
            Seen::Begun(_) | Seen::Accepted(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(connected, CALLS);
    let counters = [0, 1].map(|shard| fixture.engine.counters(ShardIndex(shard)));
    assert_eq!(counters.iter().map(|counters| value(&counters.open)).sum::<u64>(), 2 * u64::from(CALLS));
    assert_eq!(counters.iter().map(|counters| value(&counters.connecting)).sum::<u64>(), 0);
    assert_eq!(counters.iter().map(|counters| value(&counters.extra_bytes)).sum::<u64>(), 0);
    for shard in 0..2 {
        fixture.post_to(shard, Post::AbortAll);
    }
    for counters in &counters {
        wait_until(&counters.open, 0);
    }
}
