//! Samples the machine and the servers once per second during the run.

use std::time::{Duration, Instant};

use crate::monitor::{GeneratorSamples, Monitor, MonitorConfig, MonitorError};
use crate::statistics::{MachineSample, SeriesRow};

/// How long after the end of a second its samples are complete.
const BELATED: Duration = Duration::from_millis(400);

/// A running monitor and the next second to pass on.
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

    /// Passes on the samples of each second that is complete.
    pub(crate) fn close_seconds(&mut self, mut take: impl FnMut(u32, MachineSample)) {
        while self.start + Duration::from_secs(u64::from(self.next_second) + 1) + BELATED <= Instant::now() {
            self.close_second(&mut take);
        }
    }

    /// Passes on all complete seconds and the one in which the run ended.
    pub(crate) fn close_last_second(&mut self, mut take: impl FnMut(u32, MachineSample)) {
        self.close_seconds(&mut take);
        self.close_second(&mut take);
    }

    /// Returns a row for live display, completed with the samples available so far: samples arrive shortly after the
    /// users' own figures. Samples from agents are already in the row and stay.
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

    /// Stops the monitor and returns the totals.
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
