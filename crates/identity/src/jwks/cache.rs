//! Decides when published keys are fetched, as a pure state machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::settings::JwksSettings;
use crate::keys::KeySet;

/// The cached keys, and when they may be requested again.
pub(super) struct Cache {
    settings: JwksSettings,
    held: Option<Held>,
    fetching: bool,
    failures: u32,
    pause_until: Option<Instant>,
}

struct Held {
    keys: Arc<KeySet>,
    fresh_until: Instant,
}

/// What to do for a caller who needs a key.
#[derive(Debug)]
pub(super) enum Step {
    /// The key is available. With `refresh`, start a request too, for later callers.
    Use { keys: Arc<KeySet>, refresh: bool },
    /// Wait for the end of the pending request, or of the one to begin now.
    Wait { begin: bool },
    /// There is no such key, and it is too early for another request.
    Unknown,
    /// There are no keys, and it is too early for another request.
    Unavailable,
}

impl Cache {
    pub(super) fn new(settings: JwksSettings) -> Self {
        Cache { settings, held: None, fetching: false, failures: 0, pause_until: None }
    }

    /// Looks for a key. If the step starts a request, its end must be reported.
    pub(super) fn look(&mut self, kid: &str, now: Instant) -> Step {
        let may_begin = !self.fetching && self.pause_until.is_none_or(|until| now >= until);
        match self.peek(kid, now) {
            Step::Use { keys, refresh } => {
                let refresh = refresh && may_begin;
                self.fetching |= refresh;
                Step::Use { keys, refresh }
            }
            Step::Unknown | Step::Unavailable if self.fetching => Step::Wait { begin: false },
            Step::Unknown | Step::Unavailable if may_begin => {
                self.fetching = true;
                Step::Wait { begin: true }
            }
            as_it_is @ (Step::Unknown | Step::Unavailable | Step::Wait { .. }) => as_it_is,
        }
    }

    /// Like [`look`](Self::look), but starts no request: never returns [`Step::Wait`], and `refresh` only says that one
    /// is due.
    pub(super) fn peek(&self, kid: &str, now: Instant) -> Step {
        match &self.held {
            Some(held) if now >= held.fresh_until + self.settings.stale_max => Step::Unavailable,
            Some(held) if held.keys.names(kid) => {
                Step::Use { keys: held.keys.clone(), refresh: now >= held.fresh_until }
            }
            // While the source is down, it is unknown whether the key is wrong or new.
            Some(_) if self.failures > 0 => Step::Unavailable,
            Some(_) => Step::Unknown,
            None => Step::Unavailable,
        }
    }

    /// Handles a successful request.
    pub(super) fn fetched(&mut self, keys: KeySet, max_age: Option<Duration>, now: Instant) {
        let JwksSettings { fresh_min, fresh_max, fresh_default, pause_min, .. } = self.settings;
        let fresh = max_age.unwrap_or(fresh_default).max(fresh_min).min(fresh_max);
        self.held = Some(Held { keys: Arc::new(keys), fresh_until: now + fresh });
        self.fetching = false;
        self.failures = 0;
        self.pause_until = Some(now + pause_min);
    }

