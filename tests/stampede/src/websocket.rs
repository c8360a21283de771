//! Frames and the accept key, RFC 6455 sections 4.2.2 and 5.2, for either side.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

/// What is added to a key. RFC 6455 section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Nobody here sends more.
const PAYLOAD_BYTES_MAX: u64 = 1 << 24;
const MASK: [u8; 4] = [0x5a, 0x12, 0xc3, 0x7f];

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
    /// Whether a frame of it is, or is part of, a message.
    #[must_use]
    pub fn is_data(self) -> bool {
        matches!(self, Self::Continuation | Self::Text | Self::Binary)
    }

    fn of(bits: u8) -> io::Result<Self> {
        use Opcode::{Binary, Close, Continuation, Ping, Pong, Text};
        let all = [Continuation, Text, Binary, Close, Ping, Pong];
        let found = all.into_iter().find(|&opcode| opcode as u8 == bits);
        found.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("opcode {bits}")))
    }
}

/// One frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Whether it is its message's last.
    pub is_final: bool,
    /// What it is.
    pub opcode: Opcode,
    /// Without its mask.
    pub payload: Vec<u8>,
}

impl Frame {
    /// A whole message, or a control frame.
    #[must_use]
    pub fn whole(opcode: Opcode, payload: impl Into<Vec<u8>>) -> Self {
        Self { is_final: true, opcode, payload: payload.into() }
    }

    /// A close frame with a code.
    #[must_use]
    pub fn close(code: u16) -> Self {
        Self::whole(Opcode::Close, code.to_be_bytes())
    }

    /// Reads one.
    ///
    /// # Errors
    /// The source ends or fails, or it is no frame of ours.
    pub fn read(source: &mut impl Read) -> io::Result<Self> {
        let [first, second] = array(source)?;
        if first & 0x70 != 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a reserved bit is set"));
        }
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(array(source)?)),
            127 => u64::from_be_bytes(array(source)?),
            short => u64::from(short),
        };
        if length > PAYLOAD_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes")));
        }
        let mask: [u8; 4] = if second & 0x80 == 0 { [0; 4] } else { array(source)? };
        let mut payload = vec![0; length as usize];
        source.read_exact(&mut payload)?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Ok(Self { is_final: first & 0x80 != 0, opcode: Opcode::of(first & 0x0f)?, payload })
    }

    /// As a server sends it.
    #[must_use]
    pub fn unmasked(&self) -> Vec<u8> {
        let mut bytes = self.header(0);
        bytes.extend(&self.payload);
        bytes
    }

    /// As a client sends it.
    #[must_use]
    pub fn masked(&self) -> Vec<u8> {
        let mut bytes = self.header(0x80);
        bytes.extend(MASK);
        bytes.extend(self.payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    fn header(&self, mask_bit: u8) -> Vec<u8> {
        let mut header = vec![u8::from(self.is_final) << 7 | self.opcode as u8];
        match self.payload.len() {
            length @ 0..126 => header.push(mask_bit | length as u8),
            length @ 126..0x1_0000 => {
                header.push(mask_bit | 126);
                header.extend((length as u16).to_be_bytes());
            }
            length => {
                header.push(mask_bit | 127);
                header.extend((length as u64).to_be_bytes());
            }
        }
        header
    }
}

/// The answer to a client's key. RFC 6455 section 4.2.2.
#[must_use]
pub fn accept_key(key: &str) -> String {
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

fn array<const BYTES: usize>(source: &mut impl Read) -> io::Result<[u8; BYTES]> {
    let mut array = [0; BYTES];
    source.read_exact(&mut array)?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_by_either_side() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let frame = Frame::whole(Opcode::Binary, vec![7; length]);
            for bytes in [frame.unmasked(), frame.masked()] {
                assert_eq!(Frame::read(&mut bytes.as_slice()).expect("a frame"), frame);
            }
        }
    }

    /// The example of RFC 6455 section 1.3.
    #[test]
    fn the_accept_key_is_that_of_the_standard() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
