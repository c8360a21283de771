//! Parses the query of an upgrade request into nested parameters, by the rules of Plug: percent and `+` decoding,
//! `a[b]=1` for an object, `l[]=1` for a list. Every value is a string.

use std::fmt;

use serde_json::{Map, Value};

/// Maximum number of `key=value` pairs in a query.
pub const QUERY_PAIRS_MAX: usize = 256;

/// Maximum nesting depth of brackets.
pub const QUERY_DEPTH_MAX: usize = 16;

/// Why a query cannot be parsed. Respond with 400.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadQuery {
    /// A `%` that is not followed by two hexadecimal digits.
    Percent,
    /// Decoded bytes that are not UTF-8.
    NotUtf8,
    /// More than [`QUERY_PAIRS_MAX`] pairs.
    TooManyPairs,
    /// More than [`QUERY_DEPTH_MAX`] brackets in a key.
    TooDeep,
}

/// Parses a query, without its `?`. Empty pieces are ignored, since phoenix.js writes them for null parameters. If keys
/// conflict, the last one wins.
pub fn parse_query(query: &str) -> Result<Map<String, Value>, BadQuery> {
    let mut params = Map::new();
    for (count, piece) in query.split('&').filter(|piece| !piece.is_empty()).enumerate() {
        if count == QUERY_PAIRS_MAX {
            return Err(BadQuery::TooManyPairs);
        }
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        let (key, value) = (decode_form(key)?, decode_form(value)?);
        let (name, brackets) = split_key(&key);
        if brackets.len() > QUERY_DEPTH_MAX {
            return Err(BadQuery::TooDeep);
        }
        insert(params.entry(name).or_insert(Value::Null), &brackets, value);
    }
    Ok(params)
}

/// Stores `value` under a path of brackets; an empty bracket appends to a list.
fn insert(slot: &mut Value, brackets: &[&str], value: String) {
    match brackets {
        [] => *slot = Value::String(value),
        ["", deeper @ ..] => {
            if !slot.is_array() {
                *slot = Value::Array(Vec::new());
            }
            let Value::Array(list) = slot else { return };
            let mut element = Value::Null;
            insert(&mut element, deeper, value);
            list.push(element);
        }
        [name, deeper @ ..] => {
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            let Value::Object(object) = slot else { return };
            insert(object.entry(*name).or_insert(Value::Null), deeper, value);
        }
    }
}

/// Splits a key: `a[b][]` is `a` with `b` and the empty bracket. A key with malformed brackets is just a name.
fn split_key(key: &str) -> (&str, Vec<&str>) {
    let Some((name, rest)) = key.strip_suffix(']').and_then(|rest| rest.split_once('[')) else {
        return (key, Vec::new());
    };
    let brackets: Vec<&str> = rest.split("][").collect();
    let is_well_formed = !name.is_empty() && !brackets.iter().any(|bracket| bracket.contains(['[', ']']));
    if is_well_formed { (name, brackets) } else { (key, Vec::new()) }
}

/// Decodes a segment of a request's path to text (RFC 3986 section 2.1). A `+` stays as it is.
pub fn decode_path_segment(segment: &str) -> Result<String, BadQuery> {
    decode(segment, b'+')
}

/// Decodes application/x-www-form-urlencoded text.
fn decode_form(text: &str) -> Result<String, BadQuery> {
    decode(text, b' ')
}

/// Decodes percent-encoding; a `+` becomes `plus`.
fn decode(text: &str, plus: u8) -> Result<String, BadQuery> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        bytes.push(match byte {
            b'+' => plus,
            b'%' => {
                let (&[high, low], tail) = tail.split_first_chunk().ok_or(BadQuery::Percent)?;
                rest = tail;
                hex_digit(high)? << 4 | hex_digit(low)?
            }
            _ => *byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| BadQuery::NotUtf8)
}

fn hex_digit(byte: u8) -> Result<u8, BadQuery> {
    char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(BadQuery::Percent)
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadQuery::Percent => "malformed percent-encoding in path or query",
            BadQuery::NotUtf8 => "path or query is not UTF-8",
            BadQuery::TooManyPairs => "too many parameters in the query",
            BadQuery::TooDeep => "parameters nested too deeply in the query",
        })
    }
}

impl std::error::Error for BadQuery {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parsed(query: &str) -> Value {
        Value::Object(parse_query(query).expect(query))
    }

    #[test]
    fn pieces_that_are_empty_are_ignored() {
        assert_eq!(parsed("?&b=1&vsn=2.0.0".trim_start_matches('?')), json!({"b": "1", "vsn": "2.0.0"}));
        assert_eq!(parsed("a=1&&vsn=2.0.0&"), json!({"a": "1", "vsn": "2.0.0"}));
        assert_eq!(parsed(""), json!({}));
    }

    #[test]
    fn brackets_nest_whether_encoded_or_not() {
        assert_eq!(parsed("a[b]=1&a[c][d]=2"), json!({"a": {"b": "1", "c": {"d": "2"}}}));
        assert_eq!(parsed("k%5B0%5D=x&k%5B1%5D=y"), json!({"k": {"0": "x", "1": "y"}}));
        assert_eq!(parsed("l[]=1&l[]=2&l[][z]=3"), json!({"l": ["1", "2", {"z": "3"}]}));
    }

    #[test]
    fn the_last_wins_where_keys_contradict() {
        assert_eq!(parsed("a=1&a=2"), json!({"a": "2"}));
        assert_eq!(parsed("a=1&a[b]=2"), json!({"a": {"b": "2"}}));
        assert_eq!(parsed("a[]=1&a[b]=2&a=3"), json!({"a": "3"}));
    }

    #[test]
    fn malformed_brackets_are_part_of_the_name() {
        assert_eq!(
            parsed("a[b=1&[c]=2&d]=3&e[f]g=4"),
            json!({"a[b": "1", "[c]": "2", "d]": "3", "e[f]g": "4"})
        );
    }

    #[test]
    fn a_plus_is_a_space_and_a_missing_value_is_empty() {
        assert_eq!(parsed("n=a+b%20c%2B&flag"), json!({"n": "a b c+", "flag": ""}));
    }

    #[test]
    fn a_plus_in_a_path_is_a_plus() {
        assert_eq!(decode_path_segment("caf%C3%A9+%2Fx"), Ok("café+/x".to_owned()));
        assert_eq!(decode_path_segment("50%"), Err(BadQuery::Percent));
    }

    #[test]
    fn what_does_not_decode_is_an_error() {
        assert_eq!(parse_query("a=%"), Err(BadQuery::Percent));
        assert_eq!(parse_query("a=%4"), Err(BadQuery::Percent));
        assert_eq!(parse_query("a=%+4"), Err(BadQuery::Percent));
        assert_eq!(parse_query("a=%ff"), Err(BadQuery::NotUtf8));
    }

    #[test]
    fn depth_and_number_are_bounded() {
        assert_eq!(parse_query(&format!("a{}=1", "[b]".repeat(QUERY_DEPTH_MAX + 1))), Err(BadQuery::TooDeep));
        assert!(parse_query(&"a=1&".repeat(QUERY_PAIRS_MAX)).is_ok());
        assert_eq!(parse_query(&"a=1&".repeat(QUERY_PAIRS_MAX + 1)), Err(BadQuery::TooManyPairs));
    }

    proptest! {
        #[test]
        fn any_query_is_an_object_or_an_error(query in ".{0,80}") {
            let _ = parse_query(&query);
        }

        #[test]
        fn percent_encoded_text_survives(text in any::<String>()) {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(parsed(&format!("x={encoded}")), json!({"x": text}));
        }
    }
}
