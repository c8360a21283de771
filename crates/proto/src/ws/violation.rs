//! What a peer can do wrong at the framing level.

use std::fmt;

use super::CloseCode;

/// What the peer did wrong; the connection must be closed with [`Violation::close_code`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A reserved bit is set that no negotiated extension defines (RFC 6455 section 5.2).
    ReservedBit,
    /// An undefined opcode (section 5.2).
    Opcode(u8),
    /// A client's frame without a mask (section 5.1).
    MaskMissing,
    /// A server's frame with a mask (section 5.1).
    MaskForbidden,
    /// A length that is not in its shortest form, or of 2^63 or more (section 5.2).
    Length,
    /// A control frame that is fragmented or carries more than 125 bytes (section 5.5).
    Control,
    /// A continuation without a message to continue (section 5.4).
    ContinuationUnexpected,
    /// A new message within a fragmented one (section 5.4).
    ContinuationExpected,
    /// A Close frame with one byte of payload (section 5.5.1).
    CloseTruncated,
    /// A close code that may not be sent (section 7.4).
    CloseCode(u16),
    /// Text, or the reason of a Close, that is not UTF-8 (section 8.1).
    NotUtf8,
    /// A compressed message that does not inflate (RFC 7692 section 7.2.2).
    NotDeflate,
    /// A frame above `Limits::frame_bytes_max`.
    FrameTooBig,
    /// A message above `Limits::message_bytes_max`, as sent or after inflation.
    MessageTooBig,
    /// A message that inflates to more than `Limits::inflate_ratio_max` times its size.
    InflateRatio,
}

impl Violation {
    /// Returns the code for the Close frame.
    pub fn close_code(self) -> u16 {
        match self {
            Violation::ReservedBit
            | Violation::Opcode(_)
            | Violation::MaskMissing
            | Violation::MaskForbidden
            | Violation::Length
            | Violation::Control
            | Violation::ContinuationUnexpected
            | Violation::ContinuationExpected
            | Violation::CloseTruncated
            | Violation::CloseCode(_) => CloseCode::PROTOCOL,
            Violation::NotUtf8 | Violation::NotDeflate => CloseCode::INVALID_DATA,
            Violation::FrameTooBig | Violation::MessageTooBig | Violation::InflateRatio => CloseCode::TOO_BIG,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::ReservedBit => f.write_str("reserved bit set"),
            Violation::Opcode(opcode) => write!(f, "unknown opcode {opcode}"),
            Violation::MaskMissing => f.write_str("client frame without mask"),
            Violation::MaskForbidden => f.write_str("server frame with mask"),
            Violation::Length => f.write_str("malformed frame length"),
            Violation::Control => f.write_str("control frame fragmented or too long"),
            Violation::ContinuationUnexpected => f.write_str("continuation without a message"),
            Violation::ContinuationExpected => f.write_str("new message within a fragmented one"),
            Violation::CloseTruncated => f.write_str("close frame with half a code"),
            Violation::CloseCode(code) => write!(f, "close code {code} may not be sent"),
            Violation::NotUtf8 => f.write_str("text that is not UTF-8"),
            Violation::NotDeflate => f.write_str("compressed message that does not inflate"),
            Violation::FrameTooBig => f.write_str("frame too big"),
            Violation::MessageTooBig => f.write_str("message too big"),
            Violation::InflateRatio => f.write_str("message inflates too much"),
        }
    }
}

impl std::error::Error for Violation {}
