//! Phoenix Channels serialization, versions 1.0.0 and 2.0.0: from the body of one WebSocket message to the five fields
//! of a channel message, and back.
//!
//! Payloads stay opaque: JSON is validated while its end is found, then passed on as the text that was received. This
//! module never parses a payload into a tree and never interprets an event.
//!
//! ```
//! use proto::phoenix::{FrameKind, Payload, Version, decode, encode_reply};
//!
//! let frame = br#"["3","9","room:7","new_msg",{"body":"hi"}]"#;
//! let message = decode(Version::V2, FrameKind::Text, frame)?;
//! assert_eq!(message.topic.as_text(), Some("room:7"));
//! assert_eq!(message.payload, Payload::Json(r#"{"body":"hi"}"#));
//!
//! let mut reply = Vec::new();
//! let response = Payload::Json("{}");
//! encode_reply(Version::V2, &mut reply, &message.join_ref, &message.reference, &message.topic, "ok", response)?;
//! assert_eq!(reply, br#"["3","9","room:7","phx_reply",{"status":"ok","response":{}}]"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode_binary;
mod decode_v1;
mod decode_v2;
mod encode;
mod encode_binary;
mod encode_text;
mod json;
mod message;
mod plain;
mod raw_field;
mod reference;
mod scan;
mod version;

pub use encode::{
    EncodeError, Field, encode_broadcast, encode_lifecycle, encode_message, encode_push, encode_reply,
};
pub use message::{DecodeError, FrameKind, Message, Name, Payload, decode};
pub use reference::Ref;
pub use version::{UnsupportedVersion, Version};
