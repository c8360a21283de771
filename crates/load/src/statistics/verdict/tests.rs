//! What makes a run INVALID, and what does not.

use super::*;
use crate::observe::{Nanos, Observation};
use crate::statistics::example::observation;
use crate::statistics::{MachineSample, Spread};

const MS: u64 = 1_000_000;

/// A run of `seconds` seconds with ten echoes in each.
fn run(
    seconds: u64,
    lag_ms: u64,
    latency_ms: u64,
    thread_cpu: f64,
    steal: f64,
) -> (Statistics, GeneratorFacts) {
    let mut statistics = Statistics::new();
    statistics.observe(&Observation { kind: Kind::Arrival, ..observation() });
    for beat in 0..seconds * 10 {
        let began = beat * 100 * MS;
        let sent = began + lag_ms * MS;
        let of_message = Observation { intended: began, began, message: beat + 1, ..observation() };
        statistics.observe(&Observation { kind: Kind::Send, at: sent, count: 1, ..of_message });
        let at = began + latency_ms * MS;
        statistics.observe(&Observation { kind: Kind::Receive, at, began: sent, ..of_message });
    }
    for second in 0..seconds as u32 {
        let sample =
            MachineSample { generator_thread_cpu_max: thread_cpu, steal, ..MachineSample::default() };
        statistics.add_sample(second, sample);
    }
    let generator = GeneratorFacts { shards: 2, steal_mean: steal, ..GeneratorFacts::default() };
    (statistics, generator)
}

#[test]
fn the_generators_limits_make_a_run_invalid_and_a_slow_server_does_not() {
    for (name, lag_ms, latency_ms, thread_cpu, steal, expected) in [
        ("all is well", 0, 1, 0.3, 0.0, None),
        ("a server that takes seconds", 0, 30_000, 0.3, 0.0, None),
        ("a slow server beside a little lag", 3, 30_000, 0.5, 0.0, None),
        ("busy threads that keep up", 0, 1, 1.0, 0.0, None),
        ("lag as fine as sends are scheduled", 2, 3, 0.3, 0.0, None),
        ("a starved generator", 400, 600, 0.4, 0.0, Some("could not keep up")),
        ("lag that is small beside the latency, at the limit", 40, 900, 0.97, 0.0, Some("at its limit")),
        ("a machine shared with others", 0, 5, 0.3, 0.2, Some("steal")),
    ] {
        let (statistics, generator) = run(20, lag_ms, latency_ms, thread_cpu, steal);
        let verdict = judge(&statistics, &generator);
        match expected {
            None => assert_eq!(verdict, Verdict { valid: true, reasons: Vec::new() }, "{name}"),
            Some(reason) => {
                assert!(!verdict.valid, "{name}");
                assert!(verdict.reasons[0].contains(reason), "{name}: {:?}", verdict.reasons);
                assert_eq!(verdict.reasons.len(), 1, "{name}: {:?}", verdict.reasons);
            }
        }
    }
}

