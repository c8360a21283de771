//! How a host site is asked, and what happens when it does not answer.

use std::time::Duration;

/// What happens when the host site does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// Nobody may, until it does.
    Closed,
    /// Everybody may, as if it was not asked.
    Open,
}

/// How a host site is asked.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizerSettings {
    /// How long a question may take, its wait for a turn included.
    pub timeout: Duration,
    /// Requests at once.
    pub concurrency: usize,
    /// Different questions that may be under way, those that wait for a turn included. Past it a question counts as not
    /// answered.
    pub questions_max: usize,
    /// Who may wait for answers, all together. Past it a question counts as not answered.
    pub waiting_max: usize,
    /// Answers that are remembered. Past it the one that ends first is forgotten.
    pub answers_max: usize,
    /// The longest that an answer is remembered, whatever it says.
    pub answer_time_max: Duration,
    /// What happens when there is no answer.
    pub failing: Failing,
    /// Failures in a row after which the site is left alone for a while.
    pub failures_max: u32,
    /// How long, the first time; it doubles with each further failure, and is drawn from its upper half.
    pub pause_min: Duration,
    /// What it doubles to at most.
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
