//! JSON strings in both directions (RFC 8259 section 7). Only strings: everything else is passed on as text.

use std::borrow::Cow;

use super::plain::{is_plain, plain_len};

/// Appends `text` as a JSON string.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, escaped) = rest.split_at(plain_len(rest));
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = escaped.split_first() else { break };
        write_escape(out, byte);
        rest = behind;
    }
    out.push(b'"');
}

/// Appends `text` as a JSON string to a `String`.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut escape = Vec::new();
    for character in text.chars() {
        match u8::try_from(character) {
            Ok(byte) if !is_plain(byte) => {
                escape.clear();
                write_escape(&mut escape, byte);
                out.extend(escape.iter().map(|&byte| char::from(byte)));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Returns whether `text` contains a character that a JSON string must escape.
pub(super) fn needs_escape(text: &str) -> bool {
    plain_len(text.as_bytes()) < text.len()
}

/// Returns the text of a raw JSON string, quotes included: borrowed unless it contains escapes. `None` if an escape is
/// not valid Unicode.
pub(super) fn text_of_string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Some(Cow::Borrowed(inner)),
        _ => parse_string(raw).map(Cow::Owned),
    }
}

/// Returns the text of a raw JSON string, with escapes resolved.
pub(super) fn parse_string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// Returns whether every `\u` escape in a valid JSON text is a character or half of a surrogate pair (RFC 8259 section
/// 8.2).
///
/// Finding the end of a value does not check this, and strict parsers reject a lone surrogate: if passed on, one
/// client's payload would end the connections of others.
pub(super) fn surrogates_are_paired(raw: &str) -> bool {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        match code_unit(escape) {
            Some(0xD800..=0xDBFF) => {
                let low = escape.get(6..).unwrap_or_default();
                if !matches!(code_unit(low), Some(0xDC00..=0xDFFF)) {
                    return false;
                }
                rest = low.get(6..).unwrap_or_default();
            }
            Some(0xDC00..=0xDFFF) => return false,
            Some(_) => rest = escape.get(6..).unwrap_or_default(),
            None => rest = escape.get(2..).unwrap_or_default(),
        }
    }
    true
}

/// Returns the code unit of a `\uXXXX` escape that `text` starts with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lone_halves_of_a_surrogate_pair_are_found() {
        for raw in
            [r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\uD800x""#, r#"["a","\\\ud9ab\n"]"#]
        {
            assert!(!surrogates_are_paired(raw), "{raw}");
        }
        for raw in [r#""\ud83d\ude00""#, r#""\\ud800""#, r#""\u00e9""#, "{}", r#""\"é\\""#] {
            assert!(surrogates_are_paired(raw), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_as_a_json_string(text in any::<String>()) {
            let mut bytes = Vec::new();
            write_string(&mut bytes, &text);
            let raw = String::from_utf8(bytes).expect("text stays text");
            let mut pushed = String::new();
            push_string(&mut pushed, &text);
            prop_assert_eq!(&pushed, &raw);
            prop_assert_eq!(text_of_string(&raw), Some(Cow::Borrowed(text.as_str())));
            prop_assert_eq!(needs_escape(&text), raw.len() != text.len() + 2);
        }
    }
}