#[test]
fn each_reason_stands_for_itself() {
    let sound = Evidence {
        counts: Counts { users: 1000, users_wanted: 1000, connects: 1000, ..Counts::default() },
        seconds: 100,
        sampled_seconds: 100,
        ..Evidence::default()
    };
    let facts = |generator: GeneratorFacts| Evidence { generator, ..sound.clone() };
    let clocks_differ_by =
        |clock_error_us| facts(GeneratorFacts { clock_error_us, ..GeneratorFacts::default() });
    let counts = |change: fn(&mut Counts)| {
        let mut evidence = sound.clone();
        change(&mut evidence.counts);
        evidence
    };
    for (evidence, expected) in [
        (sound.clone(), None),
        (Evidence::default(), Some("nothing was measured")),
        (counts(|counts| (counts.expected, counts.delivered) = (10, 9)), Some("do not add up")),
        (counts(|counts| (counts.expected, counts.delivered, counts.lost) = (10, 9, 1)), None),
        (counts(|counts| counts.users_dropped = 1), None),
        (counts(|counts| counts.users_dropped = 2), Some("not started")),
        (Evidence { without_means: 2, ..sound.clone() }, Some("no free port or descriptor")),
        (
            Evidence {
                counts: Counts { http_failed: 9_000, ..sound.counts },
                without_means: 11,
                ..sound.clone()
            },
            Some("11 of 10"),
        ),
        (Evidence { begin_lag_p99_us: Some(200_000), ..sound.clone() }, Some("fell behind")),
        (Evidence { begin_lag_p99_us: Some(90_000), ..sound.clone() }, None),
        (
            Evidence { begin_lag_p99_us: Some(30_000), operation_p99_us: Some(1_000), ..sound.clone() },
            Some("fell behind"),
        ),
        (Evidence { begin_lag_p99_us: Some(30_000), operation_p99_us: Some(900_000), ..sound.clone() }, None),
        (Evidence { burst_p99_us: Some(90_000), ..sound.clone() }, None),
        (Evidence { burst_p99_us: Some(200_000), ..sound.clone() }, Some("too slow for its own bursts")),
        (Evidence { burst_p99_us: Some(19_000), burst_operation_us: Some(1_000), ..sound.clone() }, None),
        (
            Evidence { burst_p99_us: Some(22_000), burst_operation_us: Some(30_000), ..sound.clone() },
            Some("too slow for its own bursts"),
        ),
        (Evidence { burst_p99_us: Some(22_000), burst_operation_us: Some(34_000), ..sound.clone() }, None),
        (Evidence { read_lag_p99_us: Some(200_000), ..sound.clone() }, Some("read too late")),
        (Evidence { read_lag_p99_us: Some(90_000), ..sound.clone() }, None),
        (
            Evidence { read_lag_p99_us: Some(3_000), latency_p99_us: Some(10_000), ..sound.clone() },
            Some("read too late"),
        ),
        (Evidence { read_lag_p99_us: Some(3_000), latency_p99_us: Some(90_000), ..sound.clone() }, None),
        (Evidence { read_lag_p99_us: Some(1_900), latency_p99_us: Some(2_000), ..sound.clone() }, None),
        (
            Evidence { read_lag_p99_us: Some(9_000), operation_p99_us: Some(9_000), ..sound.clone() },
            Some("read too late"),
        ),
        (
            Evidence { latency_p99_us: Some(9_000), between_machines: 1, ..clocks_differ_by(3_000) },
            Some("clocks of the agents' machines"),
        ),
        (Evidence { latency_p99_us: Some(90_000), between_machines: 1, ..clocks_differ_by(3_000) }, None),
        (Evidence { latency_p99_us: Some(2_000), between_machines: 1, ..clocks_differ_by(1_900) }, None),
        // Each message came back to the machine that sent it.
        (Evidence { latency_p99_us: Some(9_000), ..clocks_differ_by(3_000) }, None),
        // Replies are what was measured, whatever connects and joins took.
        (
            Evidence {
                read_lag_p99_us: Some(3_000),
                reply_p99_us: Some(90_000),
                operation_p99_us: Some(4_000),
                ..sound.clone()
            },
            None,
        ),
        (
            Evidence {
                cpu_wait_p99_us: Some(80_000),
                reply_p99_us: Some(90_000),
                operation_p99_us: Some(500_000),
                ..sound.clone()
            },
            Some("waited for a CPU"),
        ),
        (
            Evidence { send_lag_p99_us: Some(30_000), reply_p99_us: Some(20_000), ..sound.clone() },
            Some("could not keep up"),
        ),
        (Evidence { send_lag_p99_us: Some(3_000), reply_p99_us: Some(20_000), ..sound.clone() }, None),
        (Evidence { cpu_wait_p99_us: Some(200_000), ..sound.clone() }, Some("waited for a CPU")),
        (Evidence { cpu_wait_p99_us: Some(90_000), ..sound.clone() }, None),
        (
            Evidence { cpu_wait_p99_us: Some(3_000), latency_p99_us: Some(10_000), ..sound.clone() },
            Some("waited for a CPU"),
        ),
        (Evidence { cpu_wait_p99_us: Some(3_000), latency_p99_us: Some(90_000), ..sound.clone() }, None),
        (Evidence { cpu_wait_p99_us: Some(1_900), latency_p99_us: Some(2_000), ..sound.clone() }, None),
        (
            Evidence { cpu_wait_p99_us: Some(9_000), operation_p99_us: Some(9_000), ..sound.clone() },
            Some("waited for a CPU"),
        ),
        (Evidence { send_lag_p99_us: Some(200_000), ..sound.clone() }, Some("could not keep up")),
        (Evidence { send_lag_p99_us: Some(90_000), ..sound.clone() }, None),
        (Evidence { busy_seconds: 21, ..sound.clone() }, Some("at its limit")),
        (Evidence { busy_seconds: 20, ..sound.clone() }, None),
        (facts(GeneratorFacts { agents_lost: 1, ..GeneratorFacts::default() }), Some("An agent was lost")),
        (facts(GeneratorFacts { steal_mean: 0.06, ..GeneratorFacts::default() }), Some("steal")),
        (
            facts(GeneratorFacts { stalled_ms: 2_000, shards: 1, ..GeneratorFacts::default() }),
            Some("event log"),
        ),
        (facts(GeneratorFacts { stalled_ms: 2_000, shards: 4, ..GeneratorFacts::default() }), None),
    ] {
        let reasons = evidence.reasons();
        match expected {
            None => assert_eq!(reasons, Vec::<String>::new(), "{evidence:?}"),
            Some(reason) => {
                assert!(reasons.len() == 1 && reasons[0].contains(reason), "{reason}: {reasons:?}");
                assert!(!reasons[0].contains("  "), "a line was continued wrongly: {reasons:?}");
            }
        }
    }
}

