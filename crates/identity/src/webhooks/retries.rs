//! When to retry, and when to give up.

use std::time::Duration;

use super::queue::{Message, UnixMillis};

/// The retry schedule. By default a failing endpoint is retried after 5 s, 15 s, 45 s, 2 min 15 s, 6 min 45 s, 20 min
/// 15 s and then every hour, each with up to 20 % jitter in either direction.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Delay before the first retry.
    pub first: Duration,
    /// Factor by which the delay grows with each consecutive failure.
    pub factor: u32,
    /// Maximum delay; also the maximum for which a `Retry-After` is respected.
    pub longest: Duration,
    /// Attempts after which a message is given up.
    pub attempts_max: u32,
    /// Age from which a message is given up when an attempt fails, its own or that of one before it that is given up, so
    /// that the queue of an unreachable endpoint hardly gets longer than this.
    pub age_max: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Retries {
            first: Duration::from_secs(5),
            factor: 3,
            longest: Duration::from_secs(3600),
            attempts_max: 12,
            age_max: Duration::from_secs(24 * 3600),
        }
    }
}

/// What happens to a message after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is retried.
    Again,
    /// It has had the maximum number of attempts.
    TooOften,
    /// It is too old.
    TooOld,
}

impl Retries {
    /// How long to leave an endpoint alone after `failures` consecutive failures (at least one). `random` spreads
    /// endpoints that failed at the same time.
    pub(super) fn pause(&self, failures: u32, retry_after: Option<Duration>, random: u32) -> Duration {
        let factor = self.factor.saturating_pow(failures.saturating_sub(1));
        let whole = self.first.saturating_mul(factor).min(self.longest);
        let spread = whole.mul_f64(0.8 + 0.4 * f64::from(random) / f64::from(u32::MAX));
        spread.max(retry_after.unwrap_or_default().min(self.longest))
    }

    /// Decides about a message whose latest attempt failed; `attempts` includes that one.
    pub(super) fn fate(&self, message: &Message, attempts: u32, now: UnixMillis) -> Fate {
        if attempts >= self.attempts_max {
            Fate::TooOften
        } else if self.is_too_old(message, now) {
            Fate::TooOld
        } else {
            Fate::Again
        }
    }

    /// Returns whether a message is not tried any more after an attempt has failed, its own or that of one before it.
    pub(super) fn is_too_old(&self, message: &Message, now: UnixMillis) -> bool {
        Duration::from_millis(now.0.saturating_sub(message.queued.0)) > self.age_max
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Fate, Retries};
    use crate::webhooks::{Message, MessageId, UnixMillis};

    #[test]
    fn pauses_follow_the_documented_schedule() {
        let retries = Retries::default();
        let middle = u32::MAX / 2;
        let pauses =
            (1..=9).map(|failures| retries.pause(failures, None, middle).as_secs_f64().round() as u64);
        assert_eq!(pauses.collect::<Vec<_>>(), [5, 15, 45, 135, 405, 1215, 3600, 3600, 3600]);
        assert_eq!(retries.pause(1, None, 0), Duration::from_secs(4));
        assert_eq!(retries.pause(1, None, u32::MAX), Duration::from_secs(6));
        assert_eq!(retries.pause(u32::MAX, None, 0), Duration::from_secs(2880));
    }

    #[test]
    fn a_site_may_ask_for_a_longer_pause_but_not_for_any() {
        let retries = Retries::default();
        let asked = |seconds| retries.pause(1, Some(Duration::from_secs(seconds)), 0).as_secs();
        assert_eq!((asked(0), asked(100), asked(u64::MAX)), (4, 100, 3600));
    }

    #[test]
    fn a_message_is_given_up_when_it_was_tried_often_or_is_old() {
        let retries = Retries::default();
        let message = Message {
            id: MessageId("m".into()),
            person: "ann".into(),
            conversation: None,
            body: Default::default(),
            queued: UnixMillis(1_000),
            attempts: 0,
        };
        let day_ms = 24 * 3600 * 1000;
        assert_eq!(retries.fate(&message, 11, UnixMillis(1_000 + day_ms)), Fate::Again);
        assert_eq!(retries.fate(&message, 12, UnixMillis(1_000)), Fate::TooOften);
        assert_eq!(retries.fate(&message, 1, UnixMillis(1_001 + day_ms)), Fate::TooOld);
        assert_eq!(retries.fate(&message, 1, UnixMillis(0)), Fate::Again, "a clock that went back");
    }
}
