//! The channel that everything is measured with: it has no state of its own, unless some is planted.

use hub::{Channel, Context, Joining};
use proto::phoenix::Payload;

/// What is planted to show that the figures see it.
pub(crate) const PLANTED_BYTES: usize = 64;

/// The topic that everybody joins.
pub(crate) const TOPIC: &str = "room:lobby";

/// Accepts everyone, and does what it is told. Its `BYTES` are each join's own.
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

/// The message that joins `topic`, of a client that speaks V2.
pub(crate) fn join(topic: &str) -> String {
    format!(r#"["1","1","{topic}","phx_join",{{}}]"#)
}

/// A message with that event, of some 64 bytes of text.
pub(crate) fn message(event: &str) -> String {
    format!(r#"["1","2","{TOPIC}","{event}",{BODY}]"#)
}

/// What comes back for [`join`].
pub(crate) fn join_reply() -> String {
    format!(r#"["1","1","{TOPIC}","phx_reply",{{"status":"ok","response":{{}}}}]"#)
}

/// What comes back for [`message`] with the event `reply`.
pub(crate) fn reply() -> String {
    format!(r#"["1","2","{TOPIC}","phx_reply",{{"status":"ok","response":{BODY}}}]"#)
}

/// What everybody gets of a [`message`] that is broadcast.
pub(crate) fn broadcast(event: &str) -> String {
    format!(r#"[null,null,"{TOPIC}","{event}",{BODY}]"#)
}

/// The payload of every message.
pub(crate) const BODY: &str = r#"{"body":"Sixty-four bytes: as much as most people say at once."}"#;

const _: () = assert!(BODY.len() == 64);
