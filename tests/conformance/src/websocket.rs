//! WebSocket frames as a client sends and sees them, with none of the manners of a client library.
//!
//! Any frame can be sent: unmasked, with reserved bits, with unknown opcodes. What arrives is held to
//! what the reference demands of a server: whole, unmasked, uncompressed frames and no Ping.

use std::fmt;
use std::time::{Duration, Instant};

use crate::PATIENCE;
use crate::bytes;
use crate::failure::Failure;
use crate::wire::Wire;

const FIN: u8 = 0x80;
const MASK: u8 = 0x80;
/// Any key will do: masking guards proxies, not this test (RFC 6455, section 10.3).
const MASKING_KEY: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

/// RFC 6455, section 5.2.
pub(crate) mod opcode {
    #![allow(missing_docs, reason = "each is the RFC's own name")]
    pub(crate) const CONTINUATION: u8 = 0;
    pub(crate) const TEXT: u8 = 1;
    pub(crate) const BINARY: u8 = 2;
    pub(crate) const CLOSE: u8 = 8;
    pub(crate) const PING: u8 = 9;
    pub(crate) const PONG: u8 = 10;
}

/// Everything about an outgoing frame but its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Any of 0 to 15, defined or not.
    pub(crate) opcode: u8,
    /// FIN is clear: more fragments follow.
    pub(crate) more: bool,
    /// The payload goes out as it is, against the RFC.
    pub(crate) unmasked: bool,
    /// The first reserved bit is set.
    pub rsv1: bool,
}

impl Shape {
    /// A whole, masked frame.
    pub(crate) fn whole(opcode: u8) -> Self {
        Self { opcode, more: false, unmasked: false, rsv1: false }
    }
}

/// What came from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// A text frame.
    Text(String),
    /// A binary frame.
    Binary(Vec<u8>),
    /// A Pong with its data.
    Pong(Vec<u8>),
    /// A Close with its code, if it had one.
    Close(Option<u16>),
    /// The connection ended.
    End,
    /// A frame that no server may send to these clients, and why.
    Forbidden(String),
}

impl fmt::Display for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "text {text}"),
            Self::Binary(data) => write!(f, "bytes {}", bytes::show(data)),
            Self::Pong(data) => write!(f, "pong {}", bytes::show(data)),
            Self::Close(Some(code)) => write!(f, "close {code}"),
            Self::Close(None) => write!(f, "close without a code"),
            Self::End => write!(f, "the end of the connection"),
            Self::Forbidden(what) => write!(f, "{what}"),
        }
    }
}

/// One upgraded connection.
#[derive(Debug)]
pub(crate) struct WebSocket {
    wire: Wire,
    closing: bool,
    last_sent: Instant,
    took: Duration,
}

