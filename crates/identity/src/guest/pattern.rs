//! Patterns for guests' names.

use std::fmt;

/// Maximum length of a pattern, in characters. The name that a guest chooses must fit in addition to it.
const PATTERN_CHARS_MAX: usize = 32;

/// A pattern for guests' names: a text with one `*`, which stands for what they choose. With `Guest *` nobody can pass
/// for a member; `*` accepts any name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    before: String,
    after: String,
}

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`BadNamePattern`].
    pub fn parse(text: &str) -> Result<Self, BadNamePattern> {
        let (before, after) = text.split_once('*').ok_or(BadNamePattern::Star)?;
        if after.contains('*') {
            return Err(BadNamePattern::Star);
        }
        if text.chars().count() > PATTERN_CHARS_MAX || text.chars().any(char::is_control) {
            return Err(BadNamePattern::Text);
        }
        Ok(NamePattern { before: before.to_owned(), after: after.to_owned() })
    }

    /// Returns the name of a guest who chose `chosen`.
    pub(super) fn name(&self, chosen: &str) -> String {
        format!("{}{}{}", self.before, chosen.trim(), self.after)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}*{}", self.before, self.after)
    }
}

/// Why a text is not a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNamePattern {
    /// It does not contain exactly one `*`.
    Star,
    /// It is too long, or contains control characters.
    Text,
}

impl fmt::Display for BadNamePattern {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadNamePattern::Star => {
                to.write_str("a name pattern must contain exactly one `*`, such as `Guest *`")
            }
            BadNamePattern::Text => {
                write!(
                    to,
                    "a name pattern must have at most {PATTERN_CHARS_MAX} characters and no control characters"
                )
            }
        }
    }
}

impl std::error::Error for BadNamePattern {}
