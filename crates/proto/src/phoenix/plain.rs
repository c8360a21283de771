//! Finds the first byte of a text that a JSON string cannot hold as it is (RFC 8259 section 7): one that ends the string,
//! begins an escape, or is a control character.

/// Returns how many bytes come before that one; all, if there is none.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes[at..].first_chunk() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| is_plain(byte)) {
        at += 1;
    }
    at
}

/// Returns whether a JSON string can hold this byte as it is.
#[inline]
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// Marks the first of eight bytes, the lowest first, that is not plain, in its highest bit; perhaps some behind it. Zero,
/// if all are plain.
///
/// The bit tricks are those of Sean Anderson's "Bit Twiddling Hacks"
/// (<https://graphics.stanford.edu/~seander/bithacks.html>, "Determine if a word has a byte less than n", "… equal to n").
/// A byte that has its highest bit is none of these, and keeps it when it is compared: so one mask is enough for all.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let less_than = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than));
    let equal_to = |byte: u8| less_than(word ^ (ONES * u64::from(byte)), 1);
    (less_than(word, 0x20) | equal_to(b'"') | equal_to(b'\\')) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_a_string_cannot_hold_is_found_at_each_place() {
        for byte in 0..=u8::MAX {
            for (at, behind) in (0..20).flat_map(|at| [b'a', 0, b'"', 0xFF].map(|behind| (at, behind))) {
                let mut bytes = [behind; 20];
                bytes[..at].fill(b'a');
                bytes[at] = byte;
                let expected = bytes.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
                assert_eq!(plain_len(&bytes), expected.unwrap_or(bytes.len()), "{bytes:x?}");
            }
        }
    }
}
