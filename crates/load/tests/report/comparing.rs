//! Tests which differences a comparison reports as changes, and how often it does so for equal runs.

use load::report::{Comparison, Metric, Outcome, Run, Tolerance, compare};
use load::statistics::{SeriesRow, Spread};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand_distr::{Distribution as _, StandardNormal};

/// Generates seconds of a steady run whose logarithms are a first-order process with this autocorrelation.
fn noisy(noise: &mut SmallRng, seconds: u32, correlation: f64, factor: f64) -> Run {
    let mut states = [0.0_f64; 4];
    let innovation = (1.0 - correlation * correlation).sqrt();
    let series = (0..seconds).map(|second| {
        let [p50, p99, received, connect] = states.map(|state| {
            let step: f64 = StandardNormal.sample(noise);
            correlation * state + innovation * step
        });
        states = [p50, p99, received, connect];
        let at = |typical: f64, state: f64, spread: f64| (typical * (state * spread).exp()) as u64;
        SeriesRow {
            second,
            latency: Spread {
                count: 1000,
                p50_us: at(4_000.0 * factor, p50, 0.1),
                p99_us: at(30_000.0 * factor, p99, 0.3),
                ..Spread::default()
            },
            connect: Spread { count: 10, p99_us: at(9_000.0, connect, 0.5), ..Spread::default() },
            received: at(30_000.0, received, 0.02),
            ..SeriesRow::default()
        }
    });
    let mut run = Run { series: series.collect(), ..Run::default() };
    run.summary.verdict.valid = true;
    run
}

fn outcome(comparison: &Comparison, metric: Metric) -> Outcome {
    comparison
        .changes
        .iter()
        .find(|change| change.metric == metric)
        .expect("a metric that was measured")
        .outcome
}

#[test]
fn equal_runs_are_called_different_no_more_often_than_stated() {
    const TRIALS: u32 = 200;
    for correlation in [0.0, 0.4, 0.7] {
        let mut noise = SmallRng::seed_from_u64(11);
        let different = (0..TRIALS)
            .filter(|_| {
                let (before, after) =
                    (noisy(&mut noise, 300, correlation, 1.0), noisy(&mut noise, 300, correlation, 1.0));
                let comparison =
                    compare(&before, &after, Tolerance { relative: 0.0, ..Tolerance::default() });
                comparison
                    .changes
                    .iter()
                    .any(|change| matches!(change.outcome, Outcome::Better | Outcome::Worse))
            })
            .count();
        eprintln!("called different: {different} of {TRIALS} with an autocorrelation of {correlation}");
        // 5 % of 200 is 10; three standard deviations of such a count are 9.
        assert!(different <= 19, "{different} of {TRIALS} with an autocorrelation of {correlation}");
    }
}

#[test]
fn a_real_shift_is_found_in_both_directions_and_only_where_it_is() {
    let mut noise = SmallRng::seed_from_u64(5);
    for correlation in [0.0, 0.4] {
        let (before, after) =
            (noisy(&mut noise, 300, correlation, 1.0), noisy(&mut noise, 300, correlation, 1.25));
        let slower = compare(&before, &after, Tolerance::default());
        let faster = compare(&after, &before, Tolerance::default());
        for metric in [Metric::LatencyP50, Metric::LatencyP99] {
            assert_eq!(outcome(&slower, metric), Outcome::Worse, "{}", slower.text());
            assert_eq!(outcome(&faster, metric), Outcome::Better, "{}", faster.text());
        }
        assert_eq!(outcome(&slower, Metric::Received), Outcome::Same);
        assert_eq!((slower.exit_code(), faster.exit_code()), (1, 0));
        let change = &slower.changes[0];
        let (low, high) = change.interval.expect("enough blocks");
        assert!(low < 0.25 && 0.25 < high && high - low < 0.15, "{change:?}");
    }
}

