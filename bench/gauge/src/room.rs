//! The channel used for all measurements: it has no state of its own unless some is planted.

use hub::{Channel, Context, Joining};
use proto::phoenix::Payload;

/// Bytes planted to show that the figures detect them.
pub(crate) const PLANTED_BYTES: usize = 64;

/// The topic that all clients join.
pub(crate) const TOPIC: &str = "room:lobby";

/// Accepts every join and does what messages tell it. Each join owns `BYTES` planted bytes.
pub(crate) struct Room<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Room<BYTES> {
    pub(crate) fn new() -> Room<BYTES> {
        Room([0; BYTES])
    }
}

impl<const BYTES: usize> Channel for Room<BYTES> {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "reply" => cx.reply_ok(payload),
            "push" => cx.push(event, payload),
            _ => cx.broadcast(event, payload),
        }
    }
}

/// Returns the message with which a V2 client joins `topic`.
pub(crate) fn join(topic: &str) -> String {
    format!(r#"["1","1","{topic}","phx_join",{{}}]"#)
}

/// Returns a message with this event and about 64 bytes of text.
pub(crate) fn message(event: &str) -> String {
    format!(r#"["1","2","{TOPIC}","{event}",{BODY}]"#)
}

/// Returns the reply to [`join`].
pub(crate) fn join_reply() -> String {
    format!(r#"["1","1","{TOPIC}","phx_reply",{{"status":"ok","response":{{}}}}]"#)
}

/// Returns the reply to [`message`] with the event `reply`.
pub(crate) fn reply() -> String {
    format!(r#"["1","2","{TOPIC}","phx_reply",{{"status":"ok","response":{BODY}}}]"#)
}

/// Returns what every member receives of a [`message`] that is broadcast.
pub(crate) fn broadcast(event: &str) -> String {
    format!(r#"[null,null,"{TOPIC}","{event}",{BODY}]"#)
}

/// The payload of every message.
pub(crate) const BODY: &str = r#"{"body":"Sixty-four bytes: as much as most people say at once."}"#;

const _: () = assert!(BODY.len() == 64);
