//! RFC 6455 framing for both roles, with permessage-deflate (RFC 7692).
//!
//! [`Decoder`] turns received bytes into [`Event`]s, one [`Step`] at a time; the `encode_*` functions append frames.
//! State that a connection must keep between reads is in [`Pending`], which is one pointer while nothing is incomplete.
//! This module never answers a frame by itself: pongs and closes are up to the caller.
//!
//! ```
//! use proto::ws::{Decoder, Event, Inflater, Limits, Opcode, Pending, Role, encode_client_frame, encode_frame};
//!
//! let mut received = Vec::new();
//! encode_client_frame(&mut received, Opcode::Text, b"hello", [1, 2, 3, 4]);
//!
//! let decoder = Decoder { role: Role::Server, limits: Limits::default(), deflate: false };
//! let (mut pending, mut inflater) = (Pending::default(), Inflater::default());
//! let step = decoder.decode(&mut pending, &mut inflater, &mut received)?;
//! let Some(Event::Text(text)) = step.event else { panic!("a whole text message") };
//!
//! let mut answer = Vec::new();
//! encode_frame(&mut answer, Opcode::Text, text.as_bytes());
//! assert_eq!(answer, b"\x81\x05hello");
//! # Ok::<(), proto::ws::Violation>(())
//! ```

mod close;
mod decode;
pub mod deflate;
mod encode;
mod header;
mod mask;
mod pending;
mod utf8;
mod violation;

pub use close::CloseCode;
pub use decode::{Decoder, Event, Limits, Step};
pub use deflate::{Deflater, Inflater};
pub use encode::{HEADER_BYTES_MAX, encode_client_frame, encode_close, encode_frame, encode_header};
pub use header::{CONTROL_PAYLOAD_BYTES_MAX, Opcode, Role};
pub use pending::Pending;
pub use violation::Violation;
