//! Who waits for which answer, as a pure state machine.

use std::collections::HashMap;
use std::time::Instant;

use super::AuthorizerSettings;
use super::answers::Answers;
use super::breaker::Breaker;
use super::question::{Answer, Question, Verdict};

/// What became of the questions of one community, since its authorizer began; and what is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthorizerCounts {
    /// Requests that were begun.
    pub requests: u64,
    /// Requests that came to nothing.
    pub failures: u64,
    /// Questions that were answered from memory.
    pub remembered: u64,
    /// Questions that joined a request under way.
    pub joined: u64,
    /// Questions that were not asked, because the site is left alone, or too many were under way.
    pub unasked: u64,
    /// Different questions under way.
    pub under_way: usize,
    /// Answers in memory.
    pub answers: usize,
    /// Whether the site is left alone now.
    pub left_alone: bool,
}

/// What is to be done for a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: this is the answer.
    Known(Verdict),
    /// Send a request, and tell its end.
    Send,
    /// Nothing: a request is under way.
    Wait,
}

/// `W` is who is told.
pub(super) struct Asking<W> {
    settings: AuthorizerSettings,
    answers: Answers,
    breaker: Breaker,
    under_way: HashMap<Question, UnderWay<W>>,
    waiting: usize,
    counts: AuthorizerCounts,
}

struct UnderWay<W> {
    waiters: Vec<W>,
    /// The person's rights have changed since: the answer may be the old one.
    outdated: bool,
}

impl<W> Asking<W> {
    pub(super) fn new(settings: AuthorizerSettings) -> Self {
        let breaker = Breaker::new(settings.failures_max, settings.pause_min, settings.pause_max);
        Asking {
            settings,
            answers: Answers::new(settings.answers_max),
            breaker,
            under_way: HashMap::new(),
            waiting: 0,
            counts: AuthorizerCounts::default(),
        }
    }

    pub(super) fn ask(&mut self, question: &Question, waiter: W, now: Instant) -> Step {
        if let Some(verdict) = self.answers.of(question, now) {
            self.counts.remembered += 1;
            return Step::Known(verdict.clone());
        }
        let room = self.waiting < self.settings.waiting_max;
        if let Some(under_way) = self.under_way.get_mut(question).filter(|_| room) {
            under_way.waiters.push(waiter);
            self.waiting += 1;
            self.counts.joined += 1;
            return Step::Wait;
        }
        if !room || self.under_way.len() >= self.settings.questions_max || !self.breaker.admits(now) {
            self.counts.unasked += 1;
            return Step::Known(self.settings.failing.verdict());
        }
        self.under_way.insert(question.clone(), UnderWay { waiters: vec![waiter], outdated: false });
        self.waiting += 1;
        self.counts.requests += 1;
        Step::Send
    }

    /// A request ended, with an answer or without. Returns whom to tell what.
    pub(super) fn answered(
        &mut self,
        question: &Question,
        answer: Option<Answer>,
        now: Instant,
        random: u32,
    ) -> (Verdict, Vec<W>) {
        let UnderWay { waiters, outdated } =
            self.under_way.remove(question).unwrap_or(UnderWay { waiters: Vec::new(), outdated: false });
        self.waiting -= waiters.len();
        let Some(answer) = answer else {
            self.counts.failures += 1;
            self.breaker.failed(now, random);
            return (self.settings.failing.verdict(), waiters);
        };
        self.breaker.succeeded();
        let ttl = answer.ttl.min(self.settings.answer_time_max);
        let verdict = Verdict::from(answer);
        if !outdated {
            self.answers.remember(question, verdict.clone(), now + ttl, now);
        }
        (verdict, waiters)
    }

    pub(super) fn forget(&mut self, person: &str) {
        self.answers.forget(person);
        for (question, under_way) in &mut self.under_way {
            under_way.outdated |= question.person == person;
        }
    }