    /// Handles a failed request. The cached keys stay.
    pub(super) fn failed(&mut self, now: Instant) {
        let JwksSettings { pause_min, pause_max, .. } = self.settings;
        let pause = pause_min.saturating_mul(1 << self.failures.min(16)).min(pause_max);
        self.fetching = false;
        self.failures = self.failures.saturating_add(1);
        self.pause_until = Some(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Cache, Step};
    use crate::JwksSettings;
    use crate::keys::{Key, KeySet};

    fn keys(kids: &[&str]) -> KeySet {
        let key = |kid: &&str| Key::ed25519(&[7; 32]).expect("32 bytes").with_kid(*kid).expect("a kid");
        KeySet::new(kids.iter().map(key).collect()).expect("a set")
    }

    fn settings() -> JwksSettings {
        JwksSettings {
            fresh_min: Duration::from_secs(60),
            fresh_max: Duration::from_secs(1000),
            fresh_default: Duration::from_secs(100),
            stale_max: Duration::from_secs(500),
            pause_min: Duration::from_secs(10),
            pause_max: Duration::from_secs(40),
            ..JwksSettings::default()
        }
    }

    struct Clock(Instant);

    impl Clock {
        fn at(&self, seconds: u64) -> Instant {
            self.0 + Duration::from_secs(seconds)
        }
    }

    fn start() -> (Cache, Clock) {
        (Cache::new(settings()), Clock(Instant::now()))
    }

    #[test]
    fn one_request_serves_all_who_wait_for_it() {
        let (mut cache, clock) = start();
        assert!(matches!(cache.look("a", clock.at(0)), Step::Wait { begin: true }));
        assert!(matches!(cache.look("a", clock.at(1)), Step::Wait { begin: false }));
        assert!(matches!(cache.look("b", clock.at(1)), Step::Wait { begin: false }));
        cache.fetched(keys(&["a"]), None, clock.at(2));
        assert!(matches!(cache.look("a", clock.at(2)), Step::Use { refresh: false, .. }));
        assert!(matches!(cache.peek("b", clock.at(2)), Step::Unknown));
    }

    #[test]
    fn unknown_keys_cause_requests_at_a_bounded_rate() {
        let (mut cache, clock) = start();
        cache.look("a", clock.at(0));
        cache.fetched(keys(&["a"]), None, clock.at(0));
        let mut requests = 0;
        for second in 0..100 {
            if let Step::Wait { begin: true } = cache.look(&format!("random{second}"), clock.at(second)) {
                requests += 1;
                cache.fetched(keys(&["a"]), None, clock.at(second));
            }
        }
        assert_eq!(requests, 9, "one each ten seconds, and none in the first ten");
    }

    #[test]
    fn freshness_is_what_the_source_says_within_bounds() {
        let says = |seconds| Some(Duration::from_secs(seconds));
        for (max_age, fresh_seconds) in [(None, 100), (says(0), 60), (says(200), 200), (says(u64::MAX), 1000)]
        {
            let (mut cache, clock) = start();
            cache.look("a", clock.at(0));
            cache.fetched(keys(&["a"]), max_age, clock.at(0));
            assert!(matches!(cache.look("a", clock.at(fresh_seconds - 1)), Step::Use { refresh: false, .. }));
            assert!(matches!(cache.look("a", clock.at(fresh_seconds)), Step::Use { refresh: true, .. }));
            assert!(matches!(cache.look("a", clock.at(fresh_seconds)), Step::Use { refresh: false, .. }));
        }
    }

    #[test]
    fn stale_keys_are_believed_while_the_source_is_away_and_not_forever() {
        let (mut cache, clock) = start();
        cache.look("a", clock.at(0));
        cache.fetched(keys(&["a"]), None, clock.at(0));
        let mut requests = 0;
        for second in 100..600 {
            if let Step::Use { refresh: true, .. } = cache.look("a", clock.at(second)) {
                requests += 1;
                cache.failed(clock.at(second));
            }
        }
        assert_eq!(requests, 1 + 1 + 1 + 11, "after 10, 20, and then each 40 seconds");
        assert!(matches!(cache.peek("a", clock.at(600)), Step::Unavailable));
        assert!(matches!(cache.look("a", clock.at(700)), Step::Wait { begin: true }));
        cache.fetched(keys(&["b"]), None, clock.at(700));
        assert!(matches!(cache.peek("a", clock.at(700)), Step::Unknown));
    }

    #[test]
    fn while_the_source_is_away_an_unknown_key_may_be_a_new_one() {
        let (mut cache, clock) = start();
        assert!(matches!(cache.look("a", clock.at(0)), Step::Wait { begin: true }));
        cache.failed(clock.at(0));
        assert!(matches!(cache.look("a", clock.at(1)), Step::Unavailable));
        assert!(matches!(cache.look("a", clock.at(10)), Step::Wait { begin: true }));
        cache.fetched(keys(&["a"]), None, clock.at(10));
        assert!(matches!(cache.look("b", clock.at(20)), Step::Wait { begin: true }));
        cache.failed(clock.at(20));
        assert!(matches!(cache.look("b", clock.at(21)), Step::Unavailable));
    }
}
