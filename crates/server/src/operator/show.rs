//! Formats answers.

use super::api_request::Form;
use serde_json::Value;

/// Formats an answer as JSON.
pub(super) fn json(answer: &Value) -> String {
    format!("{answer:#}\n")
}

/// Formats an answer as lines.
pub(super) fn text(form: &Form, answer: &Value) -> String {
    match form {
        Form::Rows(fields) => rows(fields, answer),
        Form::Fields => lines(answer, ""),
        Form::Once { field, note } => {
            let told = answer[field].as_str().unwrap_or_default();
            format!("{told}\n{note}\n")
        }
        Form::Done(done) => format!("{done}\n"),
        Form::Lines => String::new(),
    }
}

/// Formats a problem document.
pub(super) fn problem(answer: &Value) -> String {
    let detail = answer["detail"].as_str().unwrap_or("unexpected response from the server");
    let code = answer["code"].as_str().map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{detail}{code}")
}

/// Formats rows as columns, each as wide as its widest value.
fn rows(fields: &[&str], answer: &Value) -> String {
    let found = answer["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let header = fields.iter().map(|field| (*field).to_uppercase()).collect();
    let cells = found.iter().map(|row| fields.iter().map(|field| plain(at(row, field))).collect());
    let table: Vec<Vec<String>> = std::iter::once(header).chain(cells).collect();
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..fields.len()).map(width).collect();
    let mut text = String::new();
    for row in &table {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    if let Some(next) = answer["next"].as_str() {
        text.push_str(&format!("more rows follow: --after {next}\n"));
    }
    text
}

fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, name| &value[name])
}

fn lines(value: &Value, prefix: &str) -> String {
    let Some(fields) = value.as_object() else {
        return String::new();
    };
    let mut text = String::new();
    for (name, value) in fields {
        if value.is_object() {
            text.push_str(&lines(value, &format!("{prefix}{name}.")));
        } else {
            text.push_str(&format!("{prefix}{name}: {}\n", plain(value)));
        }
    }
    text
}

/// Formats a value without control characters: names must not be able to control the terminal.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_stand_in_columns() {
        let answer = json!({ "rows": [{ "id": "default", "name": "Everybody" }, { "id": "b", "name": null }], "next": "b" });
        let text = text(&Form::Rows(&["id", "name"]), &answer);
        assert_eq!(text, "ID       NAME\ndefault  Everybody\nb        -\nmore rows follow: --after b\n");
    }

    #[test]
    fn a_name_cannot_move_the_cursor() {
        let answer = json!({ "name": "a\u{1b}[2Jb", "limits": { "days": 3 } });
        assert_eq!(text(&Form::Fields, &answer), "limits.days: 3\nname: a\u{fffd}[2Jb\n");
    }

    #[test]
    fn a_problem_is_told_with_its_code() {
        let answer = json!({ "detail": "`name` is too long", "code": "invalid" });
        assert_eq!(problem(&answer), "`name` is too long (invalid)");
    }
}
