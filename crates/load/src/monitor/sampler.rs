//! The thread that reads `/proc` at the end of each second.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::own::{OwnReading, UsageTracker};
use super::process::MonitoredProcess;
use super::rows::Rows;

/// If a run stops in the middle of a second, a part shorter than this gets no row: it has too few clock ticks.
const PART_OF_SECOND_MIN: Duration = Duration::from_millis(100);

/// The state of the sampling thread.
pub(super) struct Sampler {
    rows: Arc<Rows>,
    watched: Vec<MonitoredProcess>,
    own: UsageTracker,
}

impl Sampler {
    pub(super) fn new(rows: Arc<Rows>, watched: Vec<MonitoredProcess>, own: UsageTracker) -> Self {
        Self { rows, watched, own }
    }

    /// Samples until it is stopped, and returns the accumulated readings.
    pub(super) fn run(mut self, stopped: &mpsc::Receiver<()>) -> UsageTracker {
        let start = self.rows.beginning_of(0);
        if start > Instant::now() {
            if is_stopped_before(start, stopped) {
                return self.own;
            }
            self.begin_anew();
        }
        let mut second = self.rows.second_of(Instant::now());
        loop {
            if is_stopped_before(self.rows.beginning_of(second.saturating_add(1)), stopped) {
                if self.own.last_at().elapsed() >= PART_OF_SECOND_MIN {
                    self.sample(second);
                }
                return self.own;
            }
            self.sample(second);
            // Seconds in which the machine was suspended have no row.
            second = self.rows.second_of(Instant::now()).max(second.saturating_add(1));
        }
    }

    /// Discards the usage before the start of the run.
    fn begin_anew(&mut self) {
        let now = Instant::now();
        if let Ok(reading) = OwnReading::read(now) {
            self.own = UsageTracker::open(reading);
        }
        for process in &mut self.watched {
            process.sample(now);
        }
    }

    fn sample(&mut self, second: u32) {
        let now = Instant::now();
        if let Ok(reading) = OwnReading::read(now) {
            let used = self.own.enter(reading);
            self.rows.enter_own(second, used);
        }
        for (server, process) in self.watched.iter_mut().enumerate() {
            match process.sample(now) {
                Some(row) => self.rows.enter_process(second, server, row),
                None => self.rows.enter_loss(second, server),
            }
        }
    }
}

/// Waits until `end` or the stop signal; returns whether it was stopped.
fn is_stopped_before(end: Instant, stopped: &mpsc::Receiver<()>) -> bool {
    match stopped.recv_timeout(end.saturating_duration_since(Instant::now())) {
        Err(RecvTimeoutError::Timeout) => false,
        Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
    }
}