#[test]
fn a_closed_loop_that_reads_late_is_told_from_a_slow_server_and_from_a_busy_thread_that_keeps_up() {
    for (name, read_lag_us, latency_ms, thread_cpu, expected) in [
        ("an echo loop that keeps up", 400, 1, 1.0, None),
        ("a slow server", 900, 30_000, 0.3, None),
        ("long turns beside a slow server", 5_000, 400, 0.5, None),
        ("turns as long as what is measured", 8_000, 9, 0.5, Some("read too late")),
        ("a thread without rest that reads in long turns", 5_000, 400, 0.97, Some("at its limit")),
    ] {
        let (statistics, mut generator) = run(20, 0, latency_ms, thread_cpu, 0.0);
        generator.read_lag = Spread { count: 200, p99_us: read_lag_us, ..Spread::default() };
        let reasons = judge(&statistics, &generator).reasons;
        match expected {
            None => assert_eq!(reasons, Vec::<String>::new(), "{name}"),
            Some(reason) => {
                assert!(reasons.len() == 1 && reasons[0].contains(reason), "{name}: {reasons:?}");
            }
        }
    }
}

/// A run without messages: ten operations in each of `seconds` seconds, each started `lag_ms` late and answered after
/// `time_ms`.
fn run_without_messages(kind: Kind, lag_ms: u64, time_ms: u64) -> Statistics {
    let mut statistics = Statistics::new();
    for beat in 0..200 {
        let due = beat * 100 * MS;
        let began = due + lag_ms * MS;
        let arrival = Observation { intended: due, began, at: began, ..observation() };
        let lag_us = lag_ms as u32 * 1_000;
        let at = began + time_ms * MS;
        statistics.observe(&arrival);
        statistics.observe(&Observation { kind, at, count: lag_us, ..arrival });
    }
    statistics
}

#[test]
fn a_generator_that_falls_behind_is_told_from_a_slow_server_without_messages() {
    for kind in [Kind::Http, Kind::Connect, Kind::Join] {
        for (lag_ms, time_ms, is_valid) in [(0, 1, true), (1, 30_000, true), (15, 1, true), (400, 300, false)]
        {
            let statistics = run_without_messages(kind, lag_ms, time_ms);
            let generator = GeneratorFacts::default();
            for verdict in [judge(&statistics, &generator), judge_so_far(&statistics, &generator)] {
                assert_eq!(verdict.valid, is_valid, "{kind:?} {lag_ms} {time_ms}: {:?}", verdict.reasons);
            }
        }
    }
}

/// A run of `singles` single users, one every 10 ms, whose connects take 1 ms, with a burst in the middle: `users`
/// users, all started within `begun_ms`, whose connects take `time_ms`.
fn run_with_burst(singles: u64, users: u64, begun_ms: u64, time_ms: u64) -> Statistics {
    let mut statistics = Statistics::new();
    let mut connect = |began: Nanos, lag_us: u32, time: Nanos| {
        let seen = Observation { intended: began, began, ..observation() };
        statistics.observe(&Observation { at: began, ..seen });
        statistics.observe(&Observation { kind: Kind::Connect, at: began + time, count: lag_us, ..seen });
    };
    (0..singles).for_each(|user| connect(user * 10 * MS, 10, MS));
    let due = singles * 5 * MS;
    let each = begun_ms * MS / users;
    for user in 0..users {
        connect(due + user * each, (each / 1_000) as u32, time_ms * MS);
    }
    let last = due + begun_ms * MS;
    let count = 2 * users as u32;
    let burst = Observation { kind: Kind::Burst, intended: due, began: due, count, ..observation() };
    statistics.observe(&Observation { at: last, ..burst });
    statistics
}

