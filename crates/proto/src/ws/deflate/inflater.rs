//! Decompression of one message at a time.

use flate2::{Decompress, FlushDecompress, Status};

use super::super::Violation;
use super::super::decode::Limits;

/// The size to which a message may inflate at any ratio: tiny messages compress extremely well without being bombs.
pub const INFLATE_FLOOR_BYTES: usize = 64 * 1024;

/// The size of the output buffer that is kept between messages; a larger one is freed.
const RETAINED_BYTES_MAX: usize = 64 * 1024;

/// The tail that RFC 7692 section 7.2.2 restores, and an empty final block: a stream that ends exactly with that was
/// between two blocks before, so nothing of the message was missing.
const TAIL_AND_END: [u8; 9] = [0x00, 0x00, 0xFF, 0xFF, 0x01, 0x00, 0x00, 0xFF, 0xFF];

/// How many further streams a message may contain. Each costs a reset, and no encoder makes more than one.
const STREAMS_MAX: usize = 8;

/// The minimum room offered to the decompressor at a time.
const ROOM_BYTES_MIN: usize = 4 * 1024;

/// Inflates messages, one after the other, of any number of connections. Supports every window that a peer may use.
#[derive(Default)]
pub struct Inflater {
    stream: Option<Decompress>,
    output: Vec<u8>,
}

impl Inflater {
    /// Inflates a message whose tail has been removed (RFC 7692 section 7.2.2); the result is valid until the next
    /// call.
    ///
    /// Fails with [`Violation::NotDeflate`] if the input does not inflate to its end, and with
    /// [`Violation::MessageTooBig`] or [`Violation::InflateRatio`] as soon as a limit is exceeded.
    pub fn inflate(&mut self, compressed: &[u8], limits: &Limits) -> Result<&[u8], Violation> {
        if self.output.capacity() > RETAINED_BYTES_MAX {
            self.output = Vec::new();
        }
        self.output.clear();
        let stream = self.stream.get_or_insert_with(|| Decompress::new(false));
        stream.reset(false);
        let bound = Bound::new(compressed.len(), limits);
        let has_ended = compressed.is_empty() || run(stream, compressed, &mut self.output, &bound)?;
        if has_ended || run(stream, &TAIL_AND_END, &mut self.output, &bound)? {
            Ok(&self.output)
        } else {
            Err(Violation::NotDeflate)
        }
    }
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflater").field("allocated", &self.stream.is_some()).finish()
    }
}

/// The size at which inflation stops, and the violation to report then.
struct Bound {
    bytes_max: usize,
    violation: Violation,
}

impl Bound {
    fn new(compressed_bytes: usize, limits: &Limits) -> Bound {
        let by_ratio = compressed_bytes.saturating_mul(limits.inflate_ratio_max).max(INFLATE_FLOOR_BYTES);
        if by_ratio < limits.message_bytes_max {
            Bound { bytes_max: by_ratio, violation: Violation::InflateRatio }
        } else {
            Bound { bytes_max: limits.message_bytes_max, violation: Violation::MessageTooBig }
        }
    }
}

