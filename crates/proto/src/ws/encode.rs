//! Encodes messages as frames. Everything is appended; nothing is ever fragmented.

use super::header::{CONTROL_PAYLOAD_BYTES_MAX, Opcode};
use super::mask;

/// The longest header: two bytes, an eight-byte length, a four-byte mask.
pub const HEADER_BYTES_MAX: usize = 14;

/// The longest reason that fits in a Close frame after the code.
const REASON_BYTES_MAX: usize = CONTROL_PAYLOAD_BYTES_MAX - 2;

/// Appends a header for a payload of `len` bytes. With a mask, the payload that follows must be masked with it.
pub fn encode_header(
    out: &mut Vec<u8>,
    opcode: Opcode,
    fin: bool,
    rsv1: bool,
    len: usize,
    mask: Option<[u8; 4]>,
) {
    let mut header = [0; HEADER_BYTES_MAX];
    header[0] = u8::from(fin) << 7 | u8::from(rsv1) << 6 | opcode as u8;
    let mut end = match len {
        0..=125 => {
            header[1] = len as u8;
            2
        }
        126..=0xFFFF => {
            header[1] = 126;
            header[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            4
        }
        _ => {
            header[1] = 127;
            header[2..10].copy_from_slice(&(len as u64).to_be_bytes());
            10
        }
    };
    if let Some(mask) = mask {
        header[1] |= 0x80;
        header[end..end + 4].copy_from_slice(&mask);
        end += 4;
    }
    out.extend_from_slice(&header[..end]);
}

/// Appends a server's frame: whole, unmasked, not compressed. A control frame carries at most
/// [`CONTROL_PAYLOAD_BYTES_MAX`] bytes.
pub fn encode_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    debug_assert!(!opcode.is_control() || payload.len() <= CONTROL_PAYLOAD_BYTES_MAX);
    out.reserve(HEADER_BYTES_MAX + payload.len());
    encode_header(out, opcode, true, false, payload.len(), None);
    out.extend_from_slice(payload);
}

/// Appends a client's frame: whole, masked, not compressed.
pub fn encode_client_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: [u8; 4]) {
    debug_assert!(!opcode.is_control() || payload.len() <= CONTROL_PAYLOAD_BYTES_MAX);
    out.reserve(HEADER_BYTES_MAX + payload.len());
    encode_header(out, opcode, true, false, payload.len(), Some(mask));
    let start = out.len();
    out.extend_from_slice(payload);
    mask::apply(&mut out[start..], mask);
}

/// Appends a server's Close frame. Without a code there is no reason either; a reason that is too long is cut at a
/// character boundary.
pub fn encode_close(out: &mut Vec<u8>, code: Option<u16>, reason: &str) {
    let Some(code) = code else { return encode_frame(out, Opcode::Close, &[]) };
    let reason = &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)];
    encode_header(out, Opcode::Close, true, false, 2 + reason.len(), None);
    out.extend_from_slice(&code.to_be_bytes());
    out.extend_from_slice(reason.as_bytes());
}
