//! The data of one second of a run.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::hdr::{self, HistogramError};
use super::limits::{SECOND_DIGITS, TIME_US_MAX};
use super::{SeriesRow, ServerRow, Spread};

/// Metrics with a distribution per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SecondMetric {
    Latency,
    ServiceLatency,
    Connect,
    Join,
    Http,
    SendLag,
    BeginLag,
}

const METRICS: usize = 7;

/// One second of a run: counts, changes and times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Second {
    /// Users that arrived or should have arrived, minus those that finished.
    pub(super) wanted: i64,
    /// Users that arrived, minus those that finished.
    pub(super) users: i64,
    pub(super) connected: Flow,
    /// Joins minus leaves.
    pub(super) joined: i64,
    pub(super) arrivals: u64,
    pub(super) finished: u64,
    pub(super) connects: u64,
    pub(super) connects_failed: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) bytes_sent: u64,
    pub(super) bytes_received: u64,
    pub(super) http: u64,
    /// Requests on established connections that started, minus those that ended.
    pub(super) waiting: i64,
    /// Responses after a long wait; the user then asks again in its own slot.
    pub(super) http_long: u64,
    /// Requests that did not get to wait: no connection, or a failure without a long wait.
    pub(super) http_turned_away: u64,
    pub(super) errors: u64,
    times: [SecondTimes; METRICS],
    pub(super) sample: Option<MachineSample>,
}

/// The change of a quantity within a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flow {
    /// Increases minus decreases.
    pub(super) net: i64,
    /// Highest value relative to the start of the second.
    pub(super) peak: i64,
}

impl Flow {
    pub(super) fn change(&mut self, by: i64) {
        self.net = self.net.saturating_add(by);
        self.peak = self.peak.max(self.net);
    }

    /// Appends another flow that follows this one.
    pub(super) fn then(&mut self, other: Self) {
        self.peak = self.peak.max(self.net.saturating_add(other.peak));
        self.net = self.net.saturating_add(other.net);
    }
}

/// Samples of the generator's machine and of the servers under test in one second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MachineSample {
    /// CPU time that the generator used, in cores.
    pub generator_cpu: f64,
    /// Utilisation of the generator's busiest thread, 0 … 1.
    pub generator_thread_cpu_max: f64,
    /// Share of the machine's CPU time stolen by the hypervisor, 0 … 1.
    pub steal: f64,
    /// Samples of the servers.
    pub servers: Vec<ServerRow>,
}

impl MachineSample {
    fn merge(&mut self, other: &Self) {
        self.generator_cpu += other.generator_cpu;
        self.generator_thread_cpu_max = self.generator_thread_cpu_max.max(other.generator_thread_cpu_max);
        self.steal = self.steal.max(other.steal);
        self.servers.extend(other.servers.iter().cloned());
    }
}

impl Second {
    pub(super) fn record(&mut self, metric: SecondMetric, time_us: u64) {
        self.times[metric as usize].record(time_us);
    }

    /// Adds a later part of the same second, or that of another machine.
    pub(super) fn merge(&mut self, other: &Self) {
        self.wanted = self.wanted.saturating_add(other.wanted);
        self.users = self.users.saturating_add(other.users);
        self.connected.then(other.connected);
        self.joined = self.joined.saturating_add(other.joined);
        self.waiting = self.waiting.saturating_add(other.waiting);
        for (mine, others) in [
            (&mut self.arrivals, other.arrivals),
            (&mut self.finished, other.finished),
            (&mut self.connects, other.connects),
            (&mut self.connects_failed, other.connects_failed),
            (&mut self.sent, other.sent),
            (&mut self.received, other.received),
            (&mut self.bytes_sent, other.bytes_sent),
            (&mut self.bytes_received, other.bytes_received),
            (&mut self.http, other.http),
            (&mut self.http_long, other.http_long),
            (&mut self.http_turned_away, other.http_turned_away),
            (&mut self.errors, other.errors),
        ] {
            *mine = mine.saturating_add(others);
        }
        for (mine, others) in self.times.iter_mut().zip(&other.times) {
            mine.merge(others);
        }
        if let Some(sample) = &other.sample {
            self.add_sample(sample);
        }
    }

    /// Adds one machine's sample of this second.
    pub(super) fn add_sample(&mut self, sample: &MachineSample) {
        self.sample.get_or_insert_default().merge(sample);
    }

    /// Packs the histograms. Recording into them is still possible, at the cost of unpacking them.
    pub(super) fn pack(&mut self) {
        for times in &mut self.times {
            times.pack();
        }
    }

    /// Returns the second as a row; its gauges are those at its start plus its own changes.
    pub(super) fn row(&self, second: u32, before: &Gauges) -> SeriesRow {
        let after = before.after(self);
        let gauge = |value: i64| value.max(0) as u64;
        let spread = |metric: SecondMetric| self.times[metric as usize].spread();
        let sample = self.sample.clone().unwrap_or_default();
        SeriesRow {
            second,
            users_wanted: gauge(after.wanted),
            users: gauge(after.users),
            connected: gauge(after.connected),
            joined: gauge(after.joined),
            arrivals: self.arrivals,
            finished: self.finished,
            connects: self.connects,
            sent: self.sent,
            received: self.received,
            bytes_sent: self.bytes_sent,
            bytes_received: self.bytes_received,
            http: self.http,
            errors: self.errors,
            latency: spread(SecondMetric::Latency),
            service_latency: spread(SecondMetric::ServiceLatency),
            connect: spread(SecondMetric::Connect),
            join: spread(SecondMetric::Join),
            http_time: spread(SecondMetric::Http),
            send_lag: spread(SecondMetric::SendLag),
            generator_cpu: sample.generator_cpu,
            generator_thread_cpu_max: sample.generator_thread_cpu_max,
            steal: sample.steal,
            servers: sample.servers,
        }
    }

