//! Arrivals in virtual time.

use proptest::prelude::*;

use super::*;

const SECOND: Nanos = 1_000_000_000;

fn phase(arrivals: Arrivals, seconds: Option<f64>) -> Phase {
    Phase {
        name: "phase".into(),
        duration: seconds.map(Duration::from_secs_f64),
        arrivals,
        users_max: None,
        weights: None,
        wait_for_users: false,
    }
}

fn closed(users: u64, ramp_s: f64) -> Arrivals {
    Arrivals::Closed { users, iterations: Some(3), ramp: Duration::from_secs_f64(ramp_s) }
}

fn load(phases: Vec<Phase>) -> Load {
    Load { phases, rounds: 1, duration: None }
}

fn schedule(load: &Load) -> Schedule {
    Schedule::new(load, 1, &Share::whole()).expect("the load can be played")
}

/// Plays to the end; each wait is answered `wait_s` seconds after it begins.
fn play(schedule: &mut Schedule, wait_s: u64) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    loop {
        arrivals.extend(schedule.by_ref());
        match schedule.next_due() {
            Due::Waits { not_before } => schedule.proceed(not_before + wait_s * SECOND),
            Due::Done { .. } => return arrivals,
            Due::At(at) => panic!("the iterator ended before the arrival at {at}"),
        }
    }
}

fn seconds(arrivals: &[Arrival]) -> Vec<f64> {
    arrivals.iter().map(|arrival| arrival.at as f64 / 1e9).collect()
}

