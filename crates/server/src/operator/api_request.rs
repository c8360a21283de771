//! The request of a command to the administration API, and the format of its answer.

use hyper::Method;
use serde_json::Value;

/// A request.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    pub(super) form: Form,
}

/// The format of an answer for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A line for each of its `rows`, with these fields.
    Rows(&'static [&'static str]),
    /// A line for each field.
    Fields,
    /// A field that is shown only once, and a note about it.
    Once { field: &'static str, note: &'static str },
    /// A confirmation.
    Done(String),
    /// Lines of JSON, as they arrive.
    Lines,
}

impl ApiRequest {
    /// Creates a request below `/api/v1`. The parts of the path may contain any characters.
    pub(super) fn new(method: Method, path: &[&str], form: Form) -> Self {
        let path = path.iter().map(|part| escaped(part)).collect::<Vec<_>>().join("/");
        Self { method, path: format!("/api/v1/{path}"), body: None, form }
    }

    /// Adds a query parameter.
    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        self.path.push_str(&format!("{separator}{name}={}", escaped(value)));
        self
    }

    /// Sets the body.
    pub(super) fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// Percent-encodes all but unreserved characters: RFC 3986, section 2.3.
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
        let request = ApiRequest::new(Method::GET, &["communities", "a/b", "people", "ann|x"], Form::Fields);
        let request = request.query("after", "c d").query("limit", "3");
        assert_eq!(request.path, "/api/v1/communities/a%2Fb/people/ann%7Cx?after=c%20d&limit=3");
    }
}
