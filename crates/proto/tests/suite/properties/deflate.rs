//! permessage-deflate: what we compress can be decompressed, and what others compress is bounded.

use proto::ws::{Deflater, Inflater, Limits};

const LIMITS: Limits = Limits { frame_bytes_max: 1 << 20, message_bytes_max: 100_000, inflate_ratio_max: 20 };

/// The first byte chooses level and window; the rest is used both as a message and as a compressed one.
pub fn messages_survive_and_junk_is_bounded(data: &[u8]) {
    let Some((&setting, message)) = data.split_first() else { return };
    let mut inflater = Inflater::default();
    if let Ok(inflated) = inflater.inflate(message, &LIMITS) {
        assert!(inflated.len() <= LIMITS.message_bytes_max);
    }
    let unlimited = Limits { message_bytes_max: usize::MAX, inflate_ratio_max: usize::MAX, ..LIMITS };
    let mut compressed = Vec::new();
    Deflater::new(setting & 15).compress_within(9 + (setting >> 4) % 7, message, &mut compressed);
    assert_eq!(inflater.inflate(&compressed, &unlimited), Ok(message));
}
