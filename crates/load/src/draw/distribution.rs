//! What a scenario may draw numbers from.

/// A distribution of numbers. What the numbers are (seconds, bytes, rooms) is said where it stands; pauses are in
/// seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Evenly between the two; for whole numbers both ends belong to it.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Normal with mean and standard deviation, cut at 0.
    Normal(f64, f64),
    /// Log-normal, given by its median and the standard deviation of its logarithm.
    LogNormal(f64, f64),
    /// Whole numbers from 1 to `count`, the k-th as likely as 1 / k^`exponent`: hot keys.
    Zipf {
        /// How many numbers, at least 1.
        count: u64,
        /// How steep, 0 (all alike) or more.
        exponent: f64,
    },
}
