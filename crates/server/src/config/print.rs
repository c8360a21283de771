//! Configuration as text: the commented default file, and the effective settings with their places.

use super::error::Place;
use super::key::{KEYS, Key};
use super::secret::shown;
use super::written::Written;
use std::fmt::Write;

const HEADER: &str = "\
# Configuration of Throng. Settings that are commented out show their defaults.
# Environment variables override this file, and flags override both: `limits.outbox_bytes` is
# THRONG_LIMITS_OUTBOX_BYTES and `--set limits.outbox_bytes=2MiB`.
# Check a file with `throng config check --config FILE`.
";

/// Returns the default file: every setting with its description, and its default commented out.
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

/// Returns every effective setting, followed by its place unless it is a default.
pub(crate) fn in_force(written: &Written) -> String {
    let mut text = String::new();
    each_key(|table, name, key| {
        if let Some(table) = table {
            let _ = writeln!(text, "\n[{table}]");
        }
        let entry = written.entry(key);
        let value = shown(key.path, &entry.raw);
        let _ = match entry.place {
            Place::Default => writeln!(text, "{name} = {value}"),
            place => writeln!(text, "{name} = {value}  # {place}"),
        };
    });
    text
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
