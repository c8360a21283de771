//! Tracks pending requests and who waits for them, as a pure state machine.

use std::collections::HashMap;
use std::time::Instant;

use super::answers::Answers;
use super::breaker::{Attempt, Breaker};
use super::question::{Answer, Question, Verdict};
use super::settings::AuthorizerSettings;

/// Counters of one community's questions since its authorizer started, and the current state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthorizerCounts {
    /// Requests that were started.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Questions that were answered from the cache.
    pub remembered: u64,
    /// Questions that joined a pending request.
    pub joined: u64,
    /// Questions that were not sent, because the circuit breaker is open or too many requests were pending.
    pub unasked: u64,
    /// Pending requests.
    pub under_way: usize,
    /// Cached answers.
    pub answers: usize,
    /// Whether the circuit breaker is open.
    pub left_alone: bool,
}

/// What to do about a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: this is the answer.
    Known(Verdict),
    /// Send this request, and report how it ends.
    Send(Request),
    /// Nothing: a request for it is pending.
    Wait,
}

/// A pending request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request(u64);

/// The state machine. `W` is a waiter for an answer.
pub(super) struct Asking<W> {
    settings: AuthorizerSettings,
    answers: Answers,
    breaker: Breaker,
    under_way: HashMap<Request, UnderWay<W>>,
    /// The requests that further questions may join. Requests about a person who was forgotten in the meantime are not
    /// among them: their answers may be outdated.
    joinable: HashMap<Question, Request>,
    waiting: usize,
    counts: AuthorizerCounts,
}

struct UnderWay<W> {
    question: Question,
    attempt: Attempt,
    waiters: Vec<W>,
}

