//! How often a source of keys is asked, and for how long its answers are believed.

use std::time::Duration;

/// When a source is asked.
#[derive(Clone, Copy, Debug)]
pub struct JwksSettings {
    /// How long a request may take, and so how long somebody with an unknown key waits.
    pub timeout: Duration,
    /// The largest answer, in bytes.
    pub answer_bytes_max: usize,
    /// How long keys are fresh, where `Cache-Control: max-age` says less.
    pub fresh_min: Duration,
    /// The same where it says more.
    pub fresh_max: Duration,
    /// The same where it says nothing.
    pub fresh_default: Duration,
    /// How long keys that are no longer fresh are believed while the source is away.
    pub stale_max: Duration,
    /// The time between two requests, however many unknown keys are asked for, and after a first failure; it doubles
    /// with each further failure.
    pub pause_min: Duration,
    /// What it doubles to at most.
    pub pause_max: Duration,
}

impl Default for JwksSettings {
    fn default() -> Self {
        JwksSettings {
            timeout: Duration::from_secs(5),
            answer_bytes_max: 64 << 10,
            fresh_min: Duration::from_secs(60),
            fresh_max: Duration::from_secs(24 * 3600),
            fresh_default: Duration::from_secs(600),
            stale_max: Duration::from_secs(24 * 3600),
            pause_min: Duration::from_secs(10),
            pause_max: Duration::from_secs(120),
        }
    }
}
