//! Rate-limited logging of store failures.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chat::{StoreError, StoreErrorKind};

/// At most one line per kind of trouble in this interval.
const EVERY: Duration = Duration::from_secs(1);

static STORE_LOG: Mutex<StoreLog> = Mutex::new(StoreLog { kinds: Vec::new() });

/// Logs a store failure unless one of the same kind was logged within the last second; the next line then says how many
/// were suppressed. A store that is overloaded or away refuses thousands of requests a second, and a line for each
/// would fill the disk.
pub fn log_trouble(trouble: &StoreError) {
    let left_out =
        STORE_LOG.lock().unwrap_or_else(PoisonError::into_inner).admit(trouble.kind, Instant::now());
    match left_out {
        Some(0) => tracing::warn!(%trouble, "a store operation failed"),
        Some(left_out) => {
            tracing::warn!(%trouble, left_out, "a store operation failed; earlier failures of the same kind were \
                 not logged");
        }
        None => {}
    }
}

/// When each kind was last logged; at most one entry per kind.
struct StoreLog {
    kinds: Vec<Said>,
}

struct Said {
    kind: StoreErrorKind,
    at: Instant,
    left_out_since: u64,
}

impl StoreLog {
    /// Returns how many of this kind were suppressed before, if this one is to be logged.
    fn admit(&mut self, kind: StoreErrorKind, now: Instant) -> Option<u64> {
        let Some(said) = self.kinds.iter_mut().find(|said| said.kind == kind) else {
            self.kinds.push(Said { kind, at: now, left_out_since: 0 });
            return Some(0);
        };
        if now.duration_since(said.at) < EVERY {
            said.left_out_since += 1;
            return None;
        }
        said.at = now;
        Some(std::mem::take(&mut said.left_out_since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_second_of_each_kind_and_how_many_more_there_were() {
        let mut log = StoreLog { kinds: Vec::new() };
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        assert_eq!(log.admit(StoreErrorKind::Busy, at(0)), Some(0));
        assert_eq!(log.admit(StoreErrorKind::Busy, at(1)), None);
        assert_eq!(log.admit(StoreErrorKind::Away, at(2)), Some(0), "another kind has lines of its own");
        assert_eq!(log.admit(StoreErrorKind::Busy, at(999)), None);
        assert_eq!(log.admit(StoreErrorKind::Busy, at(1_000)), Some(2));
        assert_eq!(log.admit(StoreErrorKind::Busy, at(1_500)), None);
        assert_eq!(log.admit(StoreErrorKind::Busy, at(9_000)), Some(1));
        assert_eq!(log.admit(StoreErrorKind::Busy, at(19_000)), Some(0));
    }
}
