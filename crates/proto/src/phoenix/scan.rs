//! Finds JSON values in a text and validates them (RFC 8259), without interpreting them.
//!
//! Handles only what clients usually send: it gives up at an escape, or where values nest deeper than [`DEPTH_MAX`], as
//! at invalid JSON, and the decoders then ask the JSON library. So whatever it finds is what the library would find,
//! and it never rejects a message by itself.

use super::plain::plain_len;

/// One bit per level tells an array from an object.
const DEPTH_MAX: u32 = u64::BITS;

/// A position in a text.
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Skips whitespace and consumes this byte, which must come next.
    #[inline]
    pub(super) fn take(&mut self, wanted: u8) -> Option<()> {
        (self.next_visible()? == wanted).then_some(())
    }

    /// Returns the value of the next member, whose key must be this JSON text and come after this byte.
    #[inline]
    pub(super) fn member<const LEN: usize>(&mut self, before: u8, key: &[u8; LEN]) -> Option<&'a str> {
        self.take(before)?;
        self.skip_whitespace();
        if self.text.as_bytes()[self.at..].first_chunk() != Some(key) {
            return None;
        }
        self.at += LEN;
        self.take(b':')?;
        self.value()
    }

    /// Skips whitespace and consumes this byte, if it comes next.
    #[inline]
    pub(super) fn take_if(&mut self, wanted: u8) -> bool {
        self.skip_whitespace();
        let comes = self.peek() == Some(wanted);
        self.at += usize::from(comes);
        comes
    }

    /// Returns whether only whitespace is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_whitespace();
        self.at == self.text.len()
    }

    /// Returns the text of the next value.
    #[inline]
    pub(super) fn value(&mut self) -> Option<&'a str> {
        self.skip_whitespace();
        let begin = self.at;
        match self.next()? {
            b'"' => self.finish_string()?,
            bracket @ (b'[' | b'{') => self.finish_nested(bracket)?,
            first => self.finish_scalar(first)?,
        }
        self.text.get(begin..self.at)
    }

    /// Consumes the rest of an array or object.
    #[inline(never)] // so that a string, which most values are, does not pay for its registers
    fn finish_nested(&mut self, bracket: u8) -> Option<()> {
        // The open arrays and objects, the innermost in the lowest bit: a one is an object.
        let (mut open, mut depth) = (0u64, 0);
        let mut first = bracket;
        loop {
            match first {
                b'"' => self.finish_string()?,
                b'[' | b'{' => {
                    let is_object = first == b'{';
                    if !self.take_if(if is_object { b'}' } else { b']' }) {
                        if depth == DEPTH_MAX {
                            return None;
                        }
                        (open, depth) = (open << 1 | u64::from(is_object), depth + 1);
                        first = self.begin_member(is_object)?;
                        continue;
                    }
                }
                _ => self.finish_scalar(first)?,
            }
            // A value has ended, and perhaps those around it.
            loop {
                if depth == 0 {
                    return Some(());
                }
                let is_object = open & 1 == 1;
                match self.next_visible()? {
                    b',' => {
                        first = self.begin_member(is_object)?;
                        break;
                    }
                    b'}' if is_object => (open, depth) = (open >> 1, depth - 1),
                    b']' if !is_object => (open, depth) = (open >> 1, depth - 1),
                    _ => return None,
                }
            }
        }
    }

    /// Advances into a member's value, past its key if it has one; returns the value's first byte.
    #[inline]
    fn begin_member(&mut self, is_object: bool) -> Option<u8> {
        if is_object {
            self.take(b'"')?;
            self.finish_string()?;
            self.take(b':')?;
        }
        self.next_visible()
    }

    #[inline]
    fn finish_string(&mut self) -> Option<()> {
        self.at += plain_len(&self.text.as_bytes()[self.at..]);
        (self.next()? == b'"').then_some(())
    }

    /// Consumes the rest of a number, `true`, `false` or `null`.
    #[inline(never)]
    fn finish_scalar(&mut self, first: u8) -> Option<()> {
        match first {
            b't' => self.finish_literal(b"rue"),
            b'f' => self.finish_literal(b"alse"),
            b'n' => self.finish_literal(b"ull"),
            b'-' | b'0'..=b'9' => self.finish_number(first),
            _ => None,
        }
    }

    fn finish_literal(&mut self, rest: &[u8]) -> Option<()> {
        let comes = self.text.as_bytes()[self.at..].starts_with(rest);
        self.at += rest.len();
        comes.then_some(())
    }

    fn finish_number(&mut self, first: u8) -> Option<()> {
        let leading = if first == b'-' { self.next()? } else { first };
        match leading {
            b'0' => {}
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.take_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.take_digits()?;
        }
        Some(())
    }

    fn take_digits(&mut self) -> Option<()> {
        let begin = self.at;
        self.skip_digits();
        (self.at > begin).then_some(())
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn skip_whitespace(&mut self) {
        // Few send any: one comparison is enough where none is.
        while self.peek().is_some_and(|byte| byte <= b' ' && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Skips whitespace and consumes the next byte.
    #[inline]
    fn next_visible(&mut self) -> Option<u8> {
        self.skip_whitespace();
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// Returns the text's one value according to the JSON library.
    fn by_library(text: &str) -> Option<&str> {
        serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
    }

    fn by_scan(text: &str) -> Option<&str> {
        let mut scan = Scan::new(text);
        scan.value().filter(|_| scan.is_at_end())
    }

    /// Texts that are nearly JSON.
    fn nearly_json() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"key\":",
            "null",
            "true",
            "false",
            "nul",
            "0",
            "01",
            "-",
            "-0",
            "1.5",
            "1.",
            ".5",
            "1e9",
            "1E+9",
            "1e",
            " ",
            "\n",
            "\t",
            "\u{b}",
            "\\",
            "\\n",
            "\"é\u{1}\"",
            "\"eight bytes\"",
            "\"long text that has 😀 in it\"",
            "[[",
            "]]",
            "{}",
            "[]",
            "\u{7f}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::hash_map("[a-z]{0,9}", inner, 0..4)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_it_finds_is_what_the_library_finds(text in nearly_json()) {
            match (by_scan(&text), by_library(&text)) {
                (None, found) => prop_assert!(found.is_none_or(|value| value.contains('\\')), "{text:?}"),
                (found, by_library) => prop_assert_eq!(found, by_library),
            }
        }

        #[test]
        fn it_finds_every_value_without_escapes(value in json(), is_pretty in any::<bool>()) {
            let text = if is_pretty { format!(" {value:#}\n") } else { value.to_string() };
            match by_scan(&text) {
                None => prop_assert!(text.contains('\\'), "{text:?}"),
                found => prop_assert_eq!(found, Some(text.trim())),
            }
        }
    }

    #[test]
    fn what_nests_too_deep_is_left_to_the_library() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        // The innermost is empty and needs no bit.
        let most = DEPTH_MAX as usize + 1;
        assert!(by_scan(&nested(most)).is_some());
        assert!(by_scan(&nested(most + 1)).is_none());
    }
}