impl WebSocket {
    /// Takes over a connection after its 101.
    pub(crate) fn new(wire: Wire) -> Self {
        Self { wire, closing: false, last_sent: Instant::now(), took: Duration::ZERO }
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// The connection is gone.
    pub(crate) fn send(&mut self, shape: Shape, payload: &[u8]) -> Result<(), Failure> {
        self.closing |= shape.opcode == opcode::CLOSE;
        self.wire.write(&encode(shape, payload))?;
        self.last_sent = Instant::now();
        Ok(())
    }

    /// Waits for the next frame. A Close of the server is answered, as the RFC asks (section 5.5.1).
    ///
    /// # Errors
    /// Nothing came within [`PATIENCE`].
    pub(crate) fn receive(&mut self) -> Result<Incoming, Failure> {
        let deadline = Instant::now() + PATIENCE;
        let incoming = loop {
            if let Some((incoming, length)) = decode(self.wire.unread()) {
                self.wire.consume(length);
                break incoming;
            }
            if !self.wire.fill(deadline)? {
                break Incoming::End;
            }
        };
        self.took = self.last_sent.elapsed();
        if let (Incoming::Close(code), false) = (&incoming, self.closing) {
            let payload = code.map(u16::to_be_bytes);
            // The server need not wait for the answer, so it may be gone already.
            let _ = self.send(Shape::whole(opcode::CLOSE), payload.as_ref().map_or(&[], |code| code));
        }
        Ok(incoming)
    }

    /// From the last frame sent to the last one received.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// Cuts the connection without a Close.
    pub(crate) fn cut(self) {
        self.wire.cut();
    }
}

fn encode(shape: Shape, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![shape.opcode];
    frame[0] |= if shape.more { 0 } else { FIN };
    frame[0] |= if shape.rsv1 { 0x40 } else { 0 };
    let mask_bit = if shape.unmasked { 0 } else { MASK };
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length), _) if length < 126 => frame.push(mask_bit | length),
        (_, Ok(length)) => {
            frame.push(mask_bit | 126);
            frame.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            frame.push(mask_bit | 127);
            frame.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    if shape.unmasked {
        frame.extend_from_slice(payload);
    } else {
        frame.extend_from_slice(&MASKING_KEY);
        frame.extend(payload.iter().zip(MASKING_KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    }
    frame
}

/// The first whole frame and its length, or `None` while part of it is missing.
fn decode(unread: &[u8]) -> Option<(Incoming, usize)> {
    let (&first, &second) = (unread.first()?, unread.get(1)?);
    let (header, length) = match second & !MASK {
        126 => (4, u64::from(u16::from_be_bytes(unread.get(2..4)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(unread.get(2..10)?.try_into().ok()?)),
        short => (2, u64::from(short)),
    };
    if second & MASK != 0 {
        return Some((Incoming::Forbidden("a masked frame".into()), unread.len()));
    }
    if first & 0xF0 != FIN {
        return Some((
            Incoming::Forbidden(format!("a fragment or reserved bits ({first:02X})")),
            unread.len(),
        ));
    }
    let end = usize::try_from(length).ok()?.checked_add(header)?;
    let payload = unread.get(header..end)?;
    Some((interpret(first & 0x0F, payload), end))
}

fn interpret(code: u8, payload: &[u8]) -> Incoming {
    match (code, payload) {
        (opcode::TEXT, _) => match std::str::from_utf8(payload) {
            Ok(text) => Incoming::Text(text.to_owned()),
            Err(_) => Incoming::Forbidden(format!("a text that is not UTF-8: {}", bytes::show(payload))),
        },
        (opcode::BINARY, _) => Incoming::Binary(payload.to_vec()),
        (opcode::PONG, _) => Incoming::Pong(payload.to_vec()),
        (opcode::CLOSE, []) => Incoming::Close(None),
        (opcode::CLOSE, [high, low, ..]) => Incoming::Close(Some(u16::from_be_bytes([*high, *low]))),
        _ => Incoming::Forbidden(format!("a frame with opcode {code}: {}", bytes::show(payload))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_frame_unmasks_to_its_payload() {
        let frame = encode(Shape::whole(opcode::TEXT), b"hello");
        assert_eq!(frame[..2], [0x81, 0x85]);
        let unmasked: Vec<u8> =
            frame[6..].iter().zip(MASKING_KEY.iter().cycle()).map(|(b, k)| b ^ k).collect();
        assert_eq!(unmasked, b"hello");
    }

    #[test]
    fn each_length_form_decodes_to_what_was_encoded() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; length];
            let shape = Shape { unmasked: true, ..Shape::whole(opcode::BINARY) };
            let frame = encode(shape, &payload);
            assert_eq!(decode(&frame[..frame.len() - 1]), None);
            assert_eq!(decode(&frame), Some((Incoming::Binary(payload), frame.len())));
        }
    }

    #[test]
    fn a_server_may_neither_fragment_nor_mask_nor_ping() {
        for frame in [&[0x01, 0x00][..], &[0x81, 0x80, 0, 0, 0, 0], &[0xC1, 0x00], &[0x89, 0x00]] {
            assert!(matches!(decode(frame), Some((Incoming::Forbidden(_), _))), "{frame:02X?}");
        }
    }
}
