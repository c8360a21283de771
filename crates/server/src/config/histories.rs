//! The setting for recoverable topics.

use super::raw::Raw;
use super::shape::{Bytes, Shape, Time, Whole};
use gateway::{Pattern, Retention};
use std::time::Duration;

/// Recoverable topics: entries with a pattern and, each with a default, `messages=`, `age=` and `bytes=`; in the
/// environment, a comma-separated list.
pub(crate) struct Histories;

const MESSAGES: Whole = Whole(1..=1_000_000);
const AGE: Time = Time(Duration::from_secs(1)..=Duration::from_secs(7 * 24 * 3600));
const BYTES: Bytes = Bytes(1 << 10..=1 << 30);

impl Shape for Histories {
    type Value = Vec<(String, Retention)>;

    fn expected(&self) -> String {
        "a list such as [\"rooms:* messages=1000 age=10m bytes=1MiB\"]; everything except the pattern is optional".into()
    }

    fn parse(&self, raw: &Raw) -> Option<Self::Value> {
        let entries: Vec<&str> = match raw {
            Raw::Text(text) => text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect(),
            Raw::List(items) => items.iter().map(Raw::text).collect::<Option<_>>()?,
            Raw::Integer(_) | Raw::Boolean(_) | Raw::Other(_) => return None,
        };
        entries.into_iter().map(entry).collect()
    }
}

fn entry(text: &str) -> Option<(String, Retention)> {
    let mut words = text.split_whitespace();
    let pattern = words.next().filter(|pattern| Pattern::parse(pattern).is_ok())?;
    let mut retention = Retention::default();
    for word in words {
        let (name, value) = word.split_once('=')?;
        let value = Raw::Text(value.into());
        match name {
            "messages" => retention.messages_max = MESSAGES.parse(&value)? as usize,
            "age" => retention.age_us_max = AGE.parse(&value)?.as_micros() as u64,
            "bytes" => retention.bytes_max = BYTES.parse(&value)?,
            _ => return None,
        }
    }
    Some((pattern.to_owned(), retention))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Vec<(String, Retention)>> {
        Histories.parse(&Raw::Text(text.into()))
    }

    #[test]
    fn an_entry_is_a_pattern_and_what_it_keeps() {
        let short = Retention { messages_max: 100, age_us_max: 300_000_000, ..Retention::default() };
        let large = Retention { bytes_max: 4 << 20, ..Retention::default() };
        assert_eq!(
            parse("rooms:lobby messages=100 age=5m, rooms:* bytes=4MiB"),
            Some(vec![("rooms:lobby".into(), short), ("rooms:*".into(), large)])
        );
        let list = ["rooms:lobby age=5m messages=100", "rooms:* bytes=4MiB"];
        let list = Raw::List(list.map(|entry| Raw::Text(entry.into())).to_vec());
        assert_eq!(Histories.parse(&list), parse("rooms:lobby messages=100 age=5m, rooms:* bytes=4MiB"));
        assert_eq!(parse(""), Some(Vec::new()));
    }

    #[test]
    fn an_entry_that_is_not_understood_is_refused() {
        for text in ["a*b", "rooms:* 100", "rooms:* messages=0", "rooms:* age=5", "rooms:* size=4MiB"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
