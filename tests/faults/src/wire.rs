//! Frames as a client writes and reads them. RFC 6455 section 5.2.

use flate2::{Compress, Compression, FlushCompress};
use std::io::{self, Read};

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// What a frame is. RFC 6455 section 11.8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Opcode {
    /// More of the message before.
    Continuation = 0,
    /// UTF-8.
    Text = 1,
    /// Bytes.
    Binary = 2,
    /// The last frame.
    Close = 8,
    /// To be answered by a pong.
    Ping = 9,
    /// Answers a ping.
    Pong = 10,
}

impl Opcode {
    fn of(bits: u8) -> Opcode {
        use Opcode::*;
        let all = [Continuation, Text, Binary, Close, Ping, Pong];
        all.into_iter().find(|&opcode| opcode as u8 == bits).expect("a server uses no reserved opcode")
    }
}

/// One frame of the server.
#[derive(Debug)]
pub struct Frame {
    /// What it is.
    pub opcode: Opcode,
    /// Its payload, as it came.
    pub payload: Vec<u8>,
}

impl Frame {
    /// Reads one. A server's frames are not masked.
    pub(crate) fn read(source: &mut impl Read) -> io::Result<Frame> {
        let mut start = [0; 2];
        source.read_exact(&mut start)?;
        let length = match start[1] {
            126 => u64::from(u16::from_be_bytes(read_array(source)?)),
            127 => u64::from_be_bytes(read_array(source)?),
            short => u64::from(short),
        };
        assert!(length < 1 << 30, "the server announces {length} bytes");
        let mut payload = vec![0; length as usize];
        source.read_exact(&mut payload)?;
        Ok(Frame { opcode: Opcode::of(start[0] & 0x0f), payload })
    }

    /// The code of a close frame.
    #[must_use]
    pub fn close_code(&self) -> Option<u16> {
        let code = self.payload.first_chunk().map(|&code| u16::from_be_bytes(code));
        code.filter(|_| self.opcode == Opcode::Close)
    }
}

fn read_array<const BYTES: usize>(source: &mut impl Read) -> io::Result<[u8; BYTES]> {
    let mut array = [0; BYTES];
    source.read_exact(&mut array)?;
    Ok(array)
}

/// A whole message in one masked frame.
#[must_use]
pub fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    masked(0x80 | opcode as u8, payload)
}

/// A masked frame whose first byte is as given: FIN, RSV and opcode.
#[must_use]
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = frame_header(first, payload.len() as u64);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The header of such a frame, with its mask, announcing `length` bytes of payload.
#[must_use]
pub fn frame_header(first: u8, length: u64) -> Vec<u8> {
    let mut header = vec![first];
    match length {
        0..126 => header.push(0x80 | length as u8),
        126..0x1_0000 => {
            header.push(0x80 | 126);
            header.extend((length as u16).to_be_bytes());
        }
        _ => {
            header.push(0x80 | 127);
            header.extend(length.to_be_bytes());
        }
    }
    header.extend(MASK);
    header
}

/// A payload of so many MiB of zeros, compressed for permessage-deflate. RFC 7692 section 7.2.1.
#[must_use]
pub fn compressed_zeros(mebibytes: usize) -> Vec<u8> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(1 << 16);
    compress.compress_vec(&vec![0; 1 << 20], &mut piece, FlushCompress::Full).expect("zeros compress");
    assert_eq!(compress.total_in(), 1 << 20, "all of it, in the room that there is");
    // A full flush refers to nothing before it, so that the piece may follow itself.
    let mut payload = piece.repeat(mebibytes);
    let end = payload.len() - 4;
    assert_eq!(payload.split_off(end), [0, 0, 0xff, 0xff], "the end of a flush is left out");
    payload
}
