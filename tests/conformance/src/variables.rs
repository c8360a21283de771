//! The names a script may use: `$room` and its like, given or captured from what the server sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::failure::Failure;

/// What the names of one case stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Gives `name` a value, in place of any former one.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The value of `name`, if it has one yet.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// `text` with each `$name` replaced by its value.
    ///
    /// # Errors
    /// A name without a value is a mistake of the script.
    pub(crate) fn fill(&self, text: &str) -> Result<String, Failure> {
        self.fill_with(text, str::to_owned)
    }

    /// As [`fill`](Self::fill), with each value percent-encoded as a component of a URL.
    ///
    /// # Errors
    /// A name without a value is a mistake of the script.
    pub(crate) fn fill_url(&self, text: &str) -> Result<String, Failure> {
        self.fill_with(text, percent_encode)
    }

    fn fill_with(&self, text: &str, encode: impl Fn(&str) -> String) -> Result<String, Failure> {
        let mut filled = String::with_capacity(text.len());
        let mut pieces = text.split('$');
        filled.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let (name, rest) = split_name(piece);
            let value = self.value(name).ok_or_else(|| Failure::script(format!("${name} has no value")))?;
            filled.push_str(&encode(value));
            filled.push_str(rest);
        }
        Ok(filled)
    }
}

/// The name in `text` if all of it is one `$name`.
pub(crate) fn sole_name(text: &str) -> Option<&str> {
    let (name, rest) = split_name(text.strip_prefix('$')?);
    (!name.is_empty() && rest.is_empty()).then_some(name)
}

fn split_name(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// `value` as a component of a URL (RFC 3986, section 2.3).
pub(crate) fn percent_encode(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte))
            }
            _ => write!(encoded, "%{byte:02X}").expect("a String takes all that is written to it"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_its_letters_end() {
        let mut variables = Variables::default();
        variables.set("room", "room:1");
        variables.set("i", "7");
        assert_eq!(variables.fill(r#"["$room-$i"]"#).expect("both have values"), r#"["room:1-7"]"#);
        assert_eq!(variables.fill_url("/x?t=$room").expect("it has a value"), "/x?t=room%3A1");
        assert!(variables.fill("$unknown").is_err());
    }

    #[test]
    fn a_sole_name_is_all_of_its_text() {
        assert_eq!(sole_name("$ann"), Some("ann"));
        assert_eq!(sole_name("$ann-1"), None);
        assert_eq!(sole_name("ann"), None);
    }
}
