//! How a host site is asked, and what happens when it does not answer.

use std::time::Duration;

/// What happens when the host site does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// Deny everybody until it answers.
    Closed,
    /// Allow everybody, as if no host site was configured.
    Open,
}

/// How a host site is asked.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizerSettings {
    /// Timeout of a question, including the time it waits for a free slot.
    pub timeout: Duration,
    /// Maximum number of concurrent requests.
    pub concurrency: usize,
    /// Maximum number of different pending questions, including those that wait for a slot. A question beyond it counts
    /// as unanswered.
    pub questions_max: usize,
    /// Maximum number of waiters, over all questions. A question beyond it counts as unanswered.
    pub waiting_max: usize,
    /// Maximum number of cached answers; beyond it the one that expires first is evicted.
    pub answers_max: usize,
    /// Maximum time to cache an answer, whatever its `ttl`.
    pub answer_time_max: Duration,
    /// What happens without an answer.
    pub failing: Failing,
    /// Consecutive failures after which the circuit breaker opens.
    pub failures_max: u32,
    /// The breaker's first pause; it doubles with each further failure. The actual pause is drawn from its upper half.
    pub pause_min: Duration,
    /// Upper bound of the doubling.
    pub pause_max: Duration,
}

impl Default for AuthorizerSettings {
    fn default() -> Self {
        AuthorizerSettings {
            timeout: Duration::from_secs(3),
            concurrency: 16,
            questions_max: 1024,
            waiting_max: 16_384,
            answers_max: 10_000,
            answer_time_max: Duration::from_secs(3600),
            failing: Failing::Closed,
            failures_max: 5,
            pause_min: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
        }
    }
}
