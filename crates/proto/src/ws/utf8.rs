//! UTF-8 that arrives in pieces, rejected at the first byte that cannot be part of it.

use super::Violation;

/// The longest incomplete character.
const CARRY_BYTES_MAX: usize = 3;

/// The text so far, and the bytes of a character that was split between pieces.
#[derive(Default)]
pub(super) struct Utf8Buffer {
    text: String,
    carry: [u8; CARRY_BYTES_MAX],
    carry_len: usize,
}

impl Utf8Buffer {
    /// Appends a piece; fails as soon as the whole can no longer be UTF-8.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), Violation> {
        let piece = self.complete_carry(piece)?;
        match simdutf8::compat::from_utf8(piece) {
            Ok(text) => self.text.push_str(text),
            Err(error) if error.error_len().is_some() => return Err(Violation::NotUtf8),
            Err(error) => {
                let (text, cut) = piece.split_at(error.valid_up_to());
                self.text.push_str(std::str::from_utf8(text).map_err(|_| Violation::NotUtf8)?);
                self.carry[..cut.len()].copy_from_slice(cut);
                self.carry_len = cut.len();
            }
        }
        Ok(())
    }

    /// Returns the text, unless a character is still incomplete.
    pub(super) fn finish(self) -> Result<String, Violation> {
        if self.carry_len == 0 { Ok(self.text) } else { Err(Violation::NotUtf8) }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len() + self.carry_len
    }

    pub(super) fn capacity(&self) -> usize {
        self.text.capacity()
    }

    /// Adds bytes to the incomplete character until it is complete; returns the rest of the piece.
    fn complete_carry<'a>(&mut self, mut piece: &'a [u8]) -> Result<&'a [u8], Violation> {
        while self.carry_len > 0 {
            let Some((&byte, rest)) = piece.split_first() else { break };
            piece = rest;
            let mut character = [0; CARRY_BYTES_MAX + 1];
            character[..self.carry_len].copy_from_slice(&self.carry[..self.carry_len]);
            character[self.carry_len] = byte;
            let len = self.carry_len + 1;
            match std::str::from_utf8(&character[..len]) {
                Ok(text) => {
                    self.text.push_str(text);
                    self.carry_len = 0;
                }
                // Four bytes are a character or an error, so an incomplete one always fits in `carry`.
                Err(error) if error.error_len().is_none() && len <= CARRY_BYTES_MAX => {
                    self.carry[..len].copy_from_slice(&character[..len]);
                    self.carry_len = len;
                }
                Err(_) => return Err(Violation::NotUtf8),
            }
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_impossible_second_byte_fails_before_the_character_is_complete() {
        let mut buffer = Utf8Buffer::default();
        assert_eq!(buffer.push(b"\xCE\xBA\xF4"), Ok(()));
        assert_eq!(buffer.push(b"\x90"), Err(Violation::NotUtf8));
    }

    #[test]
    fn a_text_that_ends_within_a_character_is_refused() {
        let mut buffer = Utf8Buffer::default();
        assert_eq!(buffer.push("né".as_bytes().split_last().expect("three bytes").1), Ok(()));
        assert_eq!(buffer.finish(), Err(Violation::NotUtf8));
    }

    proptest! {
        #[test]
        fn pieces_are_judged_as_the_whole(bytes in bytes_near_utf8(), sizes in prop::collection::vec(0..5usize, 0..40)) {
            let mut buffer = Utf8Buffer::default();
            let mut rest = &bytes[..];
            let mut outcome = Ok(());
            for size in sizes.into_iter().chain([bytes.len()]) {
                let (piece, tail) = rest.split_at(size.min(rest.len()));
                outcome = outcome.and_then(|()| buffer.push(piece));
                rest = tail;
            }
            let text = outcome.and_then(|()| buffer.finish());
            prop_assert_eq!(text.ok(), String::from_utf8(bytes).ok());
        }
    }

    fn bytes_near_utf8() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            any::<String>().prop_map(String::into_bytes),
            (any::<String>(), any::<Vec<u8>>()).prop_map(|(text, junk)| [text.as_bytes(), &junk].concat()),
        ]
    }
}
