//! `for`, `foreach` and `repeat`.

use super::document::Element;
use super::sessions::SessionReader;
use crate::draw::Distribution;
use crate::scenario::source::{Action, Condition, Expression, If, Loop, Numbers, Operator, Step};

impl SessionReader<'_, '_> {
    /// Translates a `for`. It checks at the end of each round whether the variable has reached `to`, so it runs at
    /// least one round.
    pub(super) fn count_loop(&mut self, element: Element<'_>) -> Vec<Step> {
        let variable = self.findings.required(element, "var");
        let (from, to) = (self.findings.required(element, "from"), self.findings.required(element, "to"));
        let step = match element.attribute("incr") {
            None => Some(1),
            Some(_) => self.findings.count(element, "incr"),
        };
        let (Some(variable), Some(from), Some(to), Some(step)) = (variable, from, to, step) else {
            return self.nested_steps(element);
        };
        if from.starts_with("%%") || to.starts_with("%%") {
            return self.dynamic_loop(element, variable, step);
        }
        let bounds = (self.findings.whole(element, "from"), self.findings.whole(element, "to"));
        let (Some(first), Some(last)) = bounds else { return self.nested_steps(element) };
        let rounds = last.saturating_sub(first).div_ceil(step).saturating_add(1);
        self.findings.supported(element, format!("a loop of {rounds} rounds"));
        let mut looping = Loop { times: Some(times(rounds)), ..Loop::default() };
        if !self.used.contains(variable) {
            looping.steps = self.nested_steps(element);
            return looped(looping, Vec::new());
        }
        let name = self.variables.write(variable);
        looping.steps = self.nested_steps(element);
        if first == 1 && step == 1 {
            looping.counter = Some(name);
            return looped(looping, Vec::new());
        }
        let next = self.sum(variable, step);
        looping.steps.push(set(&name, next));
        looped(looping, vec![set(&name, Expression::Text(first.to_string()))])
    }

    /// Translates a `for` whose bounds are variables.
    fn dynamic_loop(&mut self, element: Element<'_>, variable: &str, step: u64) -> Vec<Step> {
        let text = |name| element.attribute(name).unwrap_or_default();
        let from = self.template(element, Some("from"), text("from"), true);
        let to = self.template(element, Some("to"), text("to"), true);
        self.findings.supported(element, "a loop that counts in a variable");
        let name = self.variables.write(variable);
        let begin = set(&name, Expression::Text(from));
        let mut steps = self.nested_steps(element);
        steps.push(set(&name, self.sum(variable, step)));
        // The sum is one step ahead of the completed round.
        let ahead = format!("{name}_end");
        let last = self.variables.write(&ahead);
        let end = set(&last, Expression::Sum([to, step.to_string()]));
        let left = self.variables.read(variable);
        let until =
            Condition { left, operator: Operator::GreaterOrEqual, right: self.variables.read(&ahead) };
        looped(Loop { until: Some(until), steps, ..Loop::default() }, vec![begin, end])
    }

    fn sum(&mut self, variable: &str, step: u64) -> Expression {
        Expression::Sum([self.variables.read(variable), step.to_string()])
    }

    /// Translates a `foreach`. Lists are not kept, so it has one round with the first value, if there is any.
    pub(super) fn each_loop(&mut self, element: Element<'_>) -> Option<Step> {
        let name = self.findings.required(element, "name");
        let list = self.findings.required(element, "in");
        let (name, list) = (name?, list?);
        let left = self.variables.read(list);
        let why = "a variable has one value: the body is done once with it, unless it is empty";
        self.findings.approximated(element, None, format!("each of {list}"), why);
        let value = set(&self.variables.write(name), Expression::Text(left.clone()));
        let mut steps = self.nested_steps(element);
        if steps.is_empty() {
            return None;
        }
        steps.insert(0, value);
        for (attribute, operator) in [("include", Operator::Matches), ("exclude", Operator::DoesNotMatch)] {
            let Some(pattern) = element.attribute(attribute) else { continue };
            if self.is_regex(element, Some(attribute), pattern) {
                let condition = Condition { left: left.clone(), operator, right: pattern.to_owned() };
                steps = vec![branch(condition, steps)];
            }
        }
        let any = Condition { left, operator: Operator::NotEqual, right: String::new() };
        Some(branch(any, steps))
    }

    /// Translates a `repeat`, which checks at its end; `max_repeat` counts the rounds after the first.
    pub(super) fn repeat_loop(&mut self, element: Element<'_>) -> Vec<Step> {
        let name = self.findings.required(element, "name");
        let repeats = self.findings.whole(element, "max_repeat").unwrap_or(20);
        let counter = name.filter(|name| self.used.contains(name)).map(|name| self.variables.write(name));
        let steps = self.nested_steps(element);
        let ends: Vec<Element<'_>> =
            element.children().filter(|child| matches!(child.name(), "while" | "until")).collect();
        let [end] = ends.as_slice() else {
            self.findings.problem(element, None, "a repeat ends with one `while` or `until`", None);
            return Vec::new();
        };
        let Some(condition) = self.condition(*end) else { return Vec::new() };
        let until = if end.name() == "until" {
            condition
        } else {
            Condition { operator: condition.operator.opposite(), ..condition }
        };
        self.findings.supported(*end, format!("until {until}"));
        let rounds = repeats.saturating_add(1);
        self.findings.supported(element, format!("a loop of at most {rounds} rounds"));
        let looping =
            Loop { times: Some(times(rounds)), until: Some(until), counter, steps, ..Loop::default() };
        looped(looping, Vec::new())
    }
}

fn times(rounds: u64) -> Numbers {
    Numbers(Distribution::Constant(rounds as f64))
}

fn set(name: &str, expression: Expression) -> Step {
    Action::Set([(name, expression)].into_iter().collect()).into()
}

fn branch(condition: Condition, then: Vec<Step>) -> Step {
    Action::If(If { condition, then, otherwise: Vec::new() }).into()
}

/// Returns a loop after the steps that must precede it; nothing if the loop has no steps.
fn looped(looping: Loop, before: Vec<Step>) -> Vec<Step> {
    if looping.steps.is_empty() {
        return Vec::new();
    }
    before.into_iter().chain([Action::Loop(looping).into()]).collect()
}
