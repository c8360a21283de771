//! Crowd estimates of plans, compared with playing the plans second by second.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::cli;
use crate::draw::Distribution;
use crate::presets;
use crate::scenario::Context;
use crate::scenario::plan::{Action, Arrivals, Load, Phase, Step};
use crate::scenario::source::Scenario;
use crate::schedule::Due;

fn compiled(yaml: &str) -> Plan {
    let scenario =
        crate::scenario::read(yaml, "test", &std::collections::BTreeMap::new()).expect("a scenario");
    plan_of(&scenario)
}

fn plan_of(scenario: &Scenario) -> Plan {
    let context = Context { file_name: "test", base_dir: std::path::Path::new("") };
    scenario.compile(&context).expect("a plan")
}

/// A plan with these phases whose users run `steps`.
fn plan(phases: &str, steps: &str) -> Plan {
    compiled(&format!(
        "target: ws://127.0.0.1:1\nphases: [{phases}]\nsessions: [{{ name: one, steps: [{steps}] }}]\n"
    ))
}

fn at_once(plan: &Plan) -> u64 {
    Crowd::of(plan, &Share::whole()).expect("it can be played").at_once.expect("it is known")
}

fn churn(arrivals: f64, seconds: u64) -> Plan {
    use clap::Parser as _;
    let (arrivals, seconds) = (arrivals.to_string(), seconds.to_string());
    let url = "ws://127.0.0.1:1/socket/websocket";
    let line = ["stampede", "churn", url, "--arrivals", &arrivals, "--seconds", &seconds];
    let cli::Command::Churn(flags) = cli::Cli::parse_from(line).command else { panic!("another command") };
    plan_of(&presets::churn(&flags).expect("a scenario"))
}

#[test]
fn a_long_open_run_is_as_large_as_its_rate_times_the_stay() {
    // 50 per second, 10 s each: 500; with the margin and the answers less than 1,000, however long it lasts.
    for seconds in [60, 3_600, 36_000] {
        let crowd = Crowd::of(&churn(50.0, seconds), &Share::whole()).expect("it can be played");
        assert!(crowd.at_once.is_some_and(|users| (500..1_000).contains(&users)), "{crowd:?}");
        assert_eq!(crowd.in_all, Some(50 * seconds));
    }
}

#[test]
fn who_has_no_bounded_stay_counts_with_all_who_come() {
    for steps in ["{ connect: / }, stay", "{ loop: { steps: [{ think: 1s }] } }", "{ think: 1h }"] {
        assert_eq!(at_once(&plan("{ rate: 10/s, duration: 100s }", steps)), 1_000, "{steps}");
    }
}

#[test]
fn closed_phases_and_bursts_are_there_at_once_and_never_more_than_come() {
    let table = [
        ("{ users: 300, duration: 1h }", 300),
        ("{ users: 300, iterations: 1000 }", 300),
        ("{ burst: 400 }", 400),
        ("{ rate: 1/s, max_users: 3 }", 3),
        ("{ pause: 10s }", 0),
    ];
    for (phases, expected) in table {
        assert_eq!(at_once(&plan(phases, "{ think: 5s }")), expected, "{phases}");
    }
}

#[test]
fn phases_add_up_only_as_long_as_their_users_stay() {
    let crowd = |phases: &str| at_once(&plan(phases, "{ think: 10s }"));
    let alone = crowd("{ burst: 1000 }");
    assert_eq!(alone, 1_000);
    assert!(crowd("{ burst: 1000 }, { pause: 5s }, { burst: 1000 }") == 2_000);
    let apart = crowd("{ burst: 1000 }, { pause: 60s }, { burst: 1000 }");
    assert!((1_000..1_300).contains(&apart), "{apart}");
    let waits = crowd("{ burst: 1000, wait_for_users: true }, { burst: 1000 }");
    assert!((1_000..1_300).contains(&waits), "{waits}");
}

#[test]
fn rounds_without_number_are_as_large_as_those_that_overlap() {
    let round = "{ burst: 100 }, { pause: 10s }";
    let mut many = plan(round, "{ think: 35s }");
    many.load.rounds = 1_000_000;
    // Four bursts within the last 35 s.
    let crowd = at_once(&many);
    assert!((400..600).contains(&crowd), "{crowd}");
    many.load.phases.truncate(1);
    assert_eq!(at_once(&many), 100_000_000, "all come at one moment");
}

