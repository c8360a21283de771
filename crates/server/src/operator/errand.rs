//! What a command asks of the administration's API, and how its answer is shown.

use hyper::Method;
use serde_json::Value;

/// A request.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    pub(super) form: Form,
}

/// How an answer is shown to people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A line for each of its `rows`, with these fields.
    Rows(&'static [&'static str]),
    /// A line for each field.
    Fields,
    /// The one field that is told once, and what it is for.
    Once { field: &'static str, note: &'static str },
    /// That it is done.
    Done(String),
    /// As it comes: lines of JSON.
    Lines,
}

impl Errand {
    /// A request below `/api/v1` with the values of its path, which may hold anything.
    pub(super) fn new(method: Method, path: &[&str], form: Form) -> Self {
        let path = path.iter().map(|part| escaped(part)).collect::<Vec<_>>().join("/");
        Self { method, path: format!("/api/v1/{path}"), body: None, form }
    }

    /// With a query.
    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        self.path.push_str(&format!("{separator}{name}={}", escaped(value)));
        self
    }

    /// With a body.
    pub(super) fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// RFC 3986, section 2.3: all but unreserved characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(byte.into());
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_holds_any_name() {
        let errand = Errand::new(Method::GET, &["communities", "a/b", "people", "ann|x"], Form::Fields);
        let errand = errand.query("after", "c d").query("limit", "3");
        assert_eq!(errand.path, "/api/v1/communities/a%2Fb/people/ann%7Cx?after=c%20d&limit=3");
    }
}
