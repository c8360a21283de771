//! The loop that runs while the users play: closes seconds, publishes status and handles stop requests.

use std::thread;
use std::time::{Duration, Instant};

use super::job::Job;
use super::players::Players;
use super::results::Results;
use super::sampling::Sampling;
use super::signals::Signals;
use crate::live::{Board, Buckets, PhaseStatus, Stage, Status, Stop, Users};

/// Interval of the loop.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches until the last user has left and all results have arrived.
pub(super) fn watch(
    players: &Players,
    sampling: &mut Sampling,
    board: &Board,
    job: &Job,
    signals: &Signals,
    start: Instant,
) {
    let mut watch = Watch { players, board, job, start, asked: Stop::No };
    while !players.is_over() {
        sampling.close_seconds(|second, sample| players.sample(second, sample));
        watch.go_on(signals, sampling);
    }
    sampling.close_last_second(|second, sample| players.sample(second, sample));
    while !players.has_ended() {
        watch.go_on(signals, sampling);
    }
}

/// Publishes the final status of the run.
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
    players: &'a Players,
    board: &'a Board,
    job: &'a Job,
    start: Instant,
    asked: Stop,
}

impl Watch<'_> {
    fn go_on(&mut self, signals: &Signals, sampling: &Sampling) {
        self.hear(signals.stop().max(self.board.stop()));
        self.publish(sampling);
        thread::sleep(INTERVAL);
    }

    fn hear(&mut self, stop: Stop) {
        if stop <= self.asked {
            return;
        }
        self.asked = stop;
        match stop {
            Stop::No => {}
            Stop::Orderly => self.players.stop(),
            Stop::AtOnce => self.players.abort(),
        }
    }

    fn publish(&self, sampling: &Sampling) {
        let live = self.players.live();
        let elapsed = self.start.elapsed().as_secs_f64();
        let planned = self.job.seconds();
        let stage = if self.players.is_draining() { Stage::Draining } else { Stage::Running };
        self.board.publish(Status {
            stage,
            phase: self.phase(),
            elapsed_seconds: elapsed,
            remaining_seconds: planned.map(|planned| (planned - elapsed).max(0.0)),
            progress: planned.map(|planned| (elapsed / planned.max(f64::MIN_POSITIVE)).min(1.0)),
            users: self.players.users(),
            latest: sampling.complete(&live.row),
            totals: live.counts,
            times: live.times.clone(),
            latency: Buckets::of(live.latency.histogram()),
            send_lag: Buckets::of(live.send_lag.histogram()),
            connect: Buckets::of(live.connect.histogram()),
            errors: live.errors.clone(),
            verdict: live.verdict.clone(),
            ..Status::starting(&self.job.plan.name, &self.job.target(), self.job.plan.seed)
        });
    }

    fn phase(&self) -> Option<PhaseStatus> {
        let phases = &self.job.plan.load.phases;
        let place = self.players.phase() as usize;
        let of = phases.len() * self.job.plan.load.rounds as usize;
        let phase = phases.get(place % phases.len().max(1)).filter(|_| place < of)?;
        Some(PhaseStatus { number: place as u32 + 1, of: of as u32, name: phase.name.clone() })
    }
}
