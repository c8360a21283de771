//! Topic patterns: they decide which channel handles a topic.

use std::fmt;

/// An exact topic, or a prefix that ends in `*`. The first pattern that matches in declaration order wins.
///
/// ```
/// use hub::Pattern;
/// let rooms = Pattern::parse("rooms:*").unwrap();
/// assert!(rooms.matches("rooms:lobby"));
/// assert!(!rooms.matches("room:lobby"));
/// assert!(Pattern::parse("a*b").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: Box<str>,
    prefix: bool,
}

/// The error for a pattern with a `*` that is not its last character, or an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    pattern: String,
}

impl Pattern {
    /// Parses `room:lobby` or `room:*`.
    pub fn parse(pattern: &str) -> Result<Pattern, PatternError> {
        let (text, prefix) = match pattern.strip_suffix('*') {
            Some(text) => (text, true),
            None => (pattern, false),
        };
        if text.contains('*') || pattern.is_empty() {
            return Err(PatternError { pattern: pattern.to_owned() });
        }
        Ok(Pattern { text: text.into(), prefix })
    }

    /// Returns whether the pattern matches `topic`.
    pub fn matches(&self, topic: &str) -> bool {
        if self.prefix { topic.starts_with(&*self.text) } else { topic == &*self.text }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "topic pattern {:?}: write an exact topic, or a prefix with one `*` at its end",
            self.pattern
        )
    }
}

impl std::error::Error for PatternError {}
