//! Runs generated from formulas and seeded noise, with everything that a report shows.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use load::report::{Run, metric};
use load::statistics::{
    Counts, ErrorCount, FanOut, Finding, GeneratorFacts, LabelledSpread, MachineFacts, PresenceLists,
    SeriesRow, ServerRow, Severity, Spread, Summary, ThreadUse, ThresholdResult, ThresholdUnit, Times,
    Verdict,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, LogNormal};

/// Parameters of a generated run.
pub(crate) struct Shape {
    /// Name of its configuration.
    pub(crate) name: &'static str,
    /// Seed of its noise.
    pub(crate) seed: u64,
    /// Its length in seconds.
    pub(crate) seconds: u32,
    /// Number of users after the ramp, which takes a fifth of the time.
    pub(crate) users: u64,
    /// Median latency in microseconds.
    pub(crate) median_us: f64,
    /// Standard deviation of the latency's logarithm.
    pub(crate) sigma: f64,
    /// Lost deliveries per 100,000.
    pub(crate) lost: u64,
}

/// Times recorded both per second and for the whole run.
struct Population {
    whole: Histogram<u64>,
}

impl Population {
    fn new() -> Self {
        Self { whole: Histogram::new(3).expect("three digits") }
    }

    fn second(&mut self, noise: &mut SmallRng, count: u64, median_us: f64, sigma: f64) -> Spread {
        let mut second = Histogram::<u64>::new(3).expect("three digits");
        let times = LogNormal::new(median_us.ln(), sigma).expect("a finite spread");
        for _ in 0..count {
            second.record(times.sample(noise) as u64).expect("a histogram that grows");
        }
        self.whole.add(&second).expect("same bounds");
        spread(&second)
    }
}

/// Generates a run with these parameters.
pub(crate) fn run(shape: &Shape) -> Run {
    let mut noise = SmallRng::seed_from_u64(shape.seed);
    let (mut latency, mut service, mut connect, mut join, mut lag) =
        (Population::new(), Population::new(), Population::new(), Population::new(), Population::new());
    let ramp = (shape.seconds / 5).max(1);
    let mut series = Vec::new();
    let mut users_before = 0;
    for second in 0..shape.seconds {
        let users = shape.users * u64::from((second + 1).min(ramp)) / u64::from(ramp);
        let pause = (shape.seconds / 2..shape.seconds / 2 + shape.seconds / 20).contains(&second);
        let slow = if pause { 25.0 } else { 1.0 + f64::from(second.min(ramp)) / f64::from(ramp) };
        let arrivals = users - users_before;
        users_before = users;
        let connected = users - users / 400;
        let received = connected * 3 + noise.random_range(0..=users / 50);
        let samples = 200;
        series.push(SeriesRow {
            second,
            users_wanted: users,
            users,
            connected,
            joined: connected * 2,
            arrivals,
            finished: 0,
            connects: arrivals,
            sent: connected,
            received: if pause { received / 2 } else { received },
            bytes_sent: connected * 64,
            bytes_received: received * 64,
            http: 0,
            errors: if pause { noise.random_range(0..40) } else { 0 },
            latency: latency.second(&mut noise, samples, shape.median_us * slow, shape.sigma),
            service_latency: service.second(
                &mut noise,
                samples,
                shape.median_us * slow.min(4.0) * 0.9,
                shape.sigma,
            ),
            connect: connect.second(&mut noise, arrivals.min(200), 900.0 + users as f64 / 4.0, 0.5),
            join: join.second(&mut noise, arrivals.min(200), 1400.0 + users as f64 / 8.0, 0.6),
            http_time: Spread::default(),
            send_lag: lag.second(&mut noise, samples, 60.0, 0.8),
            generator_cpu: 0.4 + users as f64 / shape.users as f64 * 0.5,
            generator_thread_cpu_max: 0.2
                + users as f64 / shape.users as f64 * noise.random_range(0.25..0.35),
            steal: noise.random_range(0.0..0.02),
            servers: vec![ServerRow {
                name: "pid 4711".to_owned(),
                rss_bytes: Some(96 * 1_048_576 + connected * 3_214 + noise.random_range(0..400_000)),
                cpu: Some(0.1 + received as f64 / 40_000.0 + noise.random_range(0.0..0.08)),
                descriptors: Some(connected + 40),
                connections: None,
                figures: Vec::new(),
                failed_scrapes: 0,
            }],
        });
    }
    let summary = summary(shape, &series, [&latency, &service, &connect, &join, &lag]);
    let histograms = BTreeMap::from([
        (metric::LATENCY.to_owned(), latency.whole.clone()),
        (metric::SERVICE_LATENCY.to_owned(), service.whole.clone()),
        (metric::CONNECT.to_owned(), connect.whole),
        (metric::JOIN.to_owned(), join.whole),
        (metric::SEND_LAG.to_owned(), lag.whole),
        (metric::FIRST_RECEIVER.to_owned(), service.whole),
        (metric::LAST_RECEIVER.to_owned(), latency.whole),
    ]);
    Run { configuration: shape.name.to_owned(), summary, series, histograms, wsdemo_term: None }
}

