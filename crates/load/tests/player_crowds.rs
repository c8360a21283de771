//! Runs with fewer concurrent users than arrivals. A separate process, because it lowers its descriptor limit.

mod play;

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use load::observe::{Kind, Outcome};
use load::player::EndReason;
use load::scenario::plan::{Action, Arrivals, Connect};
use play::{begin_with, connect, load, plan, play_with, think};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Descriptor limit of one table: less than the number of arrivals in each of these runs.
const LIMIT: u64 = 1_000;

/// A listener that never accepts: the kernel completes the connections, which take no descriptor of this process.
fn silent_server() -> TcpListener {
    setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) })
        .expect("lower is allowed");
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

#[test]
fn users_who_come_one_after_the_other_take_no_more_threads_than_there_are_cores() {
    let server = silent_server();
    let mut plan = plan(server.local_addr().expect("its address"), vec![think(1.0)]);
    plan.sessions[0].steps.extend(play::actions(vec![Action::Connect(connect())]));
    plan.load = load(Arrivals::Constant(20.0));
    plan.load.phases[0].duration = Some(Duration::from_secs(3_600));
    let playing = begin_with(plan, None);
    let cores = thread::available_parallelism().expect("a number").get();
    assert_eq!(playing.player.shards(), cores, "72,000 will have come in an hour, some hundred at a time");
    playing.player.abort();
    assert_eq!(playing.wait().why, EndReason::Aborted);
}

#[test]
fn more_than_were_expected_are_taken_as_long_as_there_are_descriptors_and_then_fail_with_what_to_do() {
    let server = silent_server();
    let patient = Connect {
        connect_timeout: Duration::from_secs(20),
        handshake_timeout: Duration::from_secs(20),
        ..connect()
    };
    let mut plan = plan(server.local_addr().expect("its address"), vec![Action::Connect(patient)]);
    plan.load = load(Arrivals::Constant(500.0));
    plan.load.phases[0].duration = Some(Duration::from_secs(4));
    plan.load.duration = Some(Duration::from_secs(10));
    let (run, _) = play_with(plan, Some(1));
    run.assert_complete();
    assert_eq!(run.count(Kind::Arrival, Outcome::Ok), 2_000);
    let failed = run.count(Kind::Connect, Outcome::NoDescriptor) as u64;
    assert!((2_000 - LIMIT..2_000 - LIMIT / 2).contains(&failed), "{failed}");
    let example = run.examples.of(Kind::Connect, Outcome::NoDescriptor, 0).expect("an example").text;
    assert!(example.contains(" simultaneous connections were expected; use more --threads"), "{example}");
}
