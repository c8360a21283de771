//! Tracks whether a viewer is present and has received the end of the run. Only the latest request is remembered.
//!
//! A page requests the status and then the rows that it lacks; it has received the end after both.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::live::Stage;

/// Maximum time until a page's next request: it polls each second, and later on a busy machine.
const NEXT_QUESTION_MAX: Duration = Duration::from_secs(3);

/// The viewers that poll the status.
#[derive(Debug, Default)]
pub(super) struct Viewers {
    last: Mutex<Option<LastStatus>>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug)]
struct LastStatus {
    at: Instant,
    stage: Stage,
    /// Whether rows have been requested since.
    has_rows: bool,
}

impl LastStatus {
    /// Returns whether another request is expected after `now` whose response will contain news.
    fn asks_again(self, now: Instant) -> bool {
        let knows_the_end = self.stage == Stage::Ended && self.has_rows;
        !knows_the_end && now.duration_since(self.at) < NEXT_QUESTION_MAX
    }
}

impl Viewers {
    /// Records that a viewer received a status with this stage.
    pub(super) fn told(&self, stage: Stage) {
        *self.lock() = Some(LastStatus { at: Instant::now(), stage, has_rows: false });
    }

    /// Records that a viewer received rows.
    pub(super) fn given_rows(&self) {
        if let Some(told) = self.lock().as_mut() {
            told.has_rows = true;
        }
        self.changed.notify_all();
    }

    /// Waits until the latest viewer has received the end, at most until its next request is overdue.
    pub(super) fn wait_until_told(&self) {
        let asks_again =
            |last: &mut Option<LastStatus>| last.is_some_and(|told| told.asks_again(Instant::now()));
        // A poisoned lock means a panic elsewhere, after which there is nothing to wait for.
        drop(self.changed.wait_timeout_while(self.lock(), NEXT_QUESTION_MAX, asks_again));
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastStatus>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_who_watches_and_for_nobody_else() {
        let at = Instant::now();
        for (stage, has_rows, after, waits) in [
            (Stage::Running, true, Duration::ZERO, true),
            (Stage::Draining, true, NEXT_QUESTION_MAX / 2, true),
            (Stage::Draining, true, NEXT_QUESTION_MAX, false),
            (Stage::Ended, false, Duration::ZERO, true),
            (Stage::Ended, false, NEXT_QUESTION_MAX, false),
            (Stage::Ended, true, Duration::ZERO, false),
        ] {
            let told = LastStatus { at, stage, has_rows };
            assert_eq!(told.asks_again(at + after), waits, "{told:?} after {after:?}");
        }
    }
}
