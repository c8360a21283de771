//! More users than one descriptor table can hold. A separate process, because it lowers its descriptor limit.

mod play;

use load::observe::{Kind, Outcome};
use load::scenario::plan::{Action, Arrivals, Audience, BarrierId};
use play::servers::echo_server;
use play::{DEADLINE, connect, load, own_echo, plan, play_with, stamped};
use rustix::process::{Resource, Rlimit, setrlimit};

#[test]
fn more_users_than_one_table_holds_are_spread_over_several() {
    // The server side of each connection is in the process's main table: two descriptors each.
    const LIMIT: u64 = 450;
    const USERS: u64 = 200;
    setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) })
        .expect("lower is allowed");
    let all_here = Action::Barrier { barrier: BarrierId(0), users: None, timeout: DEADLINE };
    let steps = vec![Action::Connect(connect()), all_here, stamped(Audience::Echo), own_echo()];
    let mut plan = plan(echo_server(1), steps);
    plan.load = load(Arrivals::Burst(USERS));
    let (run, shards) = play_with(plan, None);
    run.assert_complete();
    assert!(shards >= 2, "{shards} shards");
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; USERS as usize]);
    let memory = run.memory;
    for (part, bytes, least) in [
        ("connections", memory.connections_bytes, 32),
        ("users", memory.users_bytes, 128),
        ("timers", memory.timers_bytes, 16),
    ] {
        assert!(bytes >= USERS * least, "{part}: {bytes} in {memory:?}");
    }
}
