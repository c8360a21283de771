//! No descriptor is left. The limit is lowered for the whole process, so this binary has one test.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod line;
mod watching;

use std::fs::File;

use engine::{EngineConfig, EngineLimits};
use line::{Client, Fixture, Options, config, value, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use watching::wait_for;

#[test]
fn accepting_resumes_by_itself_when_descriptors_are_free_again() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum }).unwrap();
    let limits = EngineLimits { descriptors_reserve: 0, ..EngineLimits::default() };
    let fixture = Fixture::start_with(EngineConfig { limits, ..config() }, Options::default());
    let counters = fixture.counters();
    let mut served = fixture.connect();
    served.say("hello\n");
    assert_eq!(served.hear(), "hello");

    let mut others = use_all_descriptors();
    let mut waiting = connect_with_the_last(&fixture, &mut others);
    wait_for_failure(&fixture, 0);
    let ticks = value(&counters.ticks);
    served.say("still served\n");
    assert_eq!(served.hear(), "still served");
    assert!(value(&counters.ticks) - ticks < 20, "the shard does not spin");

    // A connection of the shard ends, which frees two descriptors: the client's and the server's.
    drop(served);
    waiting.say("now?\n");
    assert_eq!(waiting.hear(), "now?");

    others.extend(use_all_descriptors());
    let failures = value(&counters.accept_errors_total);
    let mut last = connect_with_the_last(&fixture, &mut others);
    wait_for_failure(&fixture, failures);
    // Descriptors become free without the shard being told.
    others.clear();
    last.say("and now?\n");
    assert_eq!(last.hear(), "and now?");
    wait_until(&counters.open, 2);
}

fn use_all_descriptors() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

/// Frees one descriptor and connects with it, so that the server has none for its side.
fn connect_with_the_last(fixture: &Fixture, others: &mut Vec<File>) -> Client {
    drop(others.pop());
    fixture.connect()
}

fn wait_for_failure(fixture: &Fixture, before: u64) {
    let counters = fixture.counters();
    wait_for(&counters.accept_errors_total, |errors| errors != before, "accepting fails");
}
