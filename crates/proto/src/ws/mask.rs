//! Masking of payloads (RFC 6455 section 5.3). Masking and unmasking are the same operation.

/// Masks `payload` in place, its first byte with `mask[0]`.
pub(super) fn apply(payload: &mut [u8], mask: [u8; 4]) {
    // Eight bytes at a time: a loop that the compiler vectorizes.
    let narrow = u64::from(u32::from_ne_bytes(mask));
    let wide = narrow | narrow << 32;
    let (words, tail) = payload.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in tail.iter_mut().zip(wide.to_ne_bytes()) {
        *byte ^= mask;
    }
}

/// Returns the mask for the bytes after the first `len`.
pub(super) fn rotated(mut mask: [u8; 4], len: usize) -> [u8; 4] {
    mask.rotate_left(len % 4);
    mask
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn masking_in_two_parts_equals_masking_byte_by_byte(payload: Vec<u8>, mask: [u8; 4], cut: prop::sample::Index) {
            let cut = cut.index(payload.len() + 1);
            let expected: Vec<u8> = payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
            let mut masked = payload;
            let (head, tail) = masked.split_at_mut(cut);
            apply(head, mask);
            apply(tail, rotated(mask, cut));
            prop_assert_eq!(masked, expected);
        }
    }
}
