//! Limits on the memory and data of a run, which hold whatever happens in it.

/// The longest time that is resolved, in microseconds: one day. A longer time counts as one day, and as out of range.
pub const TIME_US_MAX: u64 = 24 * 60 * 60 * 1_000_000;

/// Significant decimal digits in the distributions of the whole run.
pub const RUN_DIGITS: u8 = 3;

/// Significant decimal digits in the distributions of one second.
pub const SECOND_DIGITS: u8 = 2;

/// Maximum number of seconds with a row: two days. Later events are in the totals only.
pub const SERIES_SECONDS_MAX: u32 = 2 * 24 * 60 * 60;

/// Number of seconds whose histograms are kept unpacked; others are packed, and unpacked when a late observation
/// arrives.
pub const OPEN_SECONDS_MAX: usize = 8;

/// Maximum number of labels with their own distribution; times of further labels are in the totals only.
pub const LABELS_MAX: u16 = 1024;

/// Maximum number of open publications. Beyond it, the older half is settled as incomplete.
pub const OPEN_PUBLICATIONS_MAX: usize = 1 << 17;

/// Maximum number of distinct (kind, outcome, code) of errors; further ones are counted without their code.
pub const ERRORS_MAX: usize = 512;

/// Maximum number of generator threads whose CPU time is reported, the busiest first.
pub const THREADS_TOLD_MAX: usize = 64;

/// Maximum size of one histogram as text, read from a file or an agent, in bytes.
pub const HISTOGRAM_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

const _: () = assert!(OPEN_PUBLICATIONS_MAX.is_multiple_of(2), "it is kept in two halves");