fn summary(shape: &Shape, series: &[SeriesRow], times: [&Population; 5]) -> Summary {
    let [latency, service, connect, join, lag] = times.map(|times| spread(&times.whole));
    let sum = |count: fn(&SeriesRow) -> u64| series.iter().map(count).sum::<u64>();
    let expected = sum(|row| row.sent) * 3;
    let lost = expected * shape.lost / 100_000;
    let (late, in_flight) = (expected / 5_000, expected / 20_000);
    Summary {
        format: 1,
        scenario: "crowd".to_owned(),
        seed: shape.seed,
        started: "2026-01-02T03:04:05Z".to_owned(),
        seconds: f64::from(shape.seconds),
        ended_by: "finished".to_owned(),
        verdict: Verdict { valid: true, reasons: Vec::new() },
        thresholds: vec![
            ThresholdResult {
                text: "p99 < 100ms".to_owned(),
                measured: Some(182_400.0),
                unjudged: 0,
                unit: ThresholdUnit::Microseconds,
                passed: false,
            },
            ThresholdResult {
                text: "error_rate < 0.1%".to_owned(),
                measured: Some(0.000_2),
                unjudged: 0,
                unit: ThresholdUnit::Share,
                passed: true,
            },
        ],
        counts: Counts {
            users_wanted: shape.users,
            users: shape.users,
            users_finished: shape.users - shape.users / 400,
            users_failed: shape.users / 400,
            connected_max: series.iter().map(|row| row.connected).max().unwrap_or(0),
            connects: sum(|row| row.connects),
            connects_failed: shape.users / 400,
            connect_timeouts: shape.users / 800,
            joins: sum(|row| row.connects) * 2,
            sent: sum(|row| row.sent),
            expected,
            delivered: expected - lost - late - in_flight,
            lost,
            late,
            in_flight,
            duplicates: 3,
            received: sum(|row| row.received),
            bytes_sent: sum(|row| row.bytes_sent),
            bytes_received: sum(|row| row.bytes_received),
            errors: sum(|row| row.errors),
            ..Counts::default()
        },
        times: Times {
            latency,
            service_latency: service,
            connect,
            join,
            send_lag: lag,
            labelled: vec![LabelledSpread { label: "say hello".to_owned(), spread: latency }],
            ..Times::default()
        },
        fan_out: FanOut {
            publications: sum(|row| row.sent),
            complete: sum(|row| row.sent).saturating_sub(312),
            first_receiver: service,
            last_receiver: latency,
        },
        errors: errors(shape.users),
        findings: findings(),
        machines: vec![machine()],
        generator: GeneratorFacts {
            version: "0.1.0".to_owned(),
            shards: 2,
            cpu_mean: 0.82,
            thread_cpu_max: 0.48,
            steal_mean: 0.008,
            rss_max_bytes: 84 * 1_048_576,
            samples_failed: 3,
            threads: [("engine-0", 0.48), ("engine-1", 0.31), ("collector", 0.03)]
                .map(|(name, cpu)| ThreadUse { name: name.to_owned(), cpu })
                .to_vec(),
            presence: PresenceLists { entries_max: 250_000, longest_max: 500 },
            ..GeneratorFacts::default()
        },
    }
}

fn errors(users: u64) -> Vec<ErrorCount> {
    let sources =
        |count: u64| BTreeMap::from([("127.0.0.2".to_owned(), count), ("127.0.0.3".to_owned(), count + 1)]);
    vec![
        ErrorCount {
            kind: "connect".to_owned(),
            outcome: "timeout".to_owned(),
            code: 0,
            count: users / 400,
            sources: sources(users / 800),
            first_second: 41.2,
            example: "no SYN-ACK within 2 s: the listener's queue may be full (somaxconn)".to_owned(),
        },
        ErrorCount {
            kind: "disconnect".to_owned(),
            outcome: "closed".to_owned(),
            code: 1011,
            count: 7,
            sources: sources(3),
            first_second: 151.0,
            example: "<script>alert('what a server says is text')</script>".to_owned(),
        },
    ]
}

fn findings() -> Vec<Finding> {
    vec![
        Finding {
            severity: Severity::Error,
            text: "The threshold `p99 < 100ms` does not hold: 182 ms.".to_owned(),
        },
        Finding {
            severity: Severity::Warning,
            text: "From 2:30 to 2:45 the median latency was 13 times that of the minute before; the server's CPU was \
                   not the limit."
                .to_owned(),
        },
        Finding { severity: Severity::Info, text: "Memory grows by 3.2 KB per connection.".to_owned() },
    ]
}

fn machine() -> MachineFacts {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    MachineFacts {
        name: "generator-1".to_owned(),
        facts: vec![
            fact("cpu", "2 × Example CPU at 2.9 GHz"),
            fact("memory", "8 GiB"),
            fact("kernel", "Linux 6.12"),
            fact("nofile", "1,048,576"),
            fact("ports", "32768 – 60999, TIME_WAIT reuse for loopback"),
        ],
        warnings: vec![
            "somaxconn is 128: a burst of connects overflows it. `sysctl -w net.core.somaxconn=4096`"
                .to_owned(),
        ],
    }
}

fn spread(times: &Histogram<u64>) -> Spread {
    if times.is_empty() {
        return Spread::default();
    }
    let at = |share: f64| times.value_at_quantile(share);
    Spread {
        count: times.len(),
        min_us: times.min(),
        mean_us: times.mean(),
        stddev_us: times.stdev(),
        p50_us: at(0.5),
        p75_us: at(0.75),
        p90_us: at(0.9),
        p95_us: at(0.95),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: times.max(),
    }
}
