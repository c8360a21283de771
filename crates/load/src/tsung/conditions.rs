//! `if`, `while` and `until`: compare a variable with a value.

use super::document::Element;
use super::sessions::SessionReader;
use crate::scenario::source::{Action, Condition, If, Operator, Step};

const COMPARISONS: [(&str, Operator); 6] = [
    ("eq", Operator::Equal),
    ("neq", Operator::NotEqual),
    ("gt", Operator::Greater),
    ("gte", Operator::GreaterOrEqual),
    ("lt", Operator::Less),
    ("lte", Operator::LessOrEqual),
];

impl SessionReader<'_, '_> {
    pub(super) fn branch(&mut self, element: Element<'_>) -> Option<Step> {
        let condition = self.condition(element);
        let then = self.nested_steps(element);
        let condition = condition?;
        self.findings.supported(element, format!("if {condition}"));
        (!then.is_empty()).then(|| Action::If(If { condition, then, otherwise: Vec::new() }).into())
    }

    /// Returns the condition of an element. Values may contain variables as `%%_name%%`.
    pub(super) fn condition(&mut self, element: Element<'_>) -> Option<Condition> {
        let variable = self.findings.required(element, "var");
        let mut given = COMPARISONS
            .iter()
            .filter_map(|(name, operator)| element.attribute(name).map(|value| (*name, *operator, value)));
        let (Some((attribute, operator, value)), None) = (given.next(), given.next()) else {
            let message = "a condition has exactly one of eq, neq, gt, gte, lt, lte";
            self.findings.problem(element, None, message, None);
            return None;
        };
        let left = self.variables.read(variable?);
        let right = self.template(element, Some(attribute), value, true);
        Some(Condition { left, operator, right })
    }
}
