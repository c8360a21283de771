//! Control flow, variables and barriers in their written form.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::drawn::Numbers;
use super::scalar::{InvalidScalar, Time, written_as_a_word};
use super::step::Step;
use super::{is_one_f64, one};

/// Does steps again and again, until the first of what is given ends it; without any, for ever.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// So many times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Numbers>,
    /// No new round begins after so long.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub during: Option<Time>,
    /// As long as this holds, asked before each round. This or `until`.
    #[serde(default, rename = "while", skip_serializing_if = "Option::is_none")]
    pub while_: Option<Condition>,
    /// Until this holds, asked after each round. This or `while`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Condition>,
    /// Variable that counts the rounds, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// What is done.
    pub steps: Vec<Step>,
}

/// Chooses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct If {
    /// What is asked: `"{{status}} == open"`.
    pub condition: Condition,
    /// Done when it holds.
    #[serde(default)]
    pub then: Vec<Step>,
    /// Done when it does not.
    #[serde(default, rename = "else", skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
}

/// One of several ways on, chosen by weight.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Its share by the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
    /// What is done.
    pub steps: Vec<Step>,
}

/// What a variable is set to.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// Text with variables; written without its name, as a scalar.
    Text(String),
    /// Sum of two numbers.
    Sum([String; 2]),
    /// A number drawn.
    Draw(Numbers),
    /// So many random letters and digits.
    RandomText(u32),
    /// One of these, by weight.
    OneOf(Vec<Choice>),
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = "Expression";
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Sum(terms) => serializer.serialize_newtype_variant(named, 1, "sum", terms),
            Self::Draw(numbers) => serializer.serialize_newtype_variant(named, 2, "draw", numbers),
            Self::RandomText(length) => serializer.serialize_newtype_variant(named, 3, "random_text", length),
            Self::OneOf(choices) => serializer.serialize_newtype_variant(named, 4, "one_of", choices),
        }
    }
}

/// A value that may be chosen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Text with variables.
    pub value: String,
    /// Its share by the sum of all weights.
    #[serde(default = "one", skip_serializing_if = "is_one_f64")]
    pub weight: f64,
}

/// How a value is found in the last message or response.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extractor {
    /// RFC 9535, such as `$.user.id`; of several matches the first.
    JsonPath(String),
    /// Group 1, or the whole match where there is no group.
    Regex(String),
    /// Value of a header line of the last HTTP response.
    Header(String),
}

/// Waits for the other users.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// Which.
    pub name: String,
    /// How many users; left out, all that have not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Afterwards the users go on all the same.
    #[serde(default = "one_minute", skip_serializing_if = "is_one_minute")]
    pub timeout: Time,
}

impl Barrier {
    /// Returns a barrier that waits for all users.
    #[must_use]
    pub fn all(name: impl Into<String>) -> Self {
        Self { name: name.into(), users: None, timeout: one_minute() }
    }
}

/// Steps whose time together is reported under a name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Shown in reports.
    pub name: String,
    /// What is done.
    pub steps: Vec<Step>,
}

/// A comparison: `"{{a}} == b"`, numeric if both sides are numbers, else textual. A side that has spaces at its ends or
/// contains an operator must be in single quotes, with `''` for a quote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// Left side: text with variables.
    pub left: String,
    /// Operator.
    pub operator: Operator,
    /// Right side: text with variables, or a regular expression with [`Operator::Matches`] and its opposite.
    pub right: String,
}

/// A comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterOrEqual,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `<`
    Less,
    /// `matches`
    Matches,
    /// `does not match`
    DoesNotMatch,
}

impl Operator {
    /// All operators with their spelling, longer ones before their own prefixes.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::DoesNotMatch, "does not match"),
        (Self::Matches, "matches"),
        (Self::Equal, "=="),
        (Self::NotEqual, "!="),
        (Self::GreaterOrEqual, ">="),
        (Self::LessOrEqual, "<="),
        (Self::Greater, ">"),
        (Self::Less, "<"),
    ];

    /// Returns its spelling.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::GreaterOrEqual => ">=",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::Less => "<",
            Self::Matches => "matches",
            Self::DoesNotMatch => "does not match",
        }
    }

    /// Returns the negated operator.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::GreaterOrEqual => Self::Less,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::Less => Self::GreaterOrEqual,
            Self::Matches => Self::DoesNotMatch,
            Self::DoesNotMatch => Self::Matches,
        }
    }
}

const CONDITION: &str = "a condition such as `\"{{count}} < 10\"`, `\"{{status}} == open\"` or `\"{{reply}} matches ^ok\"` \
     (operators: ==, !=, <, <=, >, >=, matches, does not match)";

impl FromStr for Condition {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        let invalid = || InvalidScalar::new(text, CONDITION);
        let (left, rest) = split_side(text.trim_start()).ok_or_else(invalid)?;
        let rest = rest.trim_start();
        let (operator, sign) =
            Operator::ALL.iter().find(|(_, sign)| rest.starts_with(sign)).ok_or_else(invalid)?;
        let right = rest[sign.len()..].trim();
        let right = match split_quoted(right) {
            Some((right, "")) => right,
            _ => right.to_owned(),
        };
        Ok(Self { left, operator: *operator, right })
    }
}

/// Splits off the left side; returns it and the rest, starting with the operator.
fn split_side(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = split_quoted(text) {
        return Some(quoted);
    }
    let mut holes = 0_usize;
    for (place, _) in text.char_indices() {
        let rest = &text[place..];
        if rest.starts_with("{{") {
            holes += 1;
        } else if rest.starts_with("}}") {
            holes = holes.saturating_sub(1);
        } else if holes == 0 && begins_with_operator(&text[..place], rest) {
            return Some((text[..place].trim_end().to_owned(), rest));
        }
    }
    None
}

/// Returns whether `rest` begins with an operator. Symbols may touch their operands; words must be separate.
fn begins_with_operator(before: &str, rest: &str) -> bool {
    Operator::ALL.iter().any(|(_, sign)| {
        rest.strip_prefix(sign).is_some_and(|after| {
            !sign.starts_with(|c: char| c.is_ascii_alphabetic())
                || ((before.is_empty() || before.ends_with(char::is_whitespace))
                    && (after.is_empty() || after.starts_with(char::is_whitespace)))
        })
    })
}

/// Splits off a single-quoted text at the beginning; returns it unquoted, and the rest.
fn split_quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut unquoted = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        unquoted.push_str(part);
        match after.strip_prefix('\'') {
            Some(after) => {
                unquoted.push('\'');
                rest = after;
            }
            None => return Some((unquoted, after)),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |side: &str| format!("'{}'", side.replace('\'', "''"));
        let sign = self.operator.sign();
        let plain = format!("{} {sign} {}", self.left, self.right);
        if plain.parse().as_ref() == Ok(self) {
            return formatter.write_str(&plain);
        }
        write!(formatter, "{} {sign} {}", quoted(&self.left), quoted(&self.right))
    }
}

written_as_a_word!(
    Condition,
    CONDITION,
    "A comparison of two texts with variables: ==, !=, <, <=, >, >=, matches, does not match.",
    ["{{count}} < 10", "{{status}} == open", "{{reply}} matches ^ok"]
);

fn one_minute() -> Time {
    Time::seconds(60)
}

fn is_one_minute(time: &Time) -> bool {
    *time == one_minute()
}
