//! JSON bodies: written as YAML, or as text that is JSON once its placeholders are filled in.

use serde_json::Value;

use super::super::template::{Part, Template};
use super::Compiler;
use super::templates::{Surroundings, escaped};

impl Compiler<'_> {
    pub(super) fn json(&mut self, value: &Value) -> Template {
        let mut parts = Vec::new();
        match value {
            Value::String(text) => {
                self.template_parts(text, Surroundings::JsonText, &mut parts);
                self.check_json(&parts);
            }
            value => self.json_parts(value, &mut parts),
        }
        self.finished(parts)
    }

    fn json_parts(&mut self, value: &Value, parts: &mut Vec<Part>) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => push(parts, &value.to_string()),
            Value::String(text) => self.json_string(text, parts),
            Value::Array(values) => {
                push(parts, "[");
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        push(parts, ",");
                    }
                    self.json_parts(value, parts);
                }
                push(parts, "]");
            }
            Value::Object(entries) => {
                push(parts, "{");
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        push(parts, ",");
                    }
                    self.json_string(key, parts);
                    push(parts, ":");
                    self.json_parts(value, parts);
                }
                push(parts, "}");
            }
        }
    }

    fn json_string(&mut self, text: &str, parts: &mut Vec<Part>) {
        push(parts, "\"");
        self.template_parts(text, Surroundings::JsonString, parts);
        push(parts, "\"");
    }

    /// Checks that the text is JSON when every placeholder is replaced with `0`, which is valid both inside and outside
    /// quotes.
    fn check_json(&mut self, parts: &[Part]) {
        let sample: String =
            parts.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "0" }).collect();
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&sample) {
            let help =
                "write it as YAML (`payload: { body: hello }`), or as JSON in single quotes".to_owned();
            self.complain_with(format!("this text is not JSON: {error}"), Some(help));
        }
    }
}

/// Appends text that is already JSON.
fn push(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        Some(_) | None => parts.push(Part::Text(text.to_owned())),
    }
}

/// Returns a JSON object with a single string member whose value consists of these parts.
pub(super) fn object_with(key: &str, value: Vec<Part>) -> Template {
    let mut parts = vec![Part::Text(format!("{{\"{}\":\"", escaped(key)))];
    parts.extend(value);
    parts.push(Part::Text("\"}".to_owned()));
    Template { parts }
}
