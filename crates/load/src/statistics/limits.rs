//! The bounds of what is kept of a run, whatever happens in it.

/// The longest time that is told apart, in microseconds: a day. What is longer counts as a day, and as beyond the
/// range.
pub const TIME_US_MAX: u64 = 24 * 60 * 60 * 1_000_000;

/// Significant decimal digits of the whole run's times.
pub const RUN_DIGITS: u8 = 3;

/// Significant decimal digits of one second's times.
pub const SECOND_DIGITS: u8 = 2;

/// Seconds that have a row of their own: two days. What happens later is in the totals only.
pub const SERIES_SECONDS_MAX: u32 = 2 * 24 * 60 * 60;

/// Seconds whose times lie open for counting; the others are packed, and opened again when something belated comes.
pub const OPEN_SECONDS_MAX: usize = 8;

/// Labels with times of their own; those beyond are in the totals only.
pub const LABELS_MAX: u16 = 1024;

/// Publications whose receivers are awaited at the same time. Beyond it the oldest half is settled as incomplete.
pub const OPEN_PUBLICATIONS_MAX: usize = 1 << 17;

/// Different (kind, outcome, code) of errors; those beyond are counted without their code.
pub const ERRORS_MAX: usize = 512;

/// Threads of the generator whose CPU is told, the busiest ones.
pub const THREADS_TOLD_MAX: usize = 64;

/// Bytes of one histogram as text that are read from a file or an agent.
pub const HISTOGRAM_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

const _: () = assert!(OPEN_PUBLICATIONS_MAX.is_multiple_of(2), "it is kept in two halves");
