//! While the users play: seconds are closed, shown, and wishes to stop are heard.

use std::thread;
use std::time::{Duration, Instant};

use super::job::Job;
use super::local::Local;
use super::results::Results;
use super::signals::Signals;
use crate::live::{Board, Buckets, PhaseStatus, Stage, Status, Stop, Users};
use crate::monitor::Monitor;
use crate::statistics::{MachineSample, SeriesRow, Verdict};

/// How often the run is looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// A second's samples are complete so long after its end.
const BELATED: Duration = Duration::from_millis(400);

/// Watches until the last user is gone.
pub(super) fn watch(
    local: &Local,
    monitor: &Monitor,
    board: &Board,
    job: &Job,
    signals: &Signals,
    start: Instant,
) {
    let mut watch = Watch { local, monitor, board, job, start, next_second: 0, asked: Stop::No };
    while !local.has_ended() {
        watch.hear(signals.stop().max(board.stop()));
        watch.close_seconds();
        watch.publish();
        thread::sleep(INTERVAL);
    }
    watch.close_last_second();
}

/// Shows how the run ended.
pub(super) fn publish_end(board: &Board, results: &Results) {
    let summary = &results.run.summary;
    let latest = results.run.series.last().cloned().unwrap_or_default();
    board.publish(Status {
        stage: Stage::Ended,
        elapsed_seconds: summary.seconds,
        progress: Some(1.0),
        remaining_seconds: Some(0.0),
        users: Users { wanted: summary.counts.users_wanted, ..Users::default() },
        latest,
        totals: summary.counts,
        times: summary.times.clone(),
        errors: summary.errors.clone(),
        verdict: summary.verdict.clone(),
        ended_by: summary.ended_by.clone(),
        ..(*board.status()).clone()
    });
}

struct Watch<'a> {
    local: &'a Local,
    monitor: &'a Monitor,
    board: &'a Board,
    job: &'a Job,
    start: Instant,
    next_second: u32,
    asked: Stop,
}

impl Watch<'_> {
    fn hear(&mut self, stop: Stop) {
        if stop <= self.asked {
            return;
        }
        self.asked = stop;
        match stop {
            Stop::No => {}
            Stop::Orderly => self.local.stop(),
            Stop::AtOnce => self.local.abort(),
        }
    }

    /// Hands the samples of each second that is over to the statistics.
    fn close_seconds(&mut self) {
        while self.start + Duration::from_secs(u64::from(self.next_second) + 1) + BELATED <= Instant::now() {
            self.close_second();
        }
    }

    fn close_last_second(&mut self) {
        self.close_seconds();
        self.close_second();
    }

    fn close_second(&mut self) {
        let row = self.monitor.row(self.next_second);
        let sample = MachineSample {
            generator_cpu: row.generator_cpu,
            generator_thread_cpu_max: row.generator_thread_cpu_max,
            steal: row.steal,
            servers: row.servers,
        };
        self.local.sample(self.next_second, sample);
        self.next_second += 1;
    }

    fn publish(&self) {
        let live = self.local.live();
        let elapsed = self.start.elapsed().as_secs_f64();
        let planned = self.job.seconds();
        let stage = if self.local.is_draining() { Stage::Draining } else { Stage::Running };
        self.board.publish(Status {
            stage,
            phase: self.phase(),
            elapsed_seconds: elapsed,
            remaining_seconds: planned.map(|planned| (planned - elapsed).max(0.0)),
            progress: planned.map(|planned| (elapsed / planned.max(f64::MIN_POSITIVE)).min(1.0)),
            users: self.local.users(),
            latest: self.sampled(&live.row),
            totals: live.counts,
            times: live.times.clone(),
            latency: Buckets::of(live.latency.histogram()),
            send_lag: Buckets::of(live.send_lag.histogram()),
            connect: Buckets::of(live.connect.histogram()),
            errors: live.errors.clone(),
            verdict: Verdict { valid: true, reasons: Vec::new() },
            ..Status::starting(&self.job.plan.name, &self.job.target(), self.job.plan.seed)
        });
    }

    /// The newest second with what is sampled of it by now: the samples come a moment after the users' own figures.
    fn sampled(&self, row: &SeriesRow) -> SeriesRow {
        let sample = self.monitor.row(row.second);
        SeriesRow {
            generator_cpu: sample.generator_cpu,
            generator_thread_cpu_max: sample.generator_thread_cpu_max,
            steal: sample.steal,
            servers: sample.servers,
            ..row.clone()
        }
    }

    fn phase(&self) -> Option<PhaseStatus> {
        let phases = &self.job.plan.load.phases;
        let place = self.local.phase() as usize;
        let of = phases.len() * self.job.plan.load.rounds as usize;
        let phase = phases.get(place % phases.len().max(1)).filter(|_| place < of)?;
        Some(PhaseStatus { number: place as u32 + 1, of: of as u32, name: phase.name.clone() })
    }
}
