//! A circuit breaker for sites that do not answer.

use std::time::{Duration, Instant};

/// A circuit breaker: after several failures in a row, nothing is sent for a while; then a single request tests whether
/// the site has recovered.
pub(super) struct Breaker {
    failures_max: u32,
    pause_min: Duration,
    pause_max: Duration,
    failures: u32,
    /// Set while the breaker is open.
    pause_until: Option<Instant>,
    trying: bool,
}

/// A request's role for the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// A normal request.
    Ordinary,
    /// The single request that tests whether the site has recovered.
    Trial,
}

impl Breaker {
    pub(super) fn new(failures_max: u32, pause_min: Duration, pause_max: Duration) -> Self {
        Breaker { failures_max, pause_min, pause_max, failures: 0, pause_until: None, trying: false }
    }

    /// Returns the role in which a request may be sent now, if it may. Its end must be reported.
    pub(super) fn admits(&mut self, now: Instant) -> Option<Attempt> {
        let Some(until) = self.pause_until else { return Some(Attempt::Ordinary) };
        if now < until || self.trying {
            return None;
        }
        self.trying = true;
        Some(Attempt::Trial)
    }

    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
        self.pause_until = None;
        self.trying = false;
    }

    /// `random` spreads the retries of many servers.
    pub(super) fn failed(&mut self, attempt: Attempt, now: Instant, random: u32) {
        match attempt {
            Attempt::Trial => self.trying = false,
            // It was already pending when the pause began: one outage must count only once.
            Attempt::Ordinary if self.is_open() => return,
            Attempt::Ordinary => {}
        }
        self.failures = self.failures.saturating_add(1);
        let Some(doublings) = self.failures.checked_sub(self.failures_max) else { return };
        let whole = self.pause_min.saturating_mul(1 << doublings.min(16)).min(self.pause_max);
        let half = whole / 2;
        self.pause_until = Some(now + half + half.mul_f64(f64::from(random) / f64::from(u32::MAX)));
    }

    pub(super) fn is_open(&self) -> bool {
        self.pause_until.is_some()
    }
}