#[test]
fn a_shift_within_the_tolerance_is_no_regression() {
    let mut noise = SmallRng::seed_from_u64(6);
    let (before, after) = (noisy(&mut noise, 600, 0.2, 1.0), noisy(&mut noise, 600, 0.2, 1.06));
    let comparison = compare(&before, &after, Tolerance { relative: 0.15, ..Tolerance::default() });
    assert_eq!(outcome(&comparison, Metric::LatencyP50), Outcome::Tolerated, "{}", comparison.text());
    assert_eq!(comparison.exit_code(), 0);
    assert_eq!(compare(&before, &after, Tolerance { relative: 0.02, ..Tolerance::default() }).exit_code(), 1);
}

#[test]
fn a_run_that_stands_still_is_worse() {
    let mut noise = SmallRng::seed_from_u64(7);
    let (before, mut after) = (noisy(&mut noise, 300, 0.2, 1.0), noisy(&mut noise, 300, 0.2, 1.0));
    after.series.iter_mut().for_each(|row| row.received = 0);
    assert_eq!(outcome(&compare(&before, &after, Tolerance::default()), Metric::Received), Outcome::Worse);
}

#[test]
fn one_burst_of_errors_and_a_share_of_losses_are_not_overlooked() {
    let mut noise = SmallRng::seed_from_u64(8);
    let (mut before, mut after) = (noisy(&mut noise, 120, 0.0, 1.0), noisy(&mut noise, 120, 0.0, 1.0));
    before.summary.counts.expected = 100_000;
    after.summary.counts.expected = 100_000;
    after.summary.counts.lost = 60;
    after.series[40].errors = 500;
    let comparison = compare(&before, &after, Tolerance::default());
    assert_eq!(outcome(&comparison, Metric::Errors), Outcome::Worse, "{}", comparison.text());
    assert_eq!(outcome(&comparison, Metric::Losses), Outcome::Worse, "{}", comparison.text());
    after.summary.counts.lost = 1;
    after.series[40].errors = 1;
    let comparison = compare(&before, &after, Tolerance::default());
    assert_eq!(outcome(&comparison, Metric::Errors), Outcome::Same, "{}", comparison.text());
    assert_eq!(outcome(&comparison, Metric::Losses), Outcome::Same, "{}", comparison.text());
}

#[test]
fn what_cannot_be_told_is_not_called_equal() {
    let mut noise = SmallRng::seed_from_u64(9);
    let (before, mut after) = (noisy(&mut noise, 10, 0.0, 1.0), noisy(&mut noise, 10, 0.0, 2.0));
    let short = compare(&before, &after, Tolerance::default());
    assert_eq!(outcome(&short, Metric::LatencyP50), Outcome::TooShort, "{}", short.text());
    assert_eq!(short.exit_code(), 2);
    after.summary.verdict.valid = false;
    after.summary.verdict.reasons = vec!["the generator was the limit".to_owned()];
    let invalid = compare(&before, &after, Tolerance::default());
    assert_eq!(invalid.exit_code(), 2);
    assert!(invalid.text().contains("the generator was the limit"));
    assert_eq!(compare(&Run::default(), &Run::default(), Tolerance::default()).exit_code(), 2);
}

#[test]
fn another_load_is_cautioned_and_json_has_every_change() {
    let mut noise = SmallRng::seed_from_u64(10);
    let (before, mut after) = (noisy(&mut noise, 100, 0.0, 1.0), noisy(&mut noise, 90, 0.0, 1.0));
    after.series.iter_mut().for_each(|row| row.users_wanted = 7);
    let comparison = compare(&before, &after, Tolerance::default());
    assert_eq!(comparison.cautions.len(), 2, "{:?}", comparison.cautions);
    let json = comparison.json();
    assert_eq!(json["changes"].as_array().map(Vec::len), Some(comparison.changes.len()));
    assert_eq!(json["changes"][0]["metric"], "latency_p50");
}
