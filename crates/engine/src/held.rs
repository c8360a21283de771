//! The memory that a shard's outboxes hold: each buffer counts once, however many outboxes refer to it.
//!
//! A broadcast that ten thousand slow readers do not take is one buffer in ten thousand outboxes. Used only when a peer
//! does not read as fast as data is sent to it.

use std::collections::HashMap;

use bytes::Bytes;

/// Size of an outbox's list entry for each segment.
const ENTRY_BYTES: usize = size_of::<Bytes>();
/// A buffer's own header and that of its allocation.
const HEADER_BYTES: usize = 48;

/// The buffers, by their end address, which does not change when the front of a segment is consumed.
#[derive(Default)]
pub(crate) struct Held {
    buffers: HashMap<usize, Buffer>,
    bytes: usize,
}

struct Buffer {
    holders: usize,
    bytes: usize,
}

impl Held {
    /// Returns the memory of all buffers and lists, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Records that one more outbox holds this segment.
    pub(crate) fn hold(&mut self, segment: &Bytes) {
        self.bytes += ENTRY_BYTES;
        let buffer = self.buffers.entry(end(segment)).or_insert_with(|| {
            self.bytes += HEADER_BYTES;
            Buffer { holders: 0, bytes: 0 }
        });
        buffer.holders += 1;
        // The rest of a segment may be recorded before the whole one is.
        let grown = segment.len().saturating_sub(buffer.bytes);
        buffer.bytes += grown;
        self.bytes += grown;
    }

    /// Records that an outbox no longer holds this segment, or what was left of it.
    pub(crate) fn release(&mut self, segment: &Bytes) {
        let end = end(segment);
        let Some(buffer) = self.buffers.get_mut(&end) else {
            debug_assert!(false, "a segment is held before it is released");
            return;
        };
        self.bytes -= ENTRY_BYTES;
        buffer.holders -= 1;
        if buffer.holders == 0 {
            self.bytes -= HEADER_BYTES + buffer.bytes;
            self.buffers.remove(&end);
            // Release the table's memory after a crowd of slow readers has gone.
            if self.buffers.capacity() > 1024 && self.buffers.is_empty() {
                self.buffers.shrink_to_fit();
            }
        }
    }
}

fn end(segment: &Bytes) -> usize {
    segment.as_ptr() as usize + segment.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Buf;

    #[test]
    fn a_buffer_is_counted_once_for_all_who_hold_it() {
        let mut held = Held::default();
        let frame = Bytes::from(vec![0; 1000]);
        for _ in 0..10_000 {
            held.hold(&frame);
        }
        assert_eq!(held.bytes(), 1000 + HEADER_BYTES + 10_000 * ENTRY_BYTES);
        for _ in 0..10_000 {
            held.release(&frame);
        }
        assert_eq!(held.bytes(), 0);
    }

    #[test]
    fn a_segment_is_known_again_when_its_front_was_taken() {
        let mut held = Held::default();
        let mut segment = Bytes::from(vec![0; 1000]);
        let rest = segment.slice(600..);
        held.hold(&rest);
        held.hold(&segment);
        assert_eq!(held.bytes(), 1000 + HEADER_BYTES + 2 * ENTRY_BYTES);
        segment.advance(999);
        held.release(&segment);
        held.release(&rest);
        assert_eq!(held.bytes(), 0);
    }
}
