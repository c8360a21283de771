//! The header of a frame (RFC 6455 section 5.2), parsed and checked as soon as its bytes are there.

use super::Violation;

/// The most payload that a control frame may carry (RFC 6455 section 5.5).
pub const CONTROL_PAYLOAD_BYTES_MAX: usize = 125;

/// Our role: a server reads masked frames, a client unmasked ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// We accepted the connection.
    Server,
    /// We opened the connection.
    Client,
}

/// The type of a frame (RFC 6455 section 11.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the RFC")]
pub enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// A frame's header, valid in itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) opcode: Opcode,
    pub(super) fin: bool,
    /// RSV1: the message that starts here is compressed (RFC 7692 section 6).
    pub(super) deflated: bool,
    pub(super) mask: Option<[u8; 4]>,
    pub(super) header_bytes: usize,
    pub(super) payload_bytes: usize,
}

impl Opcode {
    fn parse(bits: u8) -> Result<Opcode, Violation> {
        match bits {
            0 => Ok(Opcode::Continuation),
            1 => Ok(Opcode::Text),
            2 => Ok(Opcode::Binary),
            8 => Ok(Opcode::Close),
            9 => Ok(Opcode::Ping),
            10 => Ok(Opcode::Pong),
            _ => Err(Violation::Opcode(bits)),
        }
    }

    /// Returns whether it is Close, Ping or Pong, which may come between the fragments of a message.
    pub fn is_control(self) -> bool {
        match self {
            Opcode::Close | Opcode::Ping | Opcode::Pong => true,
            Opcode::Continuation | Opcode::Text | Opcode::Binary => false,
        }
    }
}

impl Header {
    /// Parses a header; `None` while bytes are missing. `deflate` says whether RSV1 has a meaning.
    pub(super) fn parse(input: &[u8], role: Role, deflate: bool) -> Result<Option<Header>, Violation> {
        let Some(&[first, second]) = input.first_chunk() else { return Ok(None) };
        let (opcode, fin) = (Opcode::parse(first & 0x0F)?, first & 0x80 != 0);
        let deflated = check_reserved(first, opcode, deflate)?;
        let masked = check_masked(second, role)?;
        let short_len = second & 0x7F;
        if opcode.is_control() && (!fin || usize::from(short_len) > CONTROL_PAYLOAD_BYTES_MAX) {
            return Err(Violation::Control);
        }
        let Some((payload_bytes, rest)) = parse_len(short_len, &input[2..])? else { return Ok(None) };
        let (mask, rest) = match (masked, rest.split_first_chunk()) {
            (true, Some((&mask, rest))) => (Some(mask), rest),
            (true, None) => return Ok(None),
            (false, _) => (None, rest),
        };
        let header_bytes = input.len() - rest.len();
        Ok(Some(Header { opcode, fin, deflated, mask, header_bytes, payload_bytes }))
    }

    /// Returns the bytes of header and payload together.
    pub(super) fn frame_bytes(&self) -> usize {
        self.header_bytes.saturating_add(self.payload_bytes)
    }
}

/// Returns RSV1, which may be set on the first frame of a message if deflate was negotiated; no other bit may be set.
fn check_reserved(first: u8, opcode: Opcode, deflate: bool) -> Result<bool, Violation> {
    match first & 0x70 {
        0 => Ok(false),
        0x40 if deflate && matches!(opcode, Opcode::Text | Opcode::Binary) => Ok(true),
        _ => Err(Violation::ReservedBit),
    }
}

fn check_masked(second: u8, role: Role) -> Result<bool, Violation> {
    match (role, second & 0x80 != 0) {
        (Role::Server, false) => Err(Violation::MaskMissing),
        (Role::Client, true) => Err(Violation::MaskForbidden),
        (_, masked) => Ok(masked),
    }
}

/// Parses the payload length; returns it with what follows. "The minimal number of bytes MUST be used" (section 5.2).
fn parse_len(short_len: u8, input: &[u8]) -> Result<Option<(usize, &[u8])>, Violation> {
    let (len, minimum, rest) = match short_len {
        126 => match input.split_first_chunk() {
            Some((&bytes, rest)) => (u64::from(u16::from_be_bytes(bytes)), 126, rest),
            None => return Ok(None),
        },
        127 => match input.split_first_chunk() {
            Some((&bytes, rest)) => (u64::from_be_bytes(bytes), 1 << 16, rest),
            None => return Ok(None),
        },
        _ => (u64::from(short_len), 0, input),
    };
    if len < minimum || len >= 1 << 63 {
        return Err(Violation::Length);
    }
    let len = usize::try_from(len).map_err(|_| Violation::FrameTooBig)?;
    Ok(Some((len, rest)))
}
