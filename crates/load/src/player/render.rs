//! Renders templates for one user, and evaluates the conditions and expressions that use them.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicU64, Ordering};

use super::client::Client;
use super::clock::Clock;
use super::options::Share;
use crate::scenario::plan::{Comparison, Condition, Expression, Feeder, FeederId, Plan};
use crate::scenario::template::{Part, Template};

/// Maximum length of filler or padding in a template, so that a distribution with a long tail cannot exhaust memory.
const FILLER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Number sequences that all users share; they are unique across machines.
#[derive(Debug)]
pub(crate) struct Numbers {
    sequences: Vec<AtomicU64>,
    unique: AtomicU64,
    /// Number of rows of each feeder that have been handed out.
    rows: Vec<AtomicU64>,
    machine: u64,
    machines: u64,
}

impl Numbers {
    pub(crate) fn new(plan: &Plan, share: &Share) -> Self {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            sequences: zeros(usize::from(plan.sequences)),
            unique: AtomicU64::new(0),
            rows: zeros(plan.feeders.len()),
            machine: share.index as u64,
            machines: share.weights.len() as u64,
        }
    }

    /// Returns the next number of a sequence, from 1. Every machine counts in steps of the number of machines.
    fn sequence(&self, index: u16) -> u64 {
        let next = self.sequences.get(usize::from(index));
        let before = next.map_or(0, |next| next.fetch_add(1, Ordering::Relaxed));
        before * self.machines + self.machine + 1
    }

    /// Returns the next unique number, from 0, in the same way.
    fn unique(&self) -> u64 {
        self.unique.fetch_add(1, Ordering::Relaxed) * self.machines + self.machine
    }

    /// Returns a feeder's next row, in the same way: machines share the rows.
    fn next_row(&self, feeder: FeederId) -> u64 {
        let next = self.rows.get(usize::from(feeder.0));
        next.map_or(0, |next| next.fetch_add(1, Ordering::Relaxed)) * self.machines + self.machine
    }
}

/// What a template may refer to, apart from its user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) numbers: &'a Numbers,
    pub(crate) feeders: &'a [Feeder],
    pub(crate) target_host: &'a str,
    pub(crate) clock: Clock,
    /// Inserted where the template has a stamp; empty if the message gets none.
    pub(crate) stamp: &'a [u8],
}

