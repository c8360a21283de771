//! Examples of errors from all agents, collected by the controller during the run.

use crate::observe::Examples;
use crate::statistics::ErrorExample;

/// One example per kind, outcome and code: the first that any agent reported. Bounded like the examples of one machine.
#[derive(Debug, Default)]
pub(super) struct GatheredExamples(Vec<ErrorExample>);

impl GatheredExamples {
    /// Keeps examples with a new kind, outcome and code.
    pub(super) fn add(&mut self, told: impl IntoIterator<Item = ErrorExample>) {
        for mut example in told {
            if self.0.len() >= Examples::LEN_MAX {
                return;
            }
            if self.0.iter().all(|known| !is_same(known, &example)) {
                // Agents observe this limit, but the controller does not rely on it.
                example.text.truncate(example.text.floor_char_boundary(Examples::TEXT_BYTES_MAX));
                self.0.push(example);
            }
        }
    }

    /// Keeps an example even beyond the limit; only the controller's own examples may use this.
    pub(super) fn add_own(&mut self, example: ErrorExample) {
        if self.0.iter().all(|known| !is_same(known, &example)) {
            self.0.push(example);
        }
    }

    /// Returns all examples, in order of arrival.
    pub(super) fn all(&self) -> Vec<ErrorExample> {
        self.0.clone()
    }
}

fn is_same(one: &ErrorExample, other: &ErrorExample) -> bool {
    (one.kind, one.outcome, one.code) == (other.kind, other.outcome, other.code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Outcome};

    fn example(code: u16, text: &str) -> ErrorExample {
        ErrorExample { kind: Kind::Http, outcome: Outcome::Rejected, code, text: text.to_owned() }
    }

    #[test]
    fn the_first_of_a_kind_stays_whoever_told_of_it() {
        let mut gathered = GatheredExamples::default();
        gathered.add([example(500, "first"), example(404, "other")]);
        gathered.add([example(500, "second"), example(403, "third")]);
        assert_eq!(gathered.all(), [example(500, "first"), example(404, "other"), example(403, "third")]);
    }

    #[test]
    fn an_agent_that_tells_of_more_and_longer_than_it_should_fills_no_memory() {
        let mut gathered = GatheredExamples::default();
        gathered.add((0..5_000).map(|code| example(code, &"é".repeat(5_000))));
        assert_eq!(gathered.all().len(), Examples::LEN_MAX);
        assert!(gathered.all().iter().all(|example| example.text.len() <= Examples::TEXT_BYTES_MAX));
        let lost = ErrorExample { kind: Kind::Finish, outcome: Outcome::AgentLost, ..example(0, "lost") };
        gathered.add_own(lost.clone());
        gathered.add_own(lost.clone());
        assert_eq!(gathered.all().len(), Examples::LEN_MAX + 1);
        assert_eq!(gathered.all().last(), Some(&lost));
    }
}