impl<W> Asking<W> {
    pub(super) fn new(settings: AuthorizerSettings) -> Self {
        let breaker = Breaker::new(settings.failures_max, settings.pause_min, settings.pause_max);
        Asking {
            settings,
            answers: Answers::new(settings.answers_max),
            breaker,
            under_way: HashMap::new(),
            joinable: HashMap::new(),
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
        let joined = self.joinable.get(question).and_then(|request| self.under_way.get_mut(request));
        if let Some(under_way) = joined.filter(|_| room) {
            under_way.waiters.push(waiter);
            self.waiting += 1;
            self.counts.joined += 1;
            return Step::Wait;
        }
        let full = !room || self.under_way.len() >= self.settings.questions_max;
        let Some(attempt) = (!full).then(|| self.breaker.admits(now)).flatten() else {
            self.counts.unasked += 1;
            return Step::Known(self.settings.failing.verdict());
        };
        self.waiting += 1;
        self.counts.requests += 1;
        // Unique, because the number of requests only grows.
        let request = Request(self.counts.requests);
        self.joinable.insert(question.clone(), request);
        let under_way = UnderWay { question: question.clone(), attempt, waiters: vec![waiter] };
        self.under_way.insert(request, under_way);
        Step::Send(request)
    }

    /// Handles the end of a request, with or without an answer. Returns the verdict and the waiters to notify.
    pub(super) fn answered(
        &mut self,
        request: Request,
        answer: Option<Answer>,
        now: Instant,
        random: u32,
    ) -> (Verdict, Vec<W>) {
        let failing = self.settings.failing.verdict();
        let Some(UnderWay { question, attempt, waiters }) = self.under_way.remove(&request) else {
            return (failing, Vec::new());
        };
        let is_of_now = self.joinable.get(&question) == Some(&request);
        if is_of_now {
            self.joinable.remove(&question);
        }
        self.waiting -= waiters.len();
        let Some(answer) = answer else {
            self.counts.failures += 1;
            self.breaker.failed(attempt, now, random);
            return (failing, waiters);
        };
        self.breaker.succeeded();
        let ttl = answer.ttl.min(self.settings.answer_time_max);
        let verdict = Verdict::from(answer);
        if is_of_now {
            self.answers.remember(&question, verdict.clone(), now + ttl, now);
        }
        (verdict, waiters)
    }

    pub(super) fn forget(&mut self, person: &str) {
        self.answers.forget(person);
        self.joinable.retain(|question, _| question.person != person);
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

    use super::{Asking, Request, Step};
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

    /// Asks, and asserts that a request is to be sent.
    fn send(asking: &mut Asking<u32>, person: &str, waiter: u32, now: Instant) -> Request {
        match asking.ask(&question(person), waiter, now) {
            Step::Send(request) => request,
            step @ (Step::Known(_) | Step::Wait) => panic!("{person}: {step:?}"),
        }
    }

    #[test]
    fn equal_questions_are_one_request() {
        let (mut asking, start) = start();
        let of_ann = send(&mut asking, "ann", 1, start);
        assert_eq!(asking.ask(&question("ann"), 2, start), Step::Wait);
        let of_bob = send(&mut asking, "bob", 3, start);
        assert_eq!(asking.answered(of_ann, allowed(0), start, 0), (Verdict::Allowed, vec![1, 2]));
        assert_eq!(asking.answered(of_bob, None, start, 0), (Verdict::Unavailable, vec![3]));
        // An answer with a ttl of 0 is not cached.
        send(&mut asking, "ann", 4, start);
        let counts = asking.counts();
        assert_eq!((counts.requests, counts.joined, counts.failures, counts.under_way), (3, 1, 1, 1));
    }

    #[test]
    fn answers_are_remembered_as_long_as_they_say_within_bounds() {
        for (ttl, seconds) in [(7, 7), (100, 100), (u64::MAX, 100)] {
            let (mut asking, start) = start();
            let request = send(&mut asking, "ann", 1, start);
            asking.answered(request, allowed(ttl), start, 0);
            assert_eq!(
                asking.ask(&question("ann"), 2, after(start, seconds - 1)),
                Step::Known(Verdict::Allowed)
            );
            send(&mut asking, "ann", 2, after(start, seconds));
        }
    }

    #[test]
    fn what_ends_first_makes_room() {
        let (mut asking, start) = start();
        for (person, ttl) in [("ann", 9), ("bob", 5), ("cid", 7)] {
            let request = send(&mut asking, person, 1, start);
            asking.answered(request, allowed(ttl), start, 0);
        }
        assert_eq!(asking.counts().answers, 2);
        assert_eq!(asking.ask(&question("ann"), 1, start), Step::Known(Verdict::Allowed));
        send(&mut asking, "bob", 1, start);
        assert_eq!(asking.ask(&question("cid"), 1, start), Step::Known(Verdict::Allowed));
    }

    #[test]
    fn a_person_who_is_forgotten_is_asked_for_anew() {
        let (mut asking, start) = start();
        let of_ann = send(&mut asking, "ann", 1, start);
        asking.answered(of_ann, allowed(50), start, 0);
        let of_bob = send(&mut asking, "bob", 1, start);
        asking.forget("ann");
        asking.forget("bob");
        asking.answered(of_bob, allowed(50), start, 0);
        send(&mut asking, "ann", 2, start);
        // The answer on its way may be outdated.
        send(&mut asking, "bob", 2, start);
    }

    #[test]
    fn a_question_after_the_person_was_forgotten_does_not_take_the_answer_to_one_before() {
        for old_comes_first in [true, false] {
            let (mut asking, start) = start();
            let old = send(&mut asking, "ann", 1, start);
            asking.forget("ann");
            let new = send(&mut asking, "ann", 2, start);
            assert_eq!(asking.ask(&question("ann"), 3, start), Step::Wait);
            let denied = Some(Answer { allow: false, reason: None, ttl: Duration::from_secs(50) });
            let mut ends = [
                (old, allowed(50), Verdict::Allowed, vec![1]),
                (new, denied, Verdict::Denied { reason: None }, vec![2, 3]),
            ];
            if !old_comes_first {
                ends.reverse();
            }
            for (request, answer, verdict, waiters) in ends {
                assert_eq!(asking.answered(request, answer, start, 0), (verdict, waiters));
            }
            let known = Step::Known(Verdict::Denied { reason: None });
            assert_eq!(asking.ask(&question("ann"), 4, start), known);
            assert_eq!(asking.counts().under_way, 0);
        }
    }

    #[test]
    fn a_site_that_fails_is_left_alone_and_tried_by_one_request() {
        let (mut asking, start) = start();
        for _ in 0..2 {
            let request = send(&mut asking, "ann", 1, start);
            asking.answered(request, None, start, u32::MAX);
        }
        let unavailable = Step::Known(Verdict::Unavailable);
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 9)), unavailable);
        assert!(asking.counts().left_alone);
        let trial = send(&mut asking, "ann", 1, after(start, 10));
        assert_eq!(asking.ask(&question("bob"), 1, after(start, 10)), unavailable);
        asking.answered(trial, None, after(start, 10), 0);
        assert_eq!(asking.ask(&question("ann"), 1, after(start, 19)), unavailable, "half of 20 seconds");
        let trial = send(&mut asking, "ann", 1, after(start, 20));
        asking.answered(trial, allowed(0), after(start, 20), 0);
        assert!(!asking.counts().left_alone);
        send(&mut asking, "bob", 1, after(start, 20));
    }

    #[test]
    fn what_was_under_way_when_a_pause_began_does_not_lengthen_it_or_end_its_trial() {
        let (mut asking, start) = start();
        let [first, second, third] = ["ann", "bob", "cid"].map(|person| send(&mut asking, person, 1, start));
        for request in [first, second] {
            asking.answered(request, None, start, u32::MAX);
        }
        let unavailable = Step::Known(Verdict::Unavailable);
        let trial = send(&mut asking, "ann", 1, after(start, 10));
        asking.answered(third, None, after(start, 10), u32::MAX);
        assert_eq!(asking.ask(&question("bob"), 1, after(start, 10)), unavailable, "one tries already");
        asking.answered(trial, None, after(start, 10), u32::MAX);
        assert_eq!(asking.ask(&question("bob"), 1, after(start, 29)), unavailable);
        // Twice ten seconds later, and not four times.
        send(&mut asking, "bob", 1, after(start, 30));
    }

    #[test]
    fn what_does_not_fit_is_not_asked() {
        let (mut asking, start) = start();
        for person in ["ann", "bob", "cid"] {
            send(&mut asking, person, 1, start);
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
        let request = send(&mut asking, "ann", 1, start);
        let (verdict, _) = asking.answered(request, None, start, 0);
        assert_eq!(verdict, Verdict::AllowedUnasked);
        assert!(verdict.is_allowed());
    }
}
