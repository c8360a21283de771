//! How often published keys are fetched, and how long they are trusted.

use std::time::Duration;

/// Settings for fetching published keys.
#[derive(Clone, Copy, Debug)]
pub struct JwksSettings {
    /// Request timeout, and so the longest wait of a client with an unknown key.
    pub timeout: Duration,
    /// Maximum size of a response, in bytes.
    pub answer_bytes_max: usize,
    /// Minimum freshness of keys, if `Cache-Control: max-age` is shorter.
    pub fresh_min: Duration,
    /// Maximum freshness of keys, if it is longer.
    pub fresh_max: Duration,
    /// Freshness of keys if the header is absent.
    pub fresh_default: Duration,
    /// How long keys that are no longer fresh are still trusted while the source is down.
    pub stale_max: Duration,
    /// Minimum time between two requests, however many unknown keys are looked up, and after a first failure; it
    /// doubles with each further failure.
    pub pause_min: Duration,
    /// Upper bound of the doubling.
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
