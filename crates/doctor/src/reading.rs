//! A fact, or the reason why it is not known.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that may not be known. As JSON it is the fact itself, or `{"unknown": "why"}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reading<T> {
    /// It could not be read.
    Unknown {
        /// Why not.
        unknown: String,
    },
    /// As it was read.
    Known(T),
}

impl<T> Reading<T> {
    /// Returns what was read.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(fact) => Some(fact),
            Self::Unknown { .. } => None,
        }
    }

    /// Returns why nothing was read.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown { unknown } => Some(unknown),
        }
    }

    /// Converts the fact, if it is known.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Known(fact) => Reading::Known(form(fact)),
            Self::Unknown { unknown } => Reading::Unknown { unknown },
        }
    }
}

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self::Unknown { unknown: "not asked".to_owned() }
    }
}

impl<T, E: Display> From<Result<T, E>> for Reading<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(fact) => Self::Known(fact),
            Err(error) => Self::Unknown { unknown: error.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_itself_or_a_reason_in_json() {
        let known = Reading::Known([1, 2, 3]);
        let unknown: Reading<[u64; 3]> = Reading::from(Err("no such file"));
        for (reading, json) in [(known, "[1,2,3]"), (unknown, r#"{"unknown":"no such file"}"#)] {
            assert_eq!(serde_json::to_string(&reading).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Reading<[u64; 3]>>(json).expect("a reading"), reading);
        }
    }
}