#[test]
fn the_end_of_the_run_bounds_the_crowd() {
    let mut plan = plan("{ rate: 10/s, duration: 1000s }", "{ think: 1000s }");
    plan.load.duration = Some(Duration::from_secs(100));
    let crowd = at_once(&plan);
    assert!((1_000..1_400).contains(&crowd), "{crowd}");
    // A phase that waits for users may begin early if they leave early.
    let waits = "{ burst: 10, wait_for_users: true }, { burst: 500 }";
    let mut plan = self::plan(waits, "{ think: 1h }");
    plan.load.duration = Some(Duration::from_secs(100));
    assert!(at_once(&plan) >= 500);
}

#[test]
fn machines_share_the_crowd_and_each_has_a_margin_of_its_own() {
    let plan = churn(50.0, 3_600);
    let share = Share::of_machine(&[1.0, 3.0], 0).expect("a share");
    let quarter = Crowd::of(&plan, &share).expect("it can be played");
    let whole = at_once(&plan);
    assert!(quarter.at_once.is_some_and(|users| (whole / 4..whole / 2).contains(&users)), "{quarter:?}");
    assert_eq!(quarter.in_all, Some(45_000));
}

#[test]
fn a_crowd_without_end_is_known_only_where_users_leave() {
    let mut endless = plan("{ rate: 10/s, duration: 100s }", "{ think: 10s }");
    endless.load.phases[0].duration = None;
    let crowd = Crowd::of(&endless, &Share::whole()).expect("it can be played");
    assert_eq!(crowd.in_all, None);
    assert!(crowd.at_once.is_some_and(|users| (100..200).contains(&users)), "{crowd:?}");
    endless.sessions[0].steps.push(Step { label: None, action: Action::Stay });
    let crowd = Crowd::of(&endless, &Share::whole()).expect("it can be played");
    assert_eq!(crowd, Crowd { at_once: None, in_all: None });
}

/// The maximum number at once if each user stays `stay_s` seconds.
fn played(load: &Load, stay_s: f64) -> u64 {
    let mut schedule = Schedule::new(load, 1, &Share::whole()).expect("it can be played");
    let stay = (stay_s * 1e9) as u64;
    let mut comings = Vec::new();
    loop {
        comings.extend(schedule.by_ref().map(|arrival| arrival.at));
        match schedule.next_due() {
            Due::Waits { not_before } => {
                let last = comings.last().copied().unwrap_or(0);
                schedule.proceed(not_before.max(last + stay));
            }
            Due::Done { .. } | Due::At(_) => break,
        }
    }
    comings.sort_unstable();
    let (mut gone, mut most) = (0, 0);
    for (come, at) in (1..).zip(&comings) {
        while comings[gone] + stay <= *at {
            gone += 1;
        }
        most = most.max(come - gone);
    }
    most as u64
}

fn phases() -> impl Strategy<Value = Vec<Phase>> {
    let arrivals = prop_oneof![
        (0.5..8.0_f64).prop_map(Arrivals::Constant),
        (0.5..8.0_f64, 0.0..8.0_f64).prop_map(|(from, to)| Arrivals::Ramp(from, to)),
        (0.5..8.0_f64).prop_map(Arrivals::Poisson),
        (1..60_u64).prop_map(Arrivals::Burst),
        Just(Arrivals::Pause),
    ];
    let phase =
        (arrivals, 1.0..30.0_f64, any::<bool>()).prop_map(|(arrivals, seconds, wait_for_users)| Phase {
            name: String::new(),
            duration: Some(Duration::from_secs_f64(seconds)),
            arrivals,
            users_max: None,
            weights: None,
            wait_for_users,
        });
    prop::collection::vec(phase, 1..5)
}

proptest! {
    #[test]
    fn the_number_holds_all_who_are_there_and_no_more_than_come(
        phases in phases(),
        stay_s in 1.0..40.0_f64,
        rounds in 1..4_u32,
    ) {
        let mut plan = plan("{ burst: 1 }", "{ think: 1s }");
        plan.sessions[0].steps =
            vec![Step { label: None, action: Action::Think(Distribution::Constant(stay_s)) }];
        plan.load = Load { phases, rounds, duration: None };
        let crowd = Crowd::of(&plan, &Share::whole()).expect("it can be played");
        let users = crowd.at_once.expect("all have an end");
        prop_assert!(users <= crowd.in_all.expect("all have an end"));
        let there = played(&plan.load, stay_s);
        // Among so many plans a small Poisson number may slightly exceed five deviations.
        prop_assert!(users + 3 >= there, "{users} for {there}");
        let longer = played(&plan.load, stay_s + 1.0) as f64;
        prop_assert!((users as f64) <= 2.0 * longer + 6.0 * longer.sqrt() + 30.0, "{users} for {longer}");
    }
}
