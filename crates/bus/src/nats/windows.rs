//! In which steps a stream is read: what it has of one topic may be everything, or next to nothing.

use crate::limits::READ_BYTES_MAX;

/// Sequences that are looked at in the first of several steps.
const WINDOW_FIRST: u64 = 64;
/// And in later ones, where there is little of the topic.
const WINDOW_MAX: u64 = 1 << 14;

/// Parts of a stream, each twice the one before as long as they have little in them.
pub(crate) struct Windows {
    low: u64,
    high: u64,
    width: u64,
}

impl Windows {
    pub(crate) fn new(low: u64, high: u64) -> Windows {
        Windows { low, high, width: WINDOW_FIRST / 2 }
    }

    /// The next one; so many bytes are kept of those before.
    pub(crate) fn next(&mut self, bytes: usize) -> Option<(u64, u64)> {
        if self.low > self.high {
            return None;
        }
        if bytes < READ_BYTES_MAX / 2 {
            self.width = (self.width * 2).min(WINDOW_MAX);
        }
        let (low, high) = (self.low, self.high.min(self.low + self.width - 1));
        self.low = high + 1;
        Some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_without_a_hole_while_there_is_little_in_them() {
        let mut windows = Windows::new(10, 500);
        let all: Vec<_> = std::iter::from_fn(|| windows.next(0)).collect();
        assert_eq!(all, [(10, 73), (74, 201), (202, 457), (458, 500)]);
        let mut windows = Windows::new(10, 200);
        assert_eq!(windows.next(0), Some((10, 73)));
        assert_eq!(windows.next(READ_BYTES_MAX), Some((74, 137)));
        assert_eq!(Windows::new(11, 10).next(0), None);
    }
}