/// Inflates all of `input` and appends it to `output`. Returns whether a stream ended with its last byte.
///
/// A block marked as final ends a deflate stream but not the message (RFC 7692 section 7.2.3.4): another may follow.
fn run(
    stream: &mut Decompress,
    mut input: &[u8],
    output: &mut Vec<u8>,
    bound: &Bound,
) -> Result<bool, Violation> {
    let mut streams_left = STREAMS_MAX;
    loop {
        output.reserve(ROOM_BYTES_MIN);
        let (in_before, out_before) = (stream.total_in(), stream.total_out());
        let status =
            stream.decompress_vec(input, output, FlushDecompress::None).map_err(|_| Violation::NotDeflate)?;
        let consumed = (stream.total_in() - in_before) as usize;
        let is_stuck = consumed == 0 && stream.total_out() == out_before;
        input = input.get(consumed..).unwrap_or_default();
        if output.len() > bound.bytes_max {
            return Err(bound.violation);
        }
        match status {
            Status::StreamEnd if input.is_empty() => return Ok(true),
            Status::StreamEnd if streams_left == 0 => return Err(Violation::NotDeflate),
            Status::StreamEnd => {
                stream.reset(false);
                streams_left -= 1;
            }
            // If all of the room was used, there may be more output.
            Status::Ok | Status::BufError if input.is_empty() && output.len() < output.capacity() => {
                return Ok(false);
            }
            Status::Ok | Status::BufError if is_stuck => return Err(Violation::NotDeflate),
            Status::Ok | Status::BufError => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Deflater;
    use super::*;

    const HELLO: [u8; 7] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00];

    fn inflate(compressed: &[u8]) -> Result<Vec<u8>, Violation> {
        Inflater::default().inflate(compressed, &Limits::default()).map(<[u8]>::to_vec)
    }

    #[test]
    fn the_examples_of_the_rfc_inflate() {
        let examples: [&[u8]; 4] = [
            &HELLO,
            &[0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            &[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            &[0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ];
        for example in examples {
            assert_eq!(inflate(example), Ok(b"Hello".to_vec()), "{example:x?}");
        }
    }

    #[test]
    fn an_empty_message_has_two_spellings() {
        assert_eq!(inflate(&[0x00]), Ok(Vec::new()));
        assert_eq!(inflate(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_message_without_its_end_is_refused() {
        for end in 1..HELLO.len() {
            assert_eq!(inflate(&HELLO[..end]), Err(Violation::NotDeflate), "first {end} bytes");
        }
    }

    #[test]
    fn nothing_is_carried_from_message_to_message() {
        let mut inflater = Inflater::default();
        assert!(inflater.inflate(&HELLO, &Limits::default()).is_ok());
        // The second message of RFC 7692 section 7.2.3.2 refers to the first.
        let with_takeover = [0xF2, 0x00, 0x11, 0x00, 0x00];
        assert_eq!(inflater.inflate(&with_takeover, &Limits::default()), Err(Violation::NotDeflate));
        assert_eq!(inflater.inflate(&HELLO, &Limits::default()), Ok(&b"Hello"[..]));
    }

    #[test]
    fn a_bomb_is_cut_off_at_the_ratio() {
        let mut bomb = Vec::new();
        Deflater::default().compress(&vec![0; 4 << 20], &mut bomb);
        let limits = Limits { inflate_ratio_max: 25, ..Limits::default() };
        let mut inflater = Inflater::default();
        assert_eq!(inflater.inflate(&bomb, &limits), Err(Violation::InflateRatio));
        assert!(inflater.output.capacity() <= 4 * INFLATE_FLOOR_BYTES.max(bomb.len() * 25));
    }

    #[test]
    fn an_inflated_message_keeps_to_the_message_limit() {
        let mut compressed = Vec::new();
        Deflater::default().compress(&[7; 1000], &mut compressed);
        let limits = |message_bytes_max| Limits { message_bytes_max, ..Limits::default() };
        let mut inflater = Inflater::default();
        assert_eq!(inflater.inflate(&compressed, &limits(1000)).map(<[u8]>::len), Ok(1000));
        assert_eq!(inflater.inflate(&compressed, &limits(999)), Err(Violation::MessageTooBig));
    }

    #[test]
    fn many_streams_in_one_message_are_refused() {
        assert_eq!(inflate(&[0x03, 0x00].repeat(STREAMS_MAX)), Ok(Vec::new()));
        assert_eq!(inflate(&[0x03, 0x00].repeat(1000)), Err(Violation::NotDeflate));
    }

    #[test]
    fn a_big_buffer_is_not_kept() {
        let mut compressed = Vec::new();
        Deflater::default().compress(&[7; 2 * RETAINED_BYTES_MAX], &mut compressed);
        let limits = Limits { inflate_ratio_max: usize::MAX, ..Limits::default() };
        let mut inflater = Inflater::default();
        assert!(inflater.inflate(&compressed, &limits).is_ok());
        assert!(inflater.inflate(&HELLO, &limits).is_ok());
        assert!(inflater.output.capacity() <= RETAINED_BYTES_MAX);
    }
}
