//! Compiles control flow, variables and barriers.

use std::sync::Arc;

use super::super::plan::{
    Action, Comparison, Condition, Expression, Extractor, Loop, Step, Target, VariableId,
};
use super::super::source::{self, Operator};
use super::super::template::Template;
use super::Compiler;
use super::templates::least;

/// Maximum length of one `random_text`, in characters.
const RANDOM_TEXT_MAX: u32 = 1024 * 1024;

impl Compiler<'_> {
    pub(super) fn repeat(&mut self, written: &source::Loop, targets: &[Target]) -> Loop {
        if let Some(times) = written.times
            && least(times.0).is_some_and(|least| least < 0.0)
        {
            self.complain_at("times", "0 or more");
        }
        if written.while_.is_some() && written.until.is_some() {
            self.complain("a loop has `while` or `until`, not both");
        }
        let condition = match (&written.while_, &written.until) {
            (Some(condition), _) => Some(self.within("while", |compiler| compiler.condition(condition))),
            (None, Some(condition)) => {
                let opposite =
                    source::Condition { operator: condition.operator.opposite(), ..condition.clone() };
                Some(self.within("until", |compiler| compiler.condition(&opposite)))
            }
            (None, None) => None,
        };
        if written.steps.is_empty() {
            self.complain_at("steps", "a loop without steps would never rest");
        }
        Loop {
            times: written.times.map(|times| times.0),
            during: written.during.map(|during| during.0),
            condition,
            at_end: written.until.is_some(),
            counter: written
                .counter
                .as_ref()
                .map(|name| self.within("counter", |compiler| compiler.variable(name))),
            steps: self.steps("steps", &written.steps, targets),
        }
    }

    pub(super) fn condition(&mut self, condition: &source::Condition) -> Condition {
        let left = self.template(&condition.left);
        let plain = |comparison| (comparison, None);
        let (comparison, pattern) = match condition.operator {
            Operator::Equal => plain(Comparison::Equal),
            Operator::NotEqual => plain(Comparison::NotEqual),
            Operator::Greater => plain(Comparison::Greater),
            Operator::GreaterOrEqual => plain(Comparison::GreaterOrEqual),
            Operator::Less => plain(Comparison::Less),
            Operator::LessOrEqual => plain(Comparison::LessOrEqual),
            Operator::Matches => match regex(self, &condition.right) {
                Some(regex) => (Comparison::Matches(Arc::clone(&regex)), Some(regex)),
                None => plain(Comparison::Equal),
            },
            Operator::DoesNotMatch => match regex(self, &condition.right) {
                Some(regex) => (Comparison::DoesNotMatch(Arc::clone(&regex)), Some(regex)),
                None => plain(Comparison::Equal),
            },
        };
        let right = if pattern.is_some() { Template::default() } else { self.template(&condition.right) };
        Condition { left, comparison, right }
    }

    pub(super) fn choose(&mut self, branches: &[source::Branch], targets: &[Target]) -> Action {
        let compiled = branches.iter().enumerate().map(|(index, branch)| {
            self.within_item(index, |compiler| {
                compiler.check_weight(branch.weight);
                (branch.weight, compiler.steps("steps", &branch.steps, targets))
            })
        });
        let compiled = compiled.collect();
        self.check_weights(branches.iter().map(|branch| branch.weight));
        Action::Choose(compiled)
    }

    /// Returns one `Set` action for each variable.
    pub(super) fn set(&mut self, variables: &source::Named<source::Expression>) -> Vec<Action> {
        let actions = variables.0.iter().map(|(name, expression)| {
            self.within(name, |compiler| {
                let variable = compiler.variable(name);
                Action::Set(variable, compiler.expression(expression))
            })
        });
        actions.collect()
    }

    fn expression(&mut self, expression: &source::Expression) -> Expression {
        match expression {
            source::Expression::Text(text) => Expression::Text(self.template(text)),
            source::Expression::Sum([first, second]) => {
                Expression::Sum(self.template_at("sum", first), self.template_at("sum", second))
            }
            source::Expression::Draw(numbers) => Expression::Draw(numbers.0),
            source::Expression::RandomText(length) => {
                if *length > RANDOM_TEXT_MAX {
                    self.complain_at("random_text", format!("at most {RANDOM_TEXT_MAX} letters"));
                }
                Expression::RandomText(*length)
            }
            source::Expression::OneOf(choices) => self.within("one_of", |compiler| {
                let templates = choices.iter().enumerate().map(|(index, choice)| {
                    compiler.within_item(index, |compiler| {
                        compiler.check_weight(choice.weight);
                        (choice.weight, compiler.template_at("value", &choice.value))
                    })
                });
                let templates = templates.collect();
                compiler.check_weights(choices.iter().map(|choice| choice.weight));
                Expression::OneOf(templates)
            }),
        }
    }

    pub(super) fn capture(&mut self, variables: &source::Named<source::Extractor>) -> Vec<Action> {
        let actions = variables.0.iter().filter_map(|(name, extractor)| {
            self.within(name, |compiler| {
                let variable = compiler.variable(name);
                let extractor = compiler.extractor(extractor)?;
                Some(Action::Capture(variable, extractor))
            })
        });
        actions.collect()
    }

    fn extractor(&mut self, extractor: &source::Extractor) -> Option<Extractor> {
        match extractor {
            source::Extractor::JsonPath(path) => match serde_json_path::JsonPath::parse(path) {
                Ok(path) => Some(Extractor::JsonPath(Arc::new(path))),
                Err(error) => {
                    let message =
                        format!("`{path}` is not a JSONPath: {error} (at character {})", error.position());
                    self.complain_at("jsonpath", message);
                    None
                }
            },
            source::Extractor::Regex(pattern) => {
                self.within("regex", |compiler| regex(compiler, pattern)).map(Extractor::Regex)
            }
            source::Extractor::Header(name) => Some(Extractor::Header(name.clone())),
        }
    }

    pub(super) fn barrier(&mut self, barrier: &source::Barrier) -> Action {
        if barrier.users == Some(0) {
            self.complain_at("users", "at least 1");
        }
        Action::Barrier {
            barrier: self.names.barrier(&barrier.name),
            users: barrier.users,
            timeout: barrier.timeout.0,
        }
    }

    /// Returns the variable that this step assigns.
    fn variable(&mut self, name: &str) -> VariableId {
        self.check_name(name);
        if self.names.feeders.iter().any(|feeder| feeder.name == name) {
            self.complain(format!("`{name}` is a feeder already"));
        }
        self.names.variable(name)
    }
}

/// Compiles a regular expression; reports a problem if it is invalid.
pub(super) fn regex(compiler: &mut Compiler<'_>, pattern: &str) -> Option<Arc<regex::Regex>> {
    match regex::Regex::new(pattern) {
        Ok(regex) => Some(Arc::new(regex)),
        Err(error) => {
            // The first lines of the error draw the pattern; the last one gives the reason.
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            compiler.complain(format!("`{pattern}` is not a regular expression: {reason}"));
            None
        }
    }
}

/// Returns a step without a label.
pub(super) fn unlabelled(action: Action) -> Step {
    Step { label: None, action }
}