fn assert_close(seconds: &[f64], expected: &[f64]) {
    assert_eq!(seconds.len(), expected.len(), "{seconds:?}");
    assert!(seconds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{seconds:?}, not {expected:?}");
}

#[test]
fn users_come_when_each_model_says() {
    let limited =
        |arrivals, seconds, users_max| Phase { users_max: Some(users_max), ..phase(arrivals, seconds) };
    let table: [(Phase, &[f64], f64); 11] = [
        (phase(Arrivals::Constant(2.0), Some(2.0)), &[0.0, 0.5, 1.0, 1.5], 2.0),
        (limited(Arrivals::Constant(2.0), Some(9.0), 3), &[0.0, 0.5, 1.0], 9.0),
        (limited(Arrivals::Constant(2.0), None, 3), &[0.0, 0.5, 1.0], 1.0),
        (phase(Arrivals::Constant(0.0), Some(9.0)), &[], 9.0),
        // After t seconds, t² / 2 users have arrived.
        (
            phase(Arrivals::Ramp(0.0, 4.0), Some(4.0)),
            &[
                0.0,
                std::f64::consts::SQRT_2,
                2.0,
                2.449_489_743,
                2.828_427_125,
                3.162_277_660,
                3.464_101_615,
                3.741_657_387,
            ],
            4.0,
        ),
        (phase(Arrivals::Ramp(2.0, 2.0), Some(2.0)), &[0.0, 0.5, 1.0, 1.5], 2.0),
        // After t seconds, 4 t - t² / 2.
        (limited(Arrivals::Ramp(4.0, 0.0), Some(4.0), 3), &[0.0, 0.258_342_613, 0.535_898_385], 4.0),
        (phase(Arrivals::Burst(3), Some(5.0)), &[0.0, 0.0, 0.0], 5.0),
        (phase(Arrivals::Burst(3), None), &[0.0, 0.0, 0.0], 0.0),
        (phase(closed(4, 2.0), Some(5.0)), &[0.0, 0.5, 1.0, 1.5], 5.0),
        (phase(Arrivals::Pause, Some(3.0)), &[], 3.0),
    ];
    for (phase, expected, end_s) in table {
        let mut schedule = schedule(&load(vec![phase]));
        assert_eq!(schedule.planned(), Some(expected.len() as u64));
        let arrivals = play(&mut schedule, 0);
        assert_close(&seconds(&arrivals), expected);
        assert_eq!(schedule.next_due(), Due::Done { at: (end_s * 1e9) as Nanos });
        assert_eq!(schedule.dropped(), 0);
        let users: Vec<_> = arrivals.iter().map(|arrival| arrival.user).collect();
        assert_eq!(users, (0..expected.len() as u32).collect::<Vec<_>>());
    }
}

/// Tsung: users of a phase = round(min(maxnumber, duration × rate)).
#[test]
fn a_phase_brings_as_many_users_as_tsungs_would() {
    let table = [
        (10.0, 60.0, None, 600),
        (0.333, 10.0, None, 3),
        (0.35, 10.0, None, 4),
        (1.0 / 0.7, 1.0, None, 1),
        (100.0, 10.0, Some(7), 7),
        (1.0, 10.0, Some(500), 10),
    ];
    for (rate, duration, users_max, expected) in table {
        for arrivals in [Arrivals::Constant(rate), Arrivals::Poisson(rate), Arrivals::Ramp(0.0, 2.0 * rate)] {
            let phase = Phase { users_max, ..phase(arrivals, Some(duration)) };
            let mut schedule = schedule(&load(vec![phase]));
            let arrivals = play(&mut schedule, 0);
            assert_eq!(arrivals.len(), expected);
            assert!(arrivals.iter().all(|arrival| arrival.at < (duration * 1e9) as Nanos));
            // The phase lasts its full duration whether or not the maximum was reached early.
            assert_eq!(schedule.next_due(), Due::Done { at: (duration * 1e9) as Nanos });
        }
    }
}

#[test]
fn poisson_arrivals_are_independent_of_each_other() {
    let endless = Phase { users_max: Some(20_000), ..phase(Arrivals::Poisson(50.0), None) };
    for phase in [phase(Arrivals::Poisson(50.0), Some(400.0)), endless] {
        let arrivals = play(&mut schedule(&load(vec![phase])), 0);
        let times = seconds(&arrivals);
        assert!(times.is_sorted());
        // Gaps are exponential: each decile of that distribution gets the same number. 27.9 is the 0.999 quantile of
        // chi-square with 9 degrees of freedom.
        let mut deciles = [0_f64; 10];
        for pair in times.windows(2) {
            deciles[((1.0 - (-(pair[1] - pair[0]) * 50.0).exp()) * 10.0) as usize] += 1.0;
        }
        let expected = (times.len() - 1) as f64 / 10.0;
        let statistic: f64 = deciles.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(statistic < 27.9, "{deciles:?}");
        // The variance of the counts per second equals their mean, to within 5 standard errors of the ratio.
        let mut counts = vec![0_f64; 390];
        times.iter().filter(|&&at| at < 390.0).for_each(|&at| counts[at as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 390.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 389.0;
        assert!((variance / mean - 1.0).abs() < 5.0 * (2.0 / 389.0_f64).sqrt(), "{variance} / {mean}");
    }
}

#[test]
fn a_poisson_phases_maximum_cuts_it_off_and_changes_nothing_else() {
    let free = play(&mut schedule(&load(vec![phase(Arrivals::Poisson(5.0), Some(100.0))])), 0);
    let limited = Phase { users_max: Some(100), ..phase(Arrivals::Poisson(5.0), Some(100.0)) };
    assert_eq!(play(&mut schedule(&load(vec![limited])), 0), free[..100]);
}

#[test]
fn phases_and_rounds_follow_each_other() {
    let phases = vec![
        phase(Arrivals::Constant(1.0), Some(2.0)),
        phase(Arrivals::Pause, Some(3.0)),
        phase(Arrivals::Burst(2), None),
    ];
    let mut schedule = schedule(&Load { phases, rounds: 2, duration: None });
    assert_eq!(schedule.planned(), Some(8));
    let arrivals = play(&mut schedule, 0);
    assert_close(&seconds(&arrivals), &[0.0, 1.0, 5.0, 5.0, 5.0, 6.0, 10.0, 10.0]);
    let places: Vec<_> =
        arrivals.iter().map(|arrival| (arrival.round, arrival.phase, arrival.user)).collect();
    assert_eq!(
        places,
        [(0, 0, 0), (0, 0, 1), (0, 2, 2), (0, 2, 3), (1, 0, 4), (1, 0, 5), (1, 2, 6), (1, 2, 7)]
    );
    assert_eq!(schedule.next_due(), Due::Done { at: 10 * SECOND });
}

#[test]
fn the_phase_that_is_on_can_be_asked_for() {
    let phases = vec![
        phase(Arrivals::Constant(1.0), Some(2.0)),
        phase(Arrivals::Pause, Some(3.0)),
        phase(Arrivals::Burst(1), None),
    ];
    let mut schedule = schedule(&load(phases));
    let mut phases = Vec::new();
    for half_s in 0..12 {
        let now = half_s * SECOND / 2;
        schedule.take_until(now).for_each(drop);
        phases.push(schedule.phase_at(now));
    }
    assert_eq!(phases, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2]);
}

#[test]
fn a_phase_that_waits_for_its_users_begins_the_next_when_it_is_told() {
    let waiting = Phase { wait_for_users: true, ..phase(Arrivals::Burst(1), Some(2.0)) };
    let iterating = phase(closed(2, 1.0), None);
    let phases = vec![waiting, iterating, phase(Arrivals::Burst(1), None)];
    let mut schedule = schedule(&load(phases));
    assert_eq!(schedule.by_ref().count(), 1);
    assert_eq!(schedule.next_due(), Due::Waits { not_before: 2 * SECOND });
    // It cannot begin before its own end.
    schedule.proceed(SECOND);
    let arrivals: Vec<_> = schedule.by_ref().collect();
    assert_close(&seconds(&arrivals), &[2.0, 2.5]);
    assert_eq!(arrivals[0].repeat, Some(Repeat { iterations: Some(3), until: None }));
    assert_eq!(schedule.next_due(), Due::Waits { not_before: 2_500_000_000 });
    schedule.proceed(7 * SECOND);
    schedule.proceed(9 * SECOND);
    assert_eq!(schedule.next_due(), Due::At(7 * SECOND));
    assert_close(&seconds(&play(&mut schedule, 0)), &[7.0]);
    // No phase follows the last one, so there is nothing to wait for.
    assert_eq!(schedule.next_due(), Due::Done { at: 7 * SECOND });
}

#[test]
fn users_of_a_closed_phase_go_on_until_the_phase_or_the_run_ends() {
    let until = |duration| {
        let load = Load { phases: vec![phase(closed(1, 0.0), Some(8.0))], rounds: 1, duration };
        play(&mut schedule(&load), 0)[0].repeat
    };
    let repeat = |seconds| Some(Repeat { iterations: Some(3), until: Some(seconds * SECOND) });
    assert_eq!(until(None), repeat(8));
    assert_eq!(until(Some(Duration::from_secs(5))), repeat(5));
}

#[test]
fn who_would_come_after_the_end_is_dropped() {
    // A closed phase that ends before all of its users have started.
    let mut short =
        schedule(&load(vec![phase(closed(10, 10.0), Some(4.0)), phase(Arrivals::Burst(1), None)]));
    assert_close(&seconds(&play(&mut short, 0)), &[0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(short.dropped(), 6);
    // A run that ends before its phase; the phase after it never begins.
    let phases = vec![phase(Arrivals::Constant(1.0), Some(10.0)), phase(Arrivals::Burst(100), None)];
    let mut cut = schedule(&Load { phases, rounds: 1, duration: Some(Duration::from_secs(3)) });
    assert_close(&seconds(&play(&mut cut, 0)), &[0.0, 1.0, 2.0]);
    assert_eq!((cut.dropped(), cut.next_due()), (7, Due::Done { at: 3 * SECOND }));
}

#[test]
fn a_stop_drops_the_rest_of_the_phase_that_is_on() {
    let phases = vec![phase(Arrivals::Constant(1.0), Some(10.0)), phase(Arrivals::Burst(100), None)];
    let mut stopped = schedule(&load(phases.clone()));
    assert_eq!(stopped.take_until(3 * SECOND).count(), 4);
    assert_eq!(stopped.stop(3 * SECOND), 6);
    assert_eq!((stopped.next(), stopped.next_due()), (None, Due::Done { at: 3 * SECOND }));
    // The burst lies ahead, but its phase has not begun.
    let mut between = schedule(&load(phases));
    assert_eq!(between.take_until(9 * SECOND).count(), 10);
    assert_eq!(between.stop(9 * SECOND), 0);
    let mut endless = schedule(&load(vec![phase(Arrivals::Constant(1.0), None)]));
    assert_eq!((endless.planned(), endless.stop(0)), (None, 0));
}

#[test]
fn loads_that_make_no_sense_are_named_or_end() {
    let error =
        |phase| Schedule::new(&load(vec![phase]), 1, &Share::whole()).expect_err("it is wrong").to_string();
    assert_eq!(
        error(phase(Arrivals::Constant(-1.0), None)),
        "phase `phase`: the rate is -1 users per second; it must be a number, 0 or more"
    );
    assert!(error(phase(Arrivals::Ramp(0.0, f64::NAN), Some(1.0))).contains("NaN users per second"));
    assert!(error(phase(Arrivals::Ramp(0.0, 1.0), None)).contains("needs a duration"));
    let mut nobody = schedule(&Load {
        phases: vec![phase(Arrivals::Pause, Some(1.0)), phase(Arrivals::Burst(0), None)],
        rounds: u32::MAX,
        duration: None,
    });
    assert_eq!((nobody.next(), nobody.next_due()), (None, Due::Done { at: u64::from(u32::MAX) * SECOND }));
    let empty = schedule(&load(vec![]));
    assert_eq!(empty.next_due(), Due::Done { at: 0 });
    // More users than user numbers: the highest number is the last user.
    let crowd = Load {
        phases: vec![phase(Arrivals::Burst(u64::from(u32::MAX) + 5), None)],
        rounds: 1,
        duration: None,
    };
    let mut last = Schedule::new(&crowd, 1, &Share::whole()).expect("it can be played");
    last.nth = u64::from(u32::MAX);
    last.upcoming = None;
    last.look_ahead();
    assert_eq!(last.next().map(|arrival| arrival.user), Some(u32::MAX));
    assert_eq!((last.next(), last.dropped()), (None, 4));
}

fn any_phase() -> impl Strategy<Value = Phase> {
    let arrivals = prop_oneof![
        (0.0..40.0).prop_map(Arrivals::Constant),
        (0.0..40.0, 0.0..40.0).prop_map(|(from, to)| Arrivals::Ramp(from, to)),
        (0.0..40.0).prop_map(Arrivals::Poisson),
        (0..100_u64).prop_map(Arrivals::Burst),
        (0..60_u64, 0.0..4.0).prop_map(|(users, ramp_s)| closed(users, ramp_s)),
        Just(Arrivals::Pause),
    ];
    (arrivals, 0.001..5.0, prop::option::of(0..80_u64), any::<bool>(), any::<bool>()).prop_map(
        |(arrivals, seconds, users_max, wait_for_users, open_end)| {
            let may_end_open = users_max.is_some() && !matches!(arrivals, Arrivals::Ramp(..));
            let seconds = (!(open_end && may_end_open)).then_some(seconds);
            Phase { users_max, wait_for_users, ..phase(arrivals, seconds) }
        },
    )
}

#[test]
fn a_closed_phase_that_ends_before_the_run_does_not_last_to_the_runs_end() {
    let mut phase = phase(closed(2, 2.0), Some(0.5));
    phase.name = "short".into();
    let load = Load { phases: vec![phase], rounds: 1, duration: Some(Duration::from_secs(1)) };
    let late = Share::whole().of_shard(1, 2).expect("there is such a shard");
    let schedule = Schedule::new(&load, 9, &late).expect("it can be played");
    assert_eq!((schedule.dropped(), schedule.next_due()), (1, Due::Done { at: SECOND / 2 }));
}

proptest! {
    #[test]
    fn the_shares_of_a_run_together_are_the_run(
        phases in prop::collection::vec(any_phase(), 0..4),
        rounds in 1..3_u32,
        duration_s in prop::option::of(0..12_u64),
        weights in prop::collection::vec(0.1..4.0_f64, 1..4),
        shards in 1..5_usize,
    ) {
        let load = Load { phases, rounds, duration: duration_s.map(Duration::from_secs) };
        let mut whole = Schedule::new(&load, 9, &Share::whole()).expect("it can be played");
        let expected = play(&mut whole, 1);
        prop_assert!(expected.is_sorted_by_key(|arrival| arrival.at));
        let (mut together, mut dropped, mut planned) = (Vec::new(), 0, Some(0));
        for machine in 0..weights.len() {
            let share = Share::of_machine(&weights, machine).expect("there is such a machine");
            for shard in 0..shards {
                let share = share.of_shard(shard, shards).expect("there is such a shard");
                let mut part = Schedule::new(&load, 9, &share).expect("it can be played");
                together.extend(play(&mut part, 1));
                dropped += part.dropped();
                planned = planned.zip(part.planned()).map(|(sum, part)| sum + part);
                prop_assert_eq!(part.next_due(), whole.next_due());
            }
        }
        together.sort_by_key(|arrival| arrival.user);
        prop_assert_eq!(together, expected);
        prop_assert_eq!((dropped, planned), (whole.dropped(), whole.planned()));
    }

    #[test]
    fn taken_in_pieces_it_is_the_same(
        phases in prop::collection::vec(any_phase(), 1..4),
        steps in prop::collection::vec(0..1_500_000_000_u64, 1..40),
    ) {
        let load = load(phases);
        let expected = play(&mut schedule(&load), 0);
        let mut pieces = schedule(&load);
        let (mut now, mut taken) = (0, Vec::new());
        for step in steps {
            now += step;
            while let Due::Waits { not_before } = pieces.next_due() {
                pieces.proceed(not_before);
            }
            let before = taken.len();
            taken.extend(pieces.take_until(now));
            prop_assert!(taken[before..].iter().all(|arrival| arrival.at <= now));
            if let Due::At(at) = pieces.next_due() {
                prop_assert!(at > now);
            }
        }
        taken.extend(play(&mut pieces, 0));
        prop_assert_eq!(taken, expected);
    }
}
