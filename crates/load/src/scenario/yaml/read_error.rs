//! Errors of reading a tree as a type, with their path.

use std::fmt;

use serde::de;

use super::node::Segment;

/// The first place where a tree does not match the requested type.
#[derive(Debug)]
pub(in crate::scenario) struct ReadError {
    pub(in crate::scenario) message: String,
    /// The name that was given and the names that are allowed, if they are known.
    pub(in crate::scenario) allowed: Option<(String, &'static [&'static str])>,
    /// From the innermost segment to the outermost.
    path: Vec<Segment>,
    /// Whether the key is wrong, rather than its value.
    pub(in crate::scenario) at_key: bool,
    /// Whether a comma seems to have split a value.
    pub(in crate::scenario) comma: bool,
}

impl ReadError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), allowed: None, path: Vec::new(), at_key: false, comma: false }
    }

    /// Adds the next outer segment to the path.
    pub(super) fn within(mut self, segment: Segment) -> Self {
        self.path.push(segment);
        self
    }

    /// Marks the key, rather than its value, as wrong.
    pub(super) fn of_key(mut self) -> Self {
        self.at_key = true;
        self
    }

    /// Returns the path from the outermost segment to the innermost.
    pub(in crate::scenario) fn path(&self) -> Vec<Segment> {
        self.path.iter().rev().cloned().collect()
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match unexpected {
            de::Unexpected::Seq => "a list".to_owned(),
            de::Unexpected::Map => "a mapping".to_owned(),
            de::Unexpected::Unit | de::Unexpected::Option => "nothing".to_owned(),
            other => other.to_string(),
        };
        Self::new(format!("expected {expected}, found {found}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self {
            allowed: Some((field.to_owned(), expected)),
            comma: is_cut_by_a_comma(field),
            ..Self::new(format!("unknown key `{field}`"))
        }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self {
            allowed: Some((variant.to_owned(), expected)),
            ..Self::new(format!("unknown word `{variant}`"))
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is missing"))
    }
}

/// Returns whether a key is the tail of a value such as `zipf(10, 1.1)` that its comma split within `{ … }`.
pub(super) fn is_cut_by_a_comma(key: &str) -> bool {
    key.ends_with(')') && !key.contains('(')
}