    pub(super) fn counts(&self) -> AuthorizerCounts {
        AuthorizerCounts {
            under_way: self.under_way.len(),
            answers: self.answers.len(),
            left_alone: self.breaker.is_open(),
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Asking, Step};
    use crate::authorize::{Action, Answer, AuthorizerSettings, Failing, Question, Verdict};

    fn question(person: &str) -> Question {
        Question {
            community: "c".into(),
            person: person.into(),
            action: Action::Join,
            object: "room:c/a".into(),
        }
    }

    fn allowed(ttl_seconds: u64) -> Option<Answer> {
        Some(Answer { allow: true, reason: None, ttl: Duration::from_secs(ttl_seconds) })
    }

    fn settings() -> AuthorizerSettings {
        AuthorizerSettings {
            questions_max: 3,
            waiting_max: 5,
            answers_max: 2,
            answer_time_max: Duration::from_secs(100),
            failures_max: 2,
            pause_min: Duration::from_secs(10),
            pause_max: Duration::from_secs(30),
            ..AuthorizerSettings::default()
        }
    }

    fn start() -> (Asking<u32>, Instant) {
        (Asking::new(settings()), Instant::now())
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn equal_questions_are_one_request() {
        let (mut asking, start) = start();
        assert_eq!(asking.ask(&question("ann"), 1, start), Step::Send);
        assert_eq!(asking.ask(&question("ann"), 2, start), Step::Wait);
        assert_eq!(asking.ask(&question("bob"), 3, start), Step::Send);
        assert_eq!(asking.answered(&question("ann"), allowed(0), start, 0), (Verdict::Allowed, vec![1, 2]));
        assert_eq!(asking.answered(&question("bob"), None, start, 0), (Verdict::Unavailable, vec![3]));
        assert_eq!(asking.ask(&question("ann"), 4, start), Step::Send, "a ttl of 0 is not remembered");
        let counts = asking.counts();
        assert_eq!((counts.requests, counts.joined, counts.failures, counts.under_way), (3, 1, 1, 1));
    }

    #[test]
    fn answers_are_remembered_as_long_as_they_say_within_bounds() {
        for (ttl, seconds) in [(7, 7), (100, 100), (u64::MAX, 100)] {
            let (mut asking, start) = start();
            asking.ask(&question("ann"), 1, start);
            asking.answered(&question("ann"), allowed(ttl), start, 0);
            assert_eq!(
                asking.ask(&question("ann"), 2, after(start, seconds - 1)),
                Step::Known(Verdict::Allowed)
            );
            assert_eq!(asking.ask(&question("ann"), 2, after(start, seconds)), Step::Send);
        }
    }

    #[test]
    fn what_ends_first_makes_room() {
        let (mut asking, start) = start();
        for (person, ttl) in [("ann", 9), ("bob", 5), ("cid", 7)] {
            asking.ask(&question(person), 1, start);
            asking.answered(&question(person), allowed(ttl), start, 0);
        }
        assert_eq!(asking.counts().answers, 2);
        assert_eq!(asking.ask(&question("ann"), 1, start), Step::Known(Verdict::Allowed));
        assert_eq!(asking.ask(&question("bob"), 1, start), Step::Send);
        assert_eq!(asking.ask(&question("cid"), 1, start), Step::Known(Verdict::Allowed));
    }

    #[test]
    fn a_person_who_is_forgotten_is_asked_for_anew() {
        let (mut asking, start) = start();
        asking.ask(&question("ann"), 1, start);
        asking.answered(&question("ann"), allowed(50), start, 0);
        asking.ask(&question("bob"), 1, start);
        asking.forget("ann");
        asking.forget("bob");
        asking.answered(&question("bob"), allowed(50), start, 0);
        assert_eq!(asking.ask(&question("ann"), 2, start), Step::Send);
        assert_eq!(
            asking.ask(&question("bob"), 2, start),
            Step::Send,
            "the answer on its way may be the old one"
        );
    }

    #[test]
    fn a_site_that_fails_is_left_alone_and_tried_by_one_request() {
        let (mut asking, start) = start();
        for _ in 0..2 {
            assert_eq!(asking.ask(&question("ann"), 1, start), Step::Send);
            asking.answered(&question("ann"), None, start, u32::MAX);
        }
        let unavailable = Step::Known(Verdict::Unavailable);
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 9)), unavailable);
        assert!(asking.counts().left_alone);
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 10)), Step::Send);
        assert_eq!(asking.ask(&question("bob"), 1, after(start, 10)), unavailable);
        asking.answered(&question("ann"), None, after(start, 10), 0);
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 19)), unavailable, "half of 20 seconds");
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 20)), Step::Send);
        asking.answered(&question("ann"), allowed(0), after(start, 20), 0);
        assert!(!asking.counts().left_alone);
        assert_eq!(asking.ask(&question("bob"), 1, after(start, 20)), Step::Send);
    }

    #[test]
    fn what_does_not_fit_is_not_asked() {
        let (mut asking, start) = start();
        for person in ["ann", "bob", "cid"] {
            assert_eq!(asking.ask(&question(person), 1, start), Step::Send);
        }
        assert_eq!(asking.ask(&question("dan"), 1, start), Step::Known(Verdict::Unavailable));
        assert_eq!(asking.ask(&question("ann"), 2, start), Step::Wait);
        assert_eq!(asking.ask(&question("ann"), 3, start), Step::Wait);
        assert_eq!(asking.ask(&question("ann"), 4, start), Step::Known(Verdict::Unavailable));
        assert_eq!(asking.counts().unasked, 2);
    }

    #[test]
    fn failing_open_allows() {
        let mut asking = Asking::new(AuthorizerSettings { failing: Failing::Open, ..settings() });
        let start = Instant::now();
        asking.ask(&question("ann"), 1, start);
        let (verdict, _) = asking.answered(&question("ann"), None, start, 0);
        assert_eq!(verdict, Verdict::AllowedUnasked);
        assert!(verdict.is_allowed());
    }
}
