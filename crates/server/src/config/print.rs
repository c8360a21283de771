//! Configuration as text: the commented default file, and what is in force with where it comes from.

use super::error::Place;
use super::key::{KEYS, Key};
use super::written::Written;
use std::fmt::Write;

const HEADER: &str = "\
# Configuration of Throng. Every line that is commented out shows a default.
# A variable overrides this file, a flag overrides both: `limits.outbox_bytes` is THRONG_LIMITS_OUTBOX_BYTES
# and `--set limits.outbox_bytes=2MiB`. Check a file with `throng config check --config FILE`.
";

/// The default file: every setting with its meaning, its default commented out.
pub(crate) fn default_file() -> String {
    let mut text = HEADER.to_owned();
    each_key(|table, name, key| {
        if let Some(table) = table {
            let _ = writeln!(text, "\n[{table}]");
        } else if key.table_and_name().0.is_empty() {
            text.push('\n');
        }
        for line in key.about.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "# {name} = {}", key.default);
    });
    text
}

/// Every setting in force, with the place that set it behind each that is not a default.
pub(crate) fn in_force(written: &Written) -> String {
    let mut text = String::new();
    each_key(|table, name, key| {
        if let Some(table) = table {
            let _ = writeln!(text, "\n[{table}]");
        }
        let entry = written.entry(key);
        let _ = match entry.place {
            Place::Default => writeln!(text, "{name} = {}", entry.raw),
            place => writeln!(text, "{name} = {}  # {place}", without_password(&entry.raw.to_string())),
        };
    });
    text
}

/// A URL without the password that may be in it: what is printed ends up in tickets.
fn without_password(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    match rest.split_once('@') {
        Some((user, host)) if user.contains(':') && !user.contains('/') => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}:***@{host}")
        }
        Some(_) | None => value.to_owned(),
    }
}

/// Calls `write` for every key with its name, and with its table where a new one begins.
fn each_key(mut write: impl FnMut(Option<&'static str>, &'static str, &'static Key)) {
    let mut current = "";
    for key in KEYS {
        let (table, name) = key.table_and_name();
        write((table != current).then_some(table), name, key);
        current = table;
    }
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn a_password_in_a_url_is_not_printed() {
        let table = [
            ("\"postgres://ann:secret@db:5432/throng\"", "\"postgres://ann:***@db:5432/throng\""),
            ("\"postgres://ann@db/throng\"", "\"postgres://ann@db/throng\""),
            ("\"http://a/b:c@d\"", "\"http://a/b:c@d\""),
            ("\"127.0.0.1:4000\"", "\"127.0.0.1:4000\""),
        ];
        for (value, printed) in table {
            assert_eq!(without_password(value), printed);
        }
    }
}