impl Scene<'_> {
    /// Renders a template as text.
    pub(crate) fn text(&self, template: &Template, client: &mut Client) -> String {
        let mut out = Vec::new();
        self.render(template, client, &mut out);
        // Every part is text, so this cannot fail.
        String::from_utf8(out).unwrap_or_default()
    }

    /// Appends a rendered template.
    pub(crate) fn render(&self, template: &Template, client: &mut Client, out: &mut Vec<u8>) {
        let start = out.len();
        let mut padding = None;
        for part in &template.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Variable(variable) => out.extend_from_slice(client.variable(*variable).as_bytes()),
                Part::JsonVariable(variable) => append_json(out, client.variable(*variable)),
                Part::UserGroup(count) => append_number(out, u64::from(client.user) % (*count).max(1)),
                Part::UserId => append_number(out, u64::from(client.user)),
                Part::UniqueId => append_number(out, self.numbers.unique()),
                Part::Sequence(index) => append_number(out, self.numbers.sequence(*index)),
                Part::Number(distribution) => {
                    append_number(out, distribution.sample_whole(&mut client.rng));
                }
                Part::Filler(length) => {
                    let length = length.sample_whole(&mut client.rng).min(FILLER_BYTES_MAX);
                    client.rng.append_alphanumeric(length as usize, out);
                }
                Part::Stamp => out.extend_from_slice(self.stamp),
                Part::PadTo(length) => padding = Some((out.len(), length)),
                Part::NowMs => append_number(out, self.clock.unix_ms(self.clock.now())),
                Part::TargetHost => out.extend_from_slice(self.target_host.as_bytes()),
            }
        }
        if let Some((place, length)) = padding {
            let wanted = length.sample_whole(&mut client.rng).min(FILLER_BYTES_MAX) as usize;
            let missing = wanted.saturating_sub(out.len() - start);
            let tail = out.split_off(place);
            client.rng.append_alphanumeric(missing, out);
            out.extend_from_slice(&tail);
        }
    }

    /// Returns whether a condition holds.
    pub(crate) fn holds(&self, condition: &Condition, client: &mut Client) -> bool {
        let left = self.text(&condition.left, client);
        match &condition.comparison {
            Comparison::Matches(regex) => return regex.is_match(&left),
            Comparison::DoesNotMatch(regex) => return !regex.is_match(&left),
            Comparison::Equal
            | Comparison::NotEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual
            | Comparison::Less
            | Comparison::LessOrEqual => {}
        }
        let right = self.text(&condition.right, client);
        compares(&left, &condition.comparison, &right)
    }

    /// Evaluates an expression.
    pub(crate) fn value(&self, expression: &Expression, client: &mut Client) -> String {
        match expression {
            Expression::Text(template) => self.text(template, client),
            Expression::Sum(left, right) => {
                let number = |text: String| text.trim().parse::<f64>().unwrap_or_default();
                let sum = number(self.text(left, client)) + number(self.text(right, client));
                sum.to_string()
            }
            Expression::Draw(distribution) => distribution.sample(&mut client.rng).to_string(),
            Expression::RandomText(length) => {
                let mut text = Vec::new();
                client.rng.append_alphanumeric(*length as usize, &mut text);
                String::from_utf8(text).unwrap_or_default()
            }
            Expression::FeederRow(feeder) => self.advance_row(*feeder, client).to_string(),
            Expression::FeederColumn(feeder, column) => self.column(*feeder, *column, client),
            Expression::OneOf(templates) => {
                let weights = templates.iter().map(|(weight, _)| *weight);
                let Some(place) = crate::draw::choose(weights, &mut client.rng) else { return String::new() };
                self.text(&templates[place].1, client)
            }
        }
    }

    fn advance_row(&self, id: FeederId, client: &mut Client) -> u32 {
        let Some(feeder) = self.feeders.get(usize::from(id.0)) else { return 0 };
        let count = (feeder.rows.len() as u64).max(1);
        let row = match feeder.random {
            true => client.rng.below(count),
            false => self.numbers.next_row(id) % count,
        } as u32;
        let rows = &mut client.rare_mut().rows;
        let place = usize::from(id.0);
        if rows.len() <= place {
            rows.resize(place + 1, None);
        }
        rows[place] = Some(row);
        row
    }

    fn column(&self, id: FeederId, column: u16, client: &mut Client) -> String {
        let current = client.rare.as_ref().and_then(|rare| *rare.rows.get(usize::from(id.0))?);
        let row = current.unwrap_or_else(|| self.advance_row(id, client)) as usize;
        let feeder = self.feeders.get(usize::from(id.0));
        feeder.and_then(|feeder| feeder.rows.get(row)?.get(usize::from(column)).cloned()).unwrap_or_default()
    }
}

fn compares(left: &str, comparison: &Comparison, right: &str) -> bool {
    let numbers = left.trim().parse::<f64>().ok().zip(right.trim().parse::<f64>().ok());
    let order = match numbers {
        Some((left, right)) => left.partial_cmp(&right),
        None => Some(left.cmp(right)),
    };
    match comparison {
        Comparison::Equal => order == Some(Order::Equal),
        Comparison::NotEqual => order != Some(Order::Equal),
        Comparison::Greater => order == Some(Order::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Order::Greater | Order::Equal)),
        Comparison::Less => order == Some(Order::Less),
        Comparison::LessOrEqual => matches!(order, Some(Order::Less | Order::Equal)),
        Comparison::Matches(regex) => regex.is_match(left),
        Comparison::DoesNotMatch(regex) => !regex.is_match(left),
    }
}

/// Appends the inside of a JSON string (RFC 8259, section 7).
fn append_json(out: &mut Vec<u8>, text: &str) {
    // Any text can be represented as a JSON string with quotes.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    out.extend_from_slice(inside.unwrap_or_default().as_bytes());
}

fn append_number(out: &mut Vec<u8>, number: u64) {
    use std::io::Write as _;
    // Writing to memory cannot fail.
    drop(write!(out, "{number}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_as_numbers_where_both_are() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        for (left, comparison, right, expected) in [
            ("10", Greater, "9", true),
            ("b10", Greater, "b9", false),
            ("1.0", Equal, "1", true),
            ("1.0", NotEqual, "one", true),
            (" 2 ", LessOrEqual, "2", true),
            ("2", Less, "2", false),
            ("2", GreaterOrEqual, "2", true),
            ("", Equal, "", true),
        ] {
            assert_eq!(compares(left, &comparison, right), expected, "{left} {comparison:?} {right}");
        }
    }

    #[test]
    fn text_is_escaped_for_json() {
        for (text, expected) in [("", ""), ("a\"b\\", r#"a\"b\\"#), ("\"", r#"\""#), ("\n", r"\n")] {
            let mut out = b"before:".to_vec();
            append_json(&mut out, text);
            assert_eq!(String::from_utf8_lossy(&out), format!("before:{expected}"));
        }
    }
}
