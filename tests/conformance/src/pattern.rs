//! Patterns of JSON: JSON in which some strings stand for more than themselves.
//!
//! `"*"` matches any value; `"$name"` captures a non-empty string at its first use and must be equal
//! ever after; `ok(x)` and `err(x)` are the payloads of a reply, as the reference writes them. The order
//! of an object's keys does not matter; its set of keys does.

use std::fmt;

use serde_json::Value;

use crate::variables::{Variables, sole_name};

/// A JSON value to compare against.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern(Value);

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Says why the text is not JSON once `ok(…)` and `err(…)` are written out.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(&write_out_replies(text)).map(Self).map_err(|error| format!("{text}: {error}"))
    }

    /// Whether `text` is JSON that matches. On a match the captured names have values; else none has changed.
    pub(crate) fn matches(&self, text: &str, variables: &mut Variables) -> bool {
        let mut captured = variables.clone();
        let matched = serde_json::from_str(text).is_ok_and(|value| agrees(&self.0, &value, &mut captured));
        if matched {
            *variables = captured;
        }
        matched
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Replaces the shorthand for a reply's payload. Parentheses have no other use in a pattern.
fn write_out_replies(text: &str) -> String {
    if !text.contains("ok(") && !text.contains("err(") {
        return text.to_owned();
    }
    text.replace("ok(", r#"{"status":"ok","response":"#)
        .replace("err(", r#"{"status":"error","response":"#)
        .replace(')', "}")
}

fn agrees(pattern: &Value, value: &Value, variables: &mut Variables) -> bool {
    match (pattern, value) {
        (Value::String(wanted), _) if wanted == "*" => true,
        (Value::String(wanted), Value::String(found)) => text_agrees(wanted, found, variables),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len() && wanted.iter().zip(found).all(|(w, f)| agrees(w, f, variables))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.len() == found.len()
                && wanted.iter().all(|(key, w)| found.get(key).is_some_and(|f| agrees(w, f, variables)))
        }
        _ => pattern == value,
    }
}

fn text_agrees(wanted: &str, found: &str, variables: &mut Variables) -> bool {
    match sole_name(wanted) {
        Some(name) if variables.value(name).is_none() => {
            variables.set(name, found);
            !found.is_empty()
        }
        _ => variables.fill(wanted).is_ok_and(|wanted| wanted == found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str, variables: &mut Variables) -> bool {
        Pattern::parse(pattern).expect("a pattern").matches(text, variables)
    }

    #[test]
    fn the_order_of_keys_does_not_matter_but_their_set_does() {
        let mut none = Variables::default();
        assert!(matches(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &mut none));
        assert!(!matches(r#"{"a":1}"#, r#"{"b":2,"a":1}"#, &mut none));
        assert!(!matches(r#"{"a":1,"b":2}"#, r#"{"a":1}"#, &mut none));
    }

    #[test]
    fn a_reply_is_written_as_in_the_reference() {
        let text = r#"["1","2","t","phx_reply",{"response":{"z":[]},"status":"ok"}]"#;
        assert!(matches(r#"["1","2","t","phx_reply",ok({"z":[]})]"#, text, &mut Variables::default()));
        assert!(!matches(r#"["1","2","t","phx_reply",err({"z":[]})]"#, text, &mut Variables::default()));
    }

    #[test]
    fn a_captured_name_must_be_equal_ever_after() {
        let mut variables = Variables::default();
        assert!(matches(r#"["$ref","*"]"#, r#"["x",null]"#, &mut variables));
        assert!(matches(r#"["$ref"]"#, r#"["x"]"#, &mut variables));
        assert!(!matches(r#"["$ref"]"#, r#"["y"]"#, &mut variables));
    }

    #[test]
    fn a_failed_match_captures_nothing() {
        let mut variables = Variables::default();
        assert!(!matches(r#"["$ref",1]"#, r#"["x",2]"#, &mut variables));
        assert_eq!(variables.value("ref"), None);
    }

    #[test]
    fn a_number_is_not_its_text() {
        assert!(!matches("[5]", r#"["5"]"#, &mut Variables::default()));
    }
}
