//! Connections that are paused for a while: what waits stays in the kernel, and nothing is lost.

use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::caller::{Call, Fixture, PATIENCE, Post, Seen, loopback, value, wait_until};
use engine::{EndCause, EngineConfig, EngineLimits};
use socket2::SockRef;

/// Begins a call and pauses it. Returns the other end of its connection.
fn paused(fixture: &Fixture, call: impl FnOnce(Call) -> Call) -> TcpStream {
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    fixture.call(call(Call::new(1, listener.local_addr().unwrap())));
    fixture.wait_for(|seen| *seen == Seen::Connected(1));
    fixture.post(Post::Pause(1));
    assert_eq!(fixture.told_until_now(), []);
    let (stream, _) = listener.accept().unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends until the kernel's buffers of the pair are full, and returns how many bytes they took.
fn fill(stream: &mut TcpStream) -> usize {
    stream.set_nonblocking(true).unwrap();
    let mut said = 0;
    // The kernel moves bytes from one side's buffer to the other's for a while after the first refusal.
    let mut refusals = 0;
    while refusals < 100 {
        match stream.write(&[7; 4096]) {
            Ok(length) => said += length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => refusals += 1,
            Err(error) => panic!("{error}"),
        }
    }
    said
}

#[test]
fn what_is_said_during_a_pause_comes_after_it() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut stream = paused(&fixture, |call| call);
    let reads = value(&counters.reads_total);
    stream.write_all(b"first ").unwrap();
    stream.write_all(b"second").unwrap();
    assert_eq!(fixture.told_until_now(), []);
    assert_eq!(value(&counters.reads_total), reads);
    fixture.post(Post::Resume(1));
    assert_eq!(fixture.hear(1, 12), b"first second");
}

#[test]
fn a_pause_with_nothing_said_changes_nothing() {
    let fixture = Fixture::start();
    let mut stream = paused(&fixture, |call| call);
    for _ in 0..3 {
        fixture.post(Post::Pause(1));
        fixture.post(Post::Resume(1));
    }
    assert_eq!(fixture.told_until_now(), []);
    stream.write_all(b"hello").unwrap();
    assert_eq!(fixture.hear(1, 5), b"hello");
}

#[test]
fn a_peer_that_says_much_to_a_paused_connection_has_to_wait_and_wakes_nobody() {
    let fixture = Fixture::start();
    let counters = fixture.counters();
    let mut stream = paused(&fixture, |call| Call { receive_buffer_bytes: Some(16 * 1024), ..call });
    let said = fill(&mut stream);
    assert_eq!(fixture.told_until_now(), []);
    let ticks = value(&counters.ticks);
    // The test's question is the only thing that wakes the shard.
    for _ in 0..10 {
        assert_eq!(fixture.told_until_now(), []);
    }
    assert!(value(&counters.ticks) - ticks <= 20, "a paused shard does not spin");
    assert_eq!(value(&counters.bytes_in), 0);
    fixture.post(Post::Resume(1));
    assert_eq!(fixture.hear(1, said), vec![7; said]);
}

#[test]
fn a_driver_that_pauses_in_the_middle_of_a_flood_gets_all_of_it_in_the_end() {
    let limits = EngineLimits { read_bytes_per_turn_max: 4096, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..EngineConfig::new(vec![]) });
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    let remote = listener.local_addr().unwrap();
    fixture.call(Call { pause_at: Some(b'.'), ..Call::new(1, remote) });
    let (mut stream, _) = listener.accept().unwrap();
    let text: Vec<u8> = (0..50_000u32).flat_map(|number| format!("{number}.").into_bytes()).collect();
    let expected = text.clone();
    let speaker = std::thread::spawn(move || stream.write_all(&text).unwrap());
    let mut heard = Vec::new();
    while heard.len() < expected.len() {
        if let Seen::Heard(1, bytes) = fixture.next() {
            heard.extend_from_slice(&bytes);
            fixture.post(Post::Resume(1));
        }
    }
    assert_eq!(heard, expected);
    speaker.join().unwrap();
}

#[test]
fn the_peers_end_is_told_after_the_pause_with_its_last_words_before_it() {
    let fixture = Fixture::start();
    let mut stream = paused(&fixture, |call| call);
    stream.write_all(b"farewell").unwrap();
    drop(stream);
    assert_eq!(fixture.told_until_now(), []);
    fixture.post(Post::Resume(1));
    assert_eq!(fixture.next(), Seen::Heard(1, b"farewell".to_vec()));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::PeerClosed));
}

#[test]
fn a_reset_ends_a_paused_connection() {
    let fixture = Fixture::start();
    let stream = paused(&fixture, |call| call);
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Reset(ErrorKind::ConnectionReset)));
    assert_eq!(value(&fixture.counters().reads_total), 0);
}

#[test]
fn a_paused_connection_may_speak() {
    use std::io::Read;
    let fixture = Fixture::start();
    let mut stream = paused(&fixture, |call| call);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    fixture.say(1, b"hello");
    stream.read_exact(&mut [0; 5]).unwrap();
}

#[test]
fn a_close_ends_the_pause() {
    let limits = EngineLimits { linger: PATIENCE, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..EngineConfig::new(vec![]) });
    let mut stream = paused(&fixture, |call| call);
    stream.write_all(b"unheard").unwrap();
    fixture.post(Post::Close(1));
    fixture.post(Post::Pause(1));
    assert_eq!(fixture.told_until_now(), []);
    drop(stream);
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Local));
}

#[test]
fn a_silent_pause_has_a_limit() {
    let fixture = Fixture::start();
    let listener = TcpListener::bind(loopback(1, 0)).unwrap();
    let idle_limit = Some(Duration::from_millis(50));
    fixture.call(Call { idle_limit, ..Call::new(1, listener.local_addr().unwrap()) });
    fixture.post(Post::Pause(1));
    fixture.wait_for(|seen| *seen == Seen::Expired(1));
    assert_eq!(fixture.next(), Seen::Ended(1, EndCause::Aborted));
    wait_until(&fixture.counters().open, 0);
}
