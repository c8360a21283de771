//! permessage-deflate (RFC 7692), always without context takeover in either direction: each message is compressed by
//! itself, so an idle connection has no window, and one compressed broadcast serves many connections.
//!
//! [`Inflater`] and [`Deflater`] are therefore shared, one of each per shard. Their windows are allocated on first use.
//! zlib cannot produce raw deflate with a window of 256 bytes, so an offer that demands `server_max_window_bits=8` is
//! declined.

mod deflater;
mod inflater;
mod negotiate;

pub use deflater::Deflater;
pub use inflater::{INFLATE_FLOOR_BYTES, Inflater};
pub use negotiate::{Agreed, CLIENT_OFFER, DeflateConfig, negotiate};

use super::Violation;
use super::decode::{Event, Limits, utf8};

/// Inflates `compressed` to the message that it encodes.
pub(super) fn inflate_message<'b>(
    text: bool,
    compressed: &[u8],
    inflater: &'b mut Inflater,
    limits: &Limits,
) -> Result<Event<'b>, Violation> {
    let bytes = inflater.inflate(compressed, limits)?;
    if text { Ok(Event::Text(utf8(bytes)?.into())) } else { Ok(Event::Binary(bytes.into())) }
}