    /// Returns the 99th percentile of the generator's own delay, of sends or of operations that users began; 0 if there
    /// were none.
    pub(super) fn lag_p99_us(&self) -> u64 {
        let p99_us = |metric: SecondMetric| self.times[metric as usize].spread().p99_us;
        p99_us(SecondMetric::SendLag).max(p99_us(SecondMetric::BeginLag))
    }
}

/// Values of the gauges at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Gauges {
    pub(super) wanted: i64,
    pub(super) users: i64,
    pub(super) connected: i64,
    pub(super) joined: i64,
    pub(super) waiting: i64,
}

impl Gauges {
    /// Returns the gauges after a second.
    pub(super) fn after(&self, second: &Second) -> Self {
        Self {
            wanted: self.wanted.saturating_add(second.wanted),
            users: self.users.saturating_add(second.users),
            connected: self.connected.saturating_add(second.connected.net),
            joined: self.joined.saturating_add(second.joined),
            waiting: self.waiting.saturating_add(second.waiting),
        }
    }
}

/// The distribution of one metric in one second.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Option<Written>", try_from = "Option<Written>")]
enum SecondTimes {
    #[default]
    None,
    Open(Box<Times<Histogram<u32>>>),
    Packed(Box<Times<Box<[u8]>>>),
}

#[derive(Clone, Debug)]
struct Times<T> {
    min_us: u64,
    max_us: u64,
    distribution: T,
}

/// The serialized form of one metric's times in one second.
#[derive(Serialize, Deserialize)]
struct Written {
    min_us: u64,
    max_us: u64,
    hdr: String,
}

impl SecondTimes {
    fn record(&mut self, time_us: u64) {
        let times = self.open();
        times.min_us = times.min_us.min(time_us);
        times.max_us = times.max_us.max(time_us);
        times.distribution.saturating_record(time_us.min(TIME_US_MAX));
    }

    fn open(&mut self) -> &mut Times<Histogram<u32>> {
        match self {
            Self::Open(_) => {}
            Self::None => {
                let distribution = empty_distribution();
                *self = Self::Open(Box::new(Times { min_us: u64::MAX, max_us: 0, distribution }));
            }
            Self::Packed(packed) => {
                let distribution = hdr::unpack(&packed.distribution);
                let (min_us, max_us) = (packed.min_us, packed.max_us);
                *self = Self::Open(Box::new(Times { min_us, max_us, distribution }));
            }
        }
        let Self::Open(times) = self else { unreachable!("it has just been opened") };
        times
    }

    fn pack(&mut self) {
        if let Self::Open(times) = self {
            let distribution = hdr::pack(&times.distribution);
            *self =
                Self::Packed(Box::new(Times { min_us: times.min_us, max_us: times.max_us, distribution }));
        }
    }

    fn merge(&mut self, other: &Self) {
        if let (Self::None, Self::Open(_) | Self::Packed(_)) = (&self, other) {
            *self = other.clone();
        } else if let Some((distribution, min_us, max_us)) = other.read() {
            let times = self.open();
            times.min_us = times.min_us.min(min_us);
            times.max_us = times.max_us.max(max_us);
            times.distribution.add(distribution).expect("all seconds have the same range");
        }
    }

    fn spread(&self) -> Spread {
        self.read().map_or_else(Spread::default, |(distribution, min_us, max_us)| {
            Spread::of(&distribution, min_us, max_us)
        })
    }

    fn read(&self) -> Option<(std::borrow::Cow<'_, Histogram<u32>>, u64, u64)> {
        match self {
            Self::None => None,
            Self::Open(times) => {
                Some((std::borrow::Cow::Borrowed(&times.distribution), times.min_us, times.max_us))
            }
            Self::Packed(times) => {
                let distribution = hdr::unpack(&times.distribution);
                Some((std::borrow::Cow::Owned(distribution), times.min_us, times.max_us))
            }
        }
    }
}

impl PartialEq for SecondTimes {
    /// Compares the times, whether packed or not.
    fn eq(&self, other: &Self) -> bool {
        self.read() == other.read()
    }
}

fn empty_distribution() -> Histogram<u32> {
    Histogram::new_with_bounds(1, TIME_US_MAX, SECOND_DIGITS)
        .expect("constant bounds that the library documents as valid")
}

impl From<SecondTimes> for Option<Written> {
    fn from(times: SecondTimes) -> Self {
        let (distribution, min_us, max_us) = times.read()?;
        Some(Written { min_us, max_us, hdr: hdr::to_text(distribution.as_ref()) })
    }
}

impl TryFrom<Option<Written>> for SecondTimes {
    type Error = HistogramError;

    fn try_from(written: Option<Written>) -> Result<Self, HistogramError> {
        let Some(written) = written else { return Ok(Self::None) };
        let read = hdr::from_text::<u32>(&written.hdr, SECOND_DIGITS)?;
        let mut distribution = empty_distribution();
        distribution.add(&read).map_err(|_| HistogramError::OtherShape(read.sigfig(), read.high()))?;
        let (min_us, max_us) = (written.min_us, written.max_us.max(written.min_us));
        let mut times = Self::Open(Box::new(Times { min_us, max_us, distribution }));
        times.pack();
        Ok(times)
    }
}
