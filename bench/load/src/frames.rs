//! Counts a server's messages in a byte stream using only their lengths (RFC 6455, section 5.2).
//!
//! Owns the state of a frame that a read has split, and must never copy or examine a payload.

/// Length of the longest frame head that a server may send: two bytes, and eight for the length.
const HEAD_BYTES_MAX: usize = 10;

const OPCODE_CLOSE: u8 = 8;

/// The position of one connection in its stream of frames.
#[derive(Clone, Debug, Default)]
pub struct FrameReader {
    payload_left: u64,
    head: [u8; HEAD_BYTES_MAX],
    head_length: u8,
}

/// What a piece of the stream contained.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    /// Data messages whose last byte was in it.
    pub messages: u32,
    /// Whether it contained a close frame.
    pub close: bool,
}

impl FrameReader {
    /// Consumes the next bytes of the stream. A message that ends in a frame shorter than `least_bytes` is not counted:
    /// some protocols use short frames for control messages.
    pub fn feed(&mut self, mut bytes: &[u8], least_bytes: u64) -> Seen {
        let mut seen = Seen::default();
        while !bytes.is_empty() {
            if self.payload_left == 0 {
                bytes = self.read_head(bytes);
            }
            let skipped = self.payload_left.min(bytes.len() as u64);
            self.payload_left -= skipped;
            bytes = &bytes[skipped as usize..];
            if self.payload_left == 0 && self.head_is_complete() {
                self.finish_frame(&mut seen, least_bytes);
            }
        }
        seen
    }

    fn read_head<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let [first, rest @ ..] = bytes {
            self.head[usize::from(self.head_length)] = *first;
            self.head_length += 1;
            bytes = rest;
            if self.head_is_complete() {
                self.payload_left = self.payload_length();
                break;
            }
        }
        bytes
    }

    fn head_is_complete(&self) -> bool {
        let length_bytes = match self.head[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        self.head_length >= 2 + length_bytes
    }

    fn payload_length(&self) -> u64 {
        match self.head[1] & 0x7f {
            short @ 0..126 => u64::from(short),
            _ => self.head[2..usize::from(self.head_length)]
                .iter()
                .fold(0, |sum, byte| (sum << 8) | u64::from(*byte)),
        }
    }

    fn finish_frame(&mut self, seen: &mut Seen, least_bytes: u64) {
        let (last, opcode) = (self.head[0] & 0x80 != 0, self.head[0] & 0x0f);
        let is_message = last && opcode < OPCODE_CLOSE && self.payload_length() >= least_bytes;
        seen.messages += u32::from(is_message);
        seen.close |= opcode == OPCODE_CLOSE;
        self.head_length = 0;
        self.head[1] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::server_frame;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_are_counted_wherever_the_reads_cut(
            lengths in prop::collection::vec(0_usize..70_000, 0..8),
            cut_bytes in 1_usize..5_000,
        ) {
            let stream: Vec<u8> =
                lengths.iter().flat_map(|length| server_frame(&"x".repeat((*length).min(65_535)))).collect();
            let mut reader = FrameReader::default();
            let messages: u32 = stream.chunks(cut_bytes).map(|chunk| reader.feed(chunk, 0).messages).sum();
            prop_assert_eq!(messages as usize, lengths.len());
        }
    }

    #[test]
    fn a_fragmented_message_counts_once_and_a_ping_not_at_all() {
        let stream = [0x01, 2, b'a', b'b', 0x89, 1, b'!', 0x80, 0];
        assert_eq!(FrameReader::default().feed(&stream, 0), Seen { messages: 1, close: false });
    }

    #[test]
    fn a_length_of_eight_bytes_is_understood() {
        let mut stream = vec![0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0];
        stream.extend(vec![0; 65_536]);
        assert_eq!(FrameReader::default().feed(&stream, 0), Seen { messages: 1, close: false });
    }

    #[test]
    fn a_frame_that_is_too_short_for_a_message_is_not_counted() {
        let stream: Vec<u8> = ["PING", "a message of 20 bytes"].into_iter().flat_map(server_frame).collect();
        assert_eq!(FrameReader::default().feed(&stream, 20), Seen { messages: 1, close: false });
        assert_eq!(FrameReader::default().feed(&stream, 0), Seen { messages: 2, close: false });
    }

    #[test]
    fn a_close_frame_is_told_apart_from_messages() {
        assert_eq!(FrameReader::default().feed(&[0x88, 2, 3, 0xe8], 0), Seen { messages: 0, close: true });
    }
}
