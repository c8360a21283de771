//! The encoding of a connection: the serializer it negotiated and the transport under it.

use proto::phoenix::{FrameKind, Version};
use proto::ws::deflate::Deflater;
use proto::ws::{Opcode, encode_frame, encode_header};

/// The transport of a connection's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// WebSocket frames.
    WebSocket,
    /// WebSocket frames with permessage-deflate, without context takeover.
    WebSocketDeflate,
    /// Long-polling: message texts without framing; bytes cannot be carried.
    LongPoll,
}

/// Serializer and transport: connections of one dialect get the same bytes of a publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// Phoenix's serializer.
    pub version: Version,
    /// The transport.
    pub transport: Transport,
}

/// The number of dialects.
pub(crate) const DIALECTS: usize = 6;

/// Smaller messages grow when they are compressed.
const DEFLATE_BYTES_MIN: usize = 48;

impl Dialect {
    /// Returns a dense index below [`DIALECTS`].
    pub(crate) fn index(self) -> usize {
        let transport = match self.transport {
            Transport::WebSocket => 0,
            Transport::WebSocketDeflate => 2,
            Transport::LongPoll => 4,
        };
        transport + matches!(self.version, Version::V2) as usize
    }

    pub(crate) fn from_index(index: usize) -> Dialect {
        let version = if index % 2 == 1 { Version::V2 } else { Version::V1 };
        let transport = match index / 2 {
            0 => Transport::WebSocket,
            1 => Transport::WebSocketDeflate,
            _ => Transport::LongPoll,
        };
        Dialect { version, transport }
    }
}

/// Wraps an encoded message for the dialect's transport and appends it to `out`. Returns `false` if the transport
/// cannot carry it.
pub(crate) fn wrap(
    dialect: Dialect,
    kind: FrameKind,
    body: &[u8],
    deflater: &mut Deflater,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> bool {
    let opcode = match kind {
        FrameKind::Text => Opcode::Text,
        FrameKind::Binary => Opcode::Binary,
    };
    match dialect.transport {
        Transport::WebSocketDeflate if body.len() >= DEFLATE_BYTES_MIN => {
            scratch.clear();
            deflater.compress(body, scratch);
            encode_header(out, opcode, true, true, scratch.len(), None);
            out.extend_from_slice(scratch);
            true
        }
        Transport::WebSocket | Transport::WebSocketDeflate => {
            encode_frame(out, opcode, body);
            true
        }
        Transport::LongPoll if kind == FrameKind::Text => {
            out.extend_from_slice(body);
            true
        }
        Transport::LongPoll => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_its_own_index() {
        for index in 0..DIALECTS {
            assert_eq!(Dialect::from_index(index).index(), index);
        }
    }
}
