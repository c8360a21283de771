//! Finds JSON values in a text and validates them (RFC 8259), without interpreting them.
//!
//! Handles only what clients usually send: it gives up at an escape, or where values nest deeper than [`DEPTH_MAX`], as
//! at invalid JSON, and the decoders then ask the JSON library. So whatever it finds is what the library would find,
//! and it never rejects a message by itself.

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
    pub(super) fn take(&mut self, wanted: u8) -> Option<()> {
        self.skip_whitespace();
        (self.next()? == wanted).then_some(())
    }

    /// Skips whitespace and consumes this byte, if it comes next.
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
    pub(super) fn value(&mut self) -> Option<&'a str> {
        self.skip_whitespace();
        let begin = self.at;
        // The open arrays and objects, the innermost in the lowest bit: a one is an object.
        let (mut open, mut depth) = (0u64, 0);
        loop {
            match self.next()? {
                b'"' => self.finish_string()?,
                bracket @ (b'[' | b'{') => {
                    let is_object = bracket == b'{';
                    if !self.take_if(if is_object { b'}' } else { b']' }) {
                        if depth == DEPTH_MAX {
                            return None;
                        }
                        (open, depth) = (open << 1 | u64::from(is_object), depth + 1);
                        self.begin_member(is_object)?;
                        continue;
                    }
                }
                b't' => self.finish_literal(b"rue")?,
                b'f' => self.finish_literal(b"alse")?,
                b'n' => self.finish_literal(b"ull")?,
                first @ (b'-' | b'0'..=b'9') => self.finish_number(first)?,
                _ => return None,
            }
            // A value has ended, and perhaps those around it.
            loop {
                if depth == 0 {
                    return self.text.get(begin..self.at);
                }
                self.skip_whitespace();
                let is_object = open & 1 == 1;
                match self.next()? {
                    b',' => {
                        self.begin_member(is_object)?;
                        break;
                    }
                    b'}' if is_object => (open, depth) = (open >> 1, depth - 1),
                    b']' if !is_object => (open, depth) = (open >> 1, depth - 1),
                    _ => return None,
                }
            }
        }
    }

    /// Advances to a member's value, past its key if it has one.
    fn begin_member(&mut self, is_object: bool) -> Option<()> {
        if is_object {
            self.take(b'"')?;
            self.finish_string()?;
            self.take(b':')?;
        }
        self.skip_whitespace();
        Some(())
    }

    fn finish_string(&mut self) -> Option<()> {
        while let Some(word) = self.text.as_bytes()[self.at..].first_chunk() {
            let plain = plain_bytes(u64::from_le_bytes(*word));
            self.at += plain;
            if plain < 8 {
                break;
            }
        }
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' | 0..0x20 => return None,
                _ => {}
            }
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

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }
}

/// Returns how many of eight bytes, the lowest first, come before one that ends a string, begins an escape, or is a
/// control character. The bit tricks are those of Sean Anderson's "Bit Twiddling Hacks"
/// (<https://graphics.stanford.edu/~seander/bithacks.html>, "Determine if a word has a byte less than n", "… equal to
/// n"): they mark no byte below the first match.
fn plain_bytes(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let less_than = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word & HIGH;
    let equal_to = |byte: u8| less_than(word ^ (ONES * u64::from(byte)), 1);
    let marks = less_than(word, 0x20) | equal_to(b'"') | equal_to(b'\\');
    marks.trailing_zeros() as usize / 8
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
    fn the_first_byte_that_a_string_must_not_hold_is_seen_at_each_place() {
        for byte in 0..=u8::MAX {
            let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
            for at in 0..8 {
                for behind in [b'a', 0, b'"', 0xFF] {
                    let mut word = [behind; 8];
                    word[..at].fill(b'a');
                    word[at] = byte;
                    let word = u64::from_le_bytes(word);
                    let plain = plain_bytes(word);
                    assert_eq!(plain == at, is_special, "{word:x}");
                    assert!(plain >= at, "{word:x}");
                }
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
