//! Drivers that sleep for less than the readiness loop's milliseconds.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use engine::{
    Admission, ConnectionId, Driver, EndCause, Engine, EngineConfig, Io, ListenerIndex, ShardIndex, Tables,
};

/// How long a test waits for an event before it gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much earlier than asked a shard may wake.
const TOLERANCE: Duration = Duration::from_micros(10);

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The first of the pending moments has come.
    Due(u64),
    Mail(&'static str),
}

/// Reports each moment when it has come.
struct Clock {
    start: Instant,
    /// Since the start, next one last, in microseconds.
    moments_us: Vec<u64>,
    seen: mpsc::Sender<Seen>,
}

impl Driver for Clock {
    type Peer = ();
    type Mail = &'static str;
    type Seed = ();

    fn accepted(&mut self, _: ListenerIndex, _: SocketAddr) -> Admission<()> {
        Admission::Admit(())
    }
    fn peer_for(&mut self, (): &()) {}
    fn adopted(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, (): ()) {}
    fn received(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, bytes: &mut [u8]) -> usize {
        bytes.len()
    }
    fn ended(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, (): (), _: EndCause) {}
    fn idle_limit(&self, (): &()) -> Option<Duration> {
        None
    }
    fn expired(&mut self, _: &mut Io<'_, Self>, _: ConnectionId) {}
    fn overflowed(&mut self, _: &mut Io<'_, Self>, _: ConnectionId) {}

    fn mail(&mut self, _: &mut Io<'_, Self>, mail: &'static str) {
        self.seen.send(Seen::Mail(mail)).unwrap();
    }

    fn turn(&mut self, _: &mut Io<'_, Self>) -> Option<Duration> {
        loop {
            let moment_us = *self.moments_us.last()?;
            let sleep =
                (self.start + Duration::from_micros(moment_us)).checked_duration_since(Instant::now());
            if let Some(sleep) = sleep
                && !sleep.is_zero()
            {
                return Some(sleep);
            }
            self.moments_us.pop();
            self.seen.send(Seen::Due(moment_us)).unwrap();
        }
    }
}

fn start(tables: Tables, moments_us: impl Iterator<Item = u64>) -> (Engine<Clock>, mpsc::Receiver<Seen>) {
    let (sender, seen) = mpsc::channel();
    let mut moments_us: Vec<u64> = moments_us.collect();
    moments_us.reverse();
    let config = EngineConfig { fine_timer: true, tables, ..EngineConfig::new(vec![]) };
    let make = move |_| Clock { start: Instant::now(), moments_us: moments_us.clone(), seen: sender.clone() };
    let engine = engine::prepare::<Clock>(config).unwrap().start(make, Box::new(drop)).unwrap();
    (engine, seen)
}

#[test]
fn every_moment_is_waited_for_in_order_and_then_the_shard_sleeps() {
    for tables in [Tables::Shared, Tables::Private] {
        // Less than a millisecond apart, and more.
        let moments_us = || (0..100).map(|number| number * 170).chain([20_000, 20_001, 23_000]);
        let started = Instant::now();
        let (engine, seen) = start(tables, moments_us());
        for moment_us in moments_us() {
            assert_eq!(seen.recv_timeout(PATIENCE), Ok(Seen::Due(moment_us)));
            assert!(started.elapsed() + TOLERANCE >= Duration::from_micros(moment_us), "too soon");
        }
        engine.mailboxes().post(ShardIndex(0), "last");
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(Seen::Mail("last")));
    }
}

#[test]
fn mail_does_not_wait_for_the_moment() {
    let (engine, seen) = start(Tables::Shared, [0, 3_600_000_000].into_iter());
    assert_eq!(seen.recv_timeout(PATIENCE), Ok(Seen::Due(0)));
    for mail in ["one", "two"] {
        engine.mailboxes().post(ShardIndex(0), mail);
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(Seen::Mail(mail)));
    }
    engine.shutdown();
    assert!(seen.recv().is_err(), "the moment has not come");
}
