//! A value as written, before it is interpreted.

use std::fmt;
use toml::de::DeValue;

/// A value from a file, a variable or a flag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw {
    /// Text; variables and flags contain nothing else.
    Text(String),
    /// An integer.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
    /// A list.
    List(Vec<Raw>),
    /// A value that no setting accepts, as its TOML text.
    Other(String),
}

impl Raw {
    /// Parses one TOML literal of our own tables.
    ///
    /// # Panics
    /// If the literal is not TOML, which is a mistake in the table.
    pub(crate) fn literal(literal: &str) -> Raw {
        let value = DeValue::parse(literal).expect("a table holds TOML literals");
        Raw::of(value.get_ref(), literal)
    }

    /// Converts a parsed TOML value; `written` is its text in the document.
    pub(crate) fn of(value: &DeValue<'_>, written: &str) -> Raw {
        match value {
            DeValue::String(text) => Raw::Text(text.clone().into_owned()),
            DeValue::Boolean(boolean) => Raw::Boolean(*boolean),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Raw::Integer(number),
                Err(_) => Raw::Other(written.to_owned()),
            },
            DeValue::Array(items) => {
                Raw::List(items.iter().map(|item| Raw::of(item.get_ref(), "…")).collect())
            }
            DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => Raw::Other(written.to_owned()),
        }
    }

    /// Returns the text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Raw::Text(text) => Some(text),
            Raw::Integer(_) | Raw::Boolean(_) | Raw::List(_) | Raw::Other(_) => None,
        }
    }
}

/// Formats the value as TOML.
impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Raw::Integer(number) => write!(f, "{number}"),
            Raw::Boolean(boolean) => write!(f, "{boolean}"),
            Raw::Other(written) => f.write_str(written),
            Raw::List(items) => {
                let items: Vec<String> = items.iter().map(Raw::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}
