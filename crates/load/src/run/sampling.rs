//! The machine and the servers second by second, beside the users.

use std::time::{Duration, Instant};

use crate::monitor::{GeneratorSamples, Monitor, MonitorConfig, MonitorError};
use crate::statistics::{MachineSample, SeriesRow};

/// A second's samples are complete so long after its end.
const BELATED: Duration = Duration::from_millis(400);

/// Sampling that goes on, and what of it has been handed on.
pub(crate) struct Sampling {
    monitor: Monitor,
    start: Instant,
    next_second: u32,
}

impl Sampling {
    pub(crate) fn start(config: MonitorConfig) -> Result<Self, MonitorError> {
        let start = config.epoch;
        Ok(Self { monitor: Monitor::start(config)?, start, next_second: 0 })
    }

    /// Hands on the samples of each second that is over.
    pub(crate) fn close_seconds(&mut self, mut take: impl FnMut(u32, MachineSample)) {
        while self.start + Duration::from_secs(u64::from(self.next_second) + 1) + BELATED <= Instant::now() {
            self.close_second(&mut take);
        }
    }

    /// Hands on the samples of the second that the run ended in as well.
    pub(crate) fn close_last_second(&mut self, mut take: impl FnMut(u32, MachineSample)) {
        self.close_seconds(&mut take);
        self.close_second(&mut take);
    }

    /// A second for the eye, with what is sampled of it by now: samples come a moment after the users' own figures.
    /// Those of agents are in the row already, and stay.
    pub(crate) fn complete(&self, row: &SeriesRow) -> SeriesRow {
        let sample = self.monitor.row(row.second);
        let mut row = row.clone();
        if row.generator_cpu == 0.0 {
            row.generator_cpu = sample.generator_cpu;
            row.generator_thread_cpu_max = sample.generator_thread_cpu_max;
            row.steal = sample.steal;
        }
        if row.servers.is_empty() {
            row.servers = sample.servers;
        }
        row
    }

    /// What all of it came to.
    pub(crate) fn finish(self) -> GeneratorSamples {
        self.monitor.finish()
    }

    fn close_second(&mut self, take: &mut impl FnMut(u32, MachineSample)) {
        let row = self.monitor.row(self.next_second);
        let sample = MachineSample {
            generator_cpu: row.generator_cpu,
            generator_thread_cpu_max: row.generator_thread_cpu_max,
            steal: row.steal,
            servers: row.servers,
        };
        take(self.next_second, sample);
        self.next_second += 1;
    }
}
