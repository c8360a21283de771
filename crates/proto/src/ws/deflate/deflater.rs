//! Compression of one message at a time.

use flate2::{Compress, Compression, FlushCompress};

/// The bytes that a flush ends with and that RFC 7692 section 7.2.1 removes.
const TAIL: [u8; 4] = [0x00, 0x00, 0xFF, 0xFF];

/// The window of a peer that does not demand a smaller one.
const WINDOW_BITS_MAX: u8 = 15;

/// The smallest window with which zlib produces raw deflate.
pub(super) const WINDOW_BITS_MIN: u8 = 9;

/// The minimum room offered to the compressor at a time.
const ROOM_BYTES_MIN: usize = 128;

/// Deflates messages, one after the other, for any number of connections.
#[derive(Default)]
pub struct Deflater {
    level: Compression,
    full_window: Option<Compress>,
    /// For the rare peers that demand a smaller window; of the size that was last requested.
    small_window: Option<(u8, Compress)>,
}

impl Deflater {
    /// Creates a deflater with a zlib level from 1 (fast) to 9 (small); the default is 6.
    pub fn new(level: u8) -> Deflater {
        Deflater { level: Compression::new(u32::from(level.clamp(1, 9))), ..Deflater::default() }
    }

    /// Appends `payload` compressed, without the tail (RFC 7692 section 7.2.1), for peers that accept the full window.
    /// Send it with RSV1 set; if the result is not smaller, it is better to send the payload uncompressed.
    pub fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.compress_within(WINDOW_BITS_MAX, payload, out);
    }

    /// As [`Deflater::compress`], for a peer that demanded a window of `window_bits`, from 9 to 15.
    ///
    /// The result does not depend on `window_bits` if `payload` fits the window, so that it can be shared.
    pub fn compress_within(&mut self, window_bits: u8, payload: &[u8], out: &mut Vec<u8>) {
        if payload.is_empty() {
            // RFC 7692 section 7.2.3.6.
            out.push(0x00);
            return;
        }
        let window_bits = window_bits.clamp(WINDOW_BITS_MIN, WINDOW_BITS_MAX);
        let stream = match payload.len() <= 1 << window_bits || window_bits == WINDOW_BITS_MAX {
            true => self.full_window.get_or_insert_with(|| new_stream(self.level, WINDOW_BITS_MAX)),
            false => self.small_window_stream(window_bits),
        };
        run(stream, payload, out);
    }

    fn small_window_stream(&mut self, window_bits: u8) -> &mut Compress {
        let level = self.level;
        let (_, stream) = match self.small_window.take() {
            Some((bits, stream)) if bits == window_bits => self.small_window.insert((bits, stream)),
            _ => self.small_window.insert((window_bits, new_stream(level, window_bits))),
        };
        stream
    }
}

impl std::fmt::Debug for Deflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deflater").field("level", &self.level.level()).finish_non_exhaustive()
    }
}

fn new_stream(level: Compression, window_bits: u8) -> Compress {
    Compress::new_with_window_bits(level, false, window_bits)
}

fn run(stream: &mut Compress, payload: &[u8], out: &mut Vec<u8>) {
    stream.reset();
    let start = out.len();
    loop {
        out.reserve(ROOM_BYTES_MIN + payload.len() / 4);
        let rest = payload.get(stream.total_in() as usize..).unwrap_or_default();
        stream
            .compress_vec(rest, out, FlushCompress::Sync)
            .expect("a stream that was just reset accepts input");
        let is_flushed = stream.total_in() as usize == payload.len() && out.len() < out.capacity();
        if is_flushed {
            break;
        }
    }
    debug_assert!(out[start..].ends_with(&TAIL));
    out.truncate(out.len() - TAIL.len());
}

#[cfg(test)]
mod tests {
    use flate2::{Decompress, FlushDecompress};

    use super::*;

    #[test]
    fn an_empty_message_is_one_zero_byte() {
        let mut out = Vec::new();
        Deflater::default().compress(b"", &mut out);
        assert_eq!(out, [0x00]);
    }

    #[test]
    fn each_message_is_compressed_by_itself() {
        let (mut deflater, mut first, mut second) = (Deflater::default(), Vec::new(), Vec::new());
        deflater.compress(b"the same words", &mut first);
        deflater.compress(b"the same words", &mut second);
        assert_eq!(first, second);
    }

    #[test]
    fn a_demanded_window_is_kept_to() {
        // Random enough to need the whole distance, repeated at a distance that only larger windows reach.
        let block: Vec<u8> = (0..3000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let payload = block.repeat(4);
        let mut deflater = Deflater::default();
        for window_bits in [9, 10, 9, 12, 15] {
            let mut compressed = Vec::new();
            deflater.compress_within(window_bits, &payload, &mut compressed);
            compressed.extend_from_slice(&TAIL);
            assert_eq!(inflate_with_window(window_bits, &compressed), payload, "{window_bits} bits");
        }
    }

    /// Provides little output room at a time, so that what is further back must come from the window.
    fn inflate_with_window(window_bits: u8, mut compressed: &[u8]) -> Vec<u8> {
        let mut stream = Decompress::new_with_window_bits(false, window_bits);
        let mut inflated = Vec::new();
        loop {
            let (mut room, consumed, produced) = ([0; 64], stream.total_in(), stream.total_out());
            stream
                .decompress(compressed, &mut room, FlushDecompress::None)
                .expect("a peer with that window can read it");
            compressed = &compressed[(stream.total_in() - consumed) as usize..];
            let produced = (stream.total_out() - produced) as usize;
            inflated.extend_from_slice(&room[..produced]);
            if compressed.is_empty() && produced < room.len() {
                return inflated;
            }
        }
    }
}
