//! A string that needs no allocation if it is short, which nearly all are.

use crate::sizes::block_bytes;

/// Texts up to this length are stored inline.
const INLINE_BYTES_MAX: usize = 14;

/// See the module. Sixteen bytes.
pub(crate) struct ShortText(Text);

enum Text {
    Inline {
        length: u8,
        bytes: [u8; INLINE_BYTES_MAX],
    },
    // Behind a thin pointer, so that the whole stays at sixteen bytes.
    #[allow(clippy::redundant_allocation, reason = "see above")]
    Long(Box<Box<str>>),
}

impl ShortText {
    pub(crate) fn new(text: &str) -> ShortText {
        if text.len() > INLINE_BYTES_MAX {
            return ShortText(Text::Long(Box::new(text.into())));
        }
        let mut bytes = [0; INLINE_BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        ShortText(Text::Inline { length: text.len() as u8, bytes })
    }

    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Text::Inline { length, bytes } => {
                str::from_utf8(&bytes[..usize::from(*length)]).expect("it was a text")
            }
            Text::Long(text) => text,
        }
    }

    /// Returns the memory of its allocations, if it has any.
    pub(crate) fn block_bytes(&self) -> usize {
        match &self.0 {
            Text::Inline { .. } => 0,
            Text::Long(text) => block_bytes(size_of::<Box<str>>()) + block_bytes(text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_was_told_and_takes_blocks_only_where_that_is_long() {
        assert_eq!([size_of::<ShortText>(), size_of::<Option<ShortText>>()], [16; 2]);
        for (text, has_block) in
            [("", false), ("user:1", false), ("ünf-zehn-Byte", false), ("fifteen_letters", true)]
        {
            let short = ShortText::new(text);
            assert_eq!((short.as_str(), short.block_bytes() > 0), (text, has_block));
        }
    }
}
