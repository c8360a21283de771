//! Requests in Siege's format, one per line: `URL`, `URL METHOD body`, or `URL METHOD <FILE` for a body from a file.
//!
//! In a file, `#` begins a comment line, and `NAME=value` defines `$(NAME)` or `${NAME}` for later lines.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::{Place, PresetError};

/// Maximum size in bytes of a file of requests, and of a file that contains a body.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// One request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RequestLine {
    pub(super) url: String,
    /// In upper case; `None` if the line does not specify it.
    pub(super) method: Option<String>,
    /// Not empty; `None` if the line has none.
    pub(super) body: Option<String>,
}

impl RequestLine {
    /// Parses one line; `place` is its position for errors.
    pub(super) fn parse(line: &str, place: &str) -> Result<Self, PresetError> {
        let wrong = |why: String| PresetError::RequestLine(place.to_owned(), why);
        let (url, rest) = word(line);
        Place::http(url).map_err(|error| wrong(error.to_string()))?;
        let (method, body) = word(rest);
        if !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(wrong(format!(
                "`{method}` is no method; behind a URL stands one in capitals, as in `URL POST body`"
            )));
        }
        let body = match body.strip_prefix('<') {
            Some(file) => {
                let file = Path::new(file.trim_start());
                text_of(file).map_err(|error| wrong(PresetError::File(file.to_owned(), error).to_string()))?
            }
            None => body.to_owned(),
        };
        let given = |text: String| (!text.is_empty()).then_some(text);
        Ok(Self { url: url.to_owned(), method: given(method.to_owned()), body: given(body) })
    }

    /// Reads a file of requests.
    pub(super) fn read_all(file: &Path) -> Result<Vec<Self>, PresetError> {
        let text = text_of(file).map_err(|error| PresetError::File(file.to_owned(), error))?;
        let mut variables: Vec<(&str, &str)> = Vec::new();
        let mut requests = Vec::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match variable(line) {
                Some(variable) => variables.push(variable),
                None => {
                    let place = format!("{}:{number}", file.display());
                    requests.push(Self::parse(&with_variables(line, &variables), &place)?);
                }
            }
        }
        if requests.is_empty() { Err(PresetError::EmptyFile(file.to_owned())) } else { Ok(requests) }
    }
}

/// Splits off the first word, and the blanks after it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// Parses `NAME=value`. A URL does not match, because the text before its first `=` is not a name.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value.trim_start()))
}

/// Substitutes variables; the latest value of a name applies. Unknown variables are left unchanged.
fn with_variables(line: &str, variables: &[(&str, &str)]) -> String {
    let mut line = line.to_owned();
    for (name, value) in variables.iter().rev() {
        line = line.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
    }
    line
}

fn text_of(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(url: &str, method: &str, body: &str) -> RequestLine {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        RequestLine { url: url.to_owned(), method: given(method), body: given(body) }
    }

    #[test]
    fn a_line_is_a_url_and_perhaps_a_method_and_a_body_to_the_lines_end() {
        let table = [
            ("http://h/a?b=c", request("http://h/a?b=c", "", "")),
            ("  http://h/  POST  a=1&b=two words ", request("http://h/", "POST", "a=1&b=two words")),
            ("https://h/x DELETE", request("https://h/x", "DELETE", "")),
            (r#"http://h/ PUT {"a": 1}"#, request("http://h/", "PUT", r#"{"a": 1}"#)),
        ];
        for (line, expected) in table {
            assert_eq!(RequestLine::parse(line, "here").expect(line), expected);
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_place() {
        for line in ["ftp://h/", "http://h/ post a=1", "http://h/ a=1", "http://h/ POST </no/such/file"] {
            let error = RequestLine::parse(line, "here:3").expect_err(line).to_string();
            assert!(error.starts_with("here:3: "), "{error}");
        }
    }

    #[test]
    fn a_file_has_comments_variables_and_bodies_out_of_other_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let body = folder.path().join("body.json");
        std::fs::write(&body, "{\"long\": true}\n").expect("written");
        let file = folder.path().join("urls.txt");
        let text = format!(
            "# shop\nHOST = h:1\nHOST=h:2\n\nhttp://$(HOST)/a?b=c\nhttp://${{HOST}}/b POST <{}\n",
            body.display()
        );
        std::fs::write(&file, text).expect("written");
        let expected =
            [request("http://h:2/a?b=c", "", ""), request("http://h:2/b", "POST", "{\"long\": true}\n")];
        assert_eq!(RequestLine::read_all(&file).expect("requests"), expected);
        std::fs::write(&file, "# nothing\n").expect("written");
        assert!(matches!(RequestLine::read_all(&file), Err(PresetError::EmptyFile(_))));
    }
}