#[test]
fn a_burst_is_judged_by_whether_the_server_had_more_to_do_than_the_generator() {
    for (name, singles, users, begun_ms, time_ms, is_valid) in [
        ("a storm that the server takes longer for", 5_000, 15_000, 300, 800, true),
        ("a storm that a fast server answers as it comes", 5_000, 15_000, 300, 40, false),
        ("a burst too short to matter", 10, 500, 15, 1, true),
        ("a rare burst among many single users", 20_000, 400, 200, 500, true),
        ("a rare burst that came piecemeal", 20_000, 400, 200, 5, false),
    ] {
        let verdict = judge(&run_with_burst(singles, users, begun_ms, time_ms), &GeneratorFacts::default());
        assert_eq!(verdict.valid, is_valid, "{name}: {:?}", verdict.reasons);
        assert!(verdict.reasons.iter().all(|reason| reason.contains("burst")), "{name}: {verdict:?}");
    }
}

/// A thousand users that a generator starts within 100 ms; meanwhile it reads what arrives in turns of 50 ms. The
/// server takes `server_ms` for each connect and each join, and the generator is busy with the burst for `busy_ms`.
fn burst_read_in_turns(server_ms: u64, busy_ms: u64) -> Statistics {
    const USERS: u64 = 1_000;
    let mut statistics = Statistics::new();
    let see = |statistics: &mut Statistics, kind: Kind, began: Nanos, at: Nanos| {
        statistics.observe(&Observation { kind, intended: began, began, at, ..observation() });
    };
    let nth = |user: u64, each_us: u64| user * each_us * 1_000;
    for user in 0..USERS {
        let began = nth(user, 100);
        see(&mut statistics, Kind::Arrival, began, began);
        // The TCP connection is established at once; the generator notices this in a turn and then sends the upgrade.
        let upgraded = 100 * MS + nth(user, 50);
        let open = (150 * MS + nth(user, 50)).max(upgraded + server_ms * MS);
        let joined = (200 * MS + nth(user, 50)).max(open + server_ms * MS);
        see(&mut statistics, Kind::Connect, began, open);
        see(&mut statistics, Kind::Join, open, joined);
    }
    let burst = Observation { kind: Kind::Burst, count: 3 * USERS as u32, ..observation() };
    statistics.observe(&Observation { at: busy_ms * MS, ..burst });
    statistics
}

#[test]
fn what_piles_up_unread_while_a_burst_begins_is_not_taken_for_the_servers_time() {
    // A server that is faster than a turn keeps the generator busy to the end; with a slower one, there is nothing left
    // to read once all upgrades are sent.
    let fast = [0, 1, 10].map(|server_ms| (server_ms, 250, false));
    let slow = [500, 5_000].map(|server_ms| (server_ms, 150, true));
    for (server_ms, busy_ms, is_valid) in fast.into_iter().chain(slow) {
        let verdict = judge(&burst_read_in_turns(server_ms, busy_ms), &GeneratorFacts::default());
        assert_eq!(verdict.valid, is_valid, "{server_ms} ms: {:?}", verdict.reasons);
    }
}

#[test]
fn a_run_that_goes_on_is_not_judged_by_what_only_its_end_can_know() {
    let mut statistics = Statistics::new();
    let nobody = GeneratorFacts::default();
    assert!(!judge(&statistics, &nobody).valid);
    assert!(judge_so_far(&statistics, &nobody).valid);
    let send = Observation { kind: Kind::Send, count: 10, ..observation() };
    statistics.observe(&send);
    assert!(judge_so_far(&statistics, &nobody).valid);
    statistics.add_sample(0, MachineSample { steal: 0.5, ..MachineSample::default() });
    assert!(judge_so_far(&statistics, &nobody).reasons[0].contains("steal"));
    let lost = GeneratorFacts { agents_lost: 1, ..GeneratorFacts::default() };
    assert!(!judge_so_far(&Statistics::new(), &lost).valid);
}
