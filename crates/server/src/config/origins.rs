//! The setting for the origin rule.

use super::raw::Raw;
use super::shape::Shape;
use gateway::{OriginPattern, OriginRule};

/// `"same-host"`, `"any"`, or a list of `[scheme:]//host[:port]`; in the environment, comma-separated.
pub(crate) struct Origins;

impl Shape for Origins {
    type Value = OriginRule;

    fn expected(&self) -> String {
        "\"same-host\", \"any\" or a list such as [\"https://example.com\", \"//*.example.org\"]".into()
    }

    fn parse(&self, raw: &Raw) -> Option<OriginRule> {
        let entries: Vec<&str> = match raw {
            Raw::Text(text) => match text.as_str() {
                "same-host" => return Some(OriginRule::SameHost),
                "any" => return Some(OriginRule::Any),
                list => list.split(',').map(str::trim).collect(),
            },
            Raw::List(items) => items.iter().map(Raw::text).collect::<Option<_>>()?,
            Raw::Integer(_) | Raw::Boolean(_) | Raw::Other(_) => return None,
        };
        let patterns: Vec<_> =
            entries.into_iter().map(OriginPattern::parse).collect::<Result<_, _>>().ok()?;
        // A list that admits no origin is a mistake.
        (!patterns.is_empty()).then_some(OriginRule::List(patterns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_writes_a_list_with_commas() {
        let written = Origins.parse(&Raw::Text("//a.example, https://b.example".into()));
        let entries = ["//a.example", "https://b.example"].map(|entry| Raw::Text(entry.into()));
        assert_eq!(written, Origins.parse(&Raw::List(entries.to_vec())));
        assert!(matches!(written, Some(OriginRule::List(patterns)) if patterns.len() == 2));
    }

    #[test]
    fn a_list_without_a_sound_entry_is_refused() {
        for entries in [&[][..], &["example.com"], &["//a.example", "*"]] {
            let list = entries.iter().map(|entry| Raw::Text((*entry).into())).collect();
            assert_eq!(Origins.parse(&Raw::List(list)), None, "{entries:?}");
        }
    }
}
