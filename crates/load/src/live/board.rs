//! The board on which a run publishes its status, and from which views read it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::live::{Stage, Status};
use crate::statistics::SeriesRow;

/// Maximum number of seconds that the board keeps for graphs: two hours. Older ones are in the run's directory.
pub const SERIES_ROWS_MAX: usize = 7200;

/// How a run has been asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Stop {
    /// It has not been asked.
    #[default]
    No,
    /// No new users arrive, and operations in flight are waited for.
    Orderly,
    /// Nothing is waited for.
    AtOnce,
}

/// A run's status and recent series, shared between the run and its views.
#[derive(Debug, Default)]
pub struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    status: Arc<Status>,
    /// Incremented with each change.
    version: u64,
    /// Ascending by second, at most [`SERIES_ROWS_MAX`].
    series: VecDeque<SeriesRow>,
    stop: Stop,
}

impl Board {
    /// Returns a board with the status of a starting run.
    pub fn new(status: Status) -> Self {
        let board = Self::default();
        board.lock().status = Arc::new(status);
        board
    }

    /// Publishes a newer status. Its [`Status::latest`] is appended to the series, or replaces the row of the same
    /// second.
    pub fn publish(&self, status: Status) {
        let mut state = self.lock();
        if status.stage != Stage::Starting {
            state.add_row(status.latest.clone());
        }
        state.status = Arc::new(status);
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the newest status.
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.lock().status)
    }

    /// Returns at most `rows_max` rows from a second on, oldest first.
    pub fn series(&self, since_second: u32, rows_max: usize) -> Vec<SeriesRow> {
        let state = self.lock();
        let from = state.series.partition_point(|row| row.second < since_second);
        state.series.iter().skip(from).take(rows_max).cloned().collect()
    }

    /// Returns at most `rows_max` of the most recent rows, oldest first.
    pub fn recent(&self, rows_max: usize) -> Vec<SeriesRow> {
        let state = self.lock();
        let from = state.series.len().saturating_sub(rows_max);
        state.series.iter().skip(from).cloned().collect()
    }

    /// Requests the end of the run. A stronger earlier request is kept.
    pub fn request_stop(&self, stop: Stop) {
        let mut state = self.lock();
        state.stop = state.stop.max(stop);
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// Returns whether and how the run has been asked to stop. The run polls this at least every tenth of a second.
    pub fn stop(&self) -> Stop {
        self.lock().stop
    }

    /// Waits until there is a version newer than `version` (0 is the beginning), or until the timeout; returns the
    /// current version.
    pub fn wait(&self, version: u64, timeout: Duration) -> u64 {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if state.version != version || left.is_zero() {
                return state.version;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic elsewhere cannot leave the state inconsistent, because each change of it is a single assignment.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_row(&mut self, row: SeriesRow) {
        match self.series.back_mut() {
            Some(last) if last.second == row.second => *last = row,
            Some(last) if last.second > row.second => {}
            Some(_) | None => self.series.push_back(row),
        }
        if self.series.len() > SERIES_ROWS_MAX {
            self.series.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u32, sent: u64) -> Status {
        let latest = SeriesRow { second, sent, ..SeriesRow::default() };
        Status { stage: Stage::Running, latest, ..Status::starting("s", "ws://h", 1) }
    }

    fn seconds(rows: &[SeriesRow]) -> Vec<u32> {
        rows.iter().map(|row| row.second).collect()
    }

    #[test]
    fn a_second_published_again_replaces_what_was_known_of_it() {
        let board = Board::new(Status::starting("s", "ws://h", 1));
        for (second, sent) in [(0, 5), (1, 6), (1, 9), (0, 7), (2, 1)] {
            board.publish(at(second, sent));
        }
        let rows = board.series(0, usize::MAX);
        assert_eq!(
            rows.iter().map(|row| (row.second, row.sent)).collect::<Vec<_>>(),
            [(0, 5), (1, 9), (2, 1)]
        );
    }

    #[test]
    fn the_board_keeps_the_newest_rows() {
        let board = Board::default();
        for second in 0..SERIES_ROWS_MAX as u32 + 5 {
            board.publish(at(second, 0));
        }
        assert_eq!(seconds(&board.series(0, 2)), [5, 6]);
        assert_eq!(seconds(&board.series(7203, 10)), [7203, 7204]);
        assert_eq!(seconds(&board.recent(2)), [7203, 7204]);
        assert!(board.series(90_000, 10).is_empty());
    }

    #[test]
    fn a_wish_to_stop_is_not_taken_back() {
        let board = Board::default();
        for (asked, stop) in [
            (Stop::No, Stop::No),
            (Stop::Orderly, Stop::Orderly),
            (Stop::No, Stop::Orderly),
            (Stop::AtOnce, Stop::AtOnce),
            (Stop::Orderly, Stop::AtOnce),
        ] {
            board.request_stop(asked);
            assert_eq!(board.stop(), stop);
        }
    }

    #[test]
    fn whoever_waits_hears_of_a_newer_status() {
        let board = Board::default();
        assert_eq!(board.wait(0, Duration::ZERO), 0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| board.wait(0, Duration::from_secs(60)));
            board.publish(at(0, 1));
            assert_eq!(waiting.join().expect("the waiting thread"), 1);
        });
    }
}
