//! Cache of recent answers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::question::{Question, Verdict};

/// A bounded cache of answers, each with its own expiry.
pub(super) struct Answers {
    answers_max: usize,
    answers: HashMap<Arc<Question>, (Instant, Verdict)>,
    by_end: BTreeSet<(Instant, Arc<Question>)>,
}

impl Answers {
    pub(super) fn new(answers_max: usize) -> Self {
        Answers { answers_max, answers: HashMap::new(), by_end: BTreeSet::new() }
    }

    pub(super) fn of(&self, question: &Question, now: Instant) -> Option<&Verdict> {
        self.answers.get(question).filter(|(end, _)| now < *end).map(|(_, verdict)| verdict)
    }

    /// Caches an answer until `end`. At the limit, expired answers are evicted first, then the one that expires next.
    pub(super) fn remember(&mut self, question: &Question, verdict: Verdict, end: Instant, now: Instant) {
        self.remove(question);
        while self
            .by_end
            .first()
            .is_some_and(|(end, _)| *end <= now || self.answers.len() >= self.answers_max)
        {
            if let Some((_, question)) = self.by_end.pop_first() {
                self.answers.remove(&question);
            }
        }
        if now < end && self.answers.len() < self.answers_max {
            let question = Arc::new(question.clone());
            self.by_end.insert((end, question.clone()));
            self.answers.insert(question, (end, verdict));
        }
    }

    /// Removes all answers about one person.
    pub(super) fn forget(&mut self, person: &str) {
        self.by_end.retain(|(_, question)| question.person != person);
        self.answers.retain(|question, _| question.person != person);
    }

    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    fn remove(&mut self, question: &Question) {
        if let Some((question, (end, _))) = self.answers.remove_entry(question) {
            self.by_end.remove(&(end, question));
        }
    }
}
