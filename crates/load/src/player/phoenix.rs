//! The client side of Phoenix Channels: decodes what a server sends and encodes what the user sends. Pure.
//!
//! References are small numbers here, encoded as the decimal strings that Phoenix's own client uses.

use std::borrow::Cow;

use proto::phoenix::{EncodeError, FrameKind, Message, Name, Payload, Ref, Version, decode, encode_message};
use serde::Deserialize;

/// A message from the server.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) join_ref: Option<u32>,
    pub(crate) reference: Option<u32>,
    pub(crate) topic: Cow<'a, str>,
    pub(crate) event: Cow<'a, str>,
    pub(crate) payload: Payload<'a>,
    /// Status of a binary reply, which is not part of its payload.
    status: Option<&'a str>,
}

/// The server's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// `ok`, or any other status than `error` that a handler chose.
    Ok,
    /// `error`
    Error,
}

/// A WebSocket message that is not a valid Phoenix message; the reason as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NoMessage(pub(crate) String);

impl<'a> Incoming<'a> {
    /// Decodes the body of one WebSocket message.
    pub(crate) fn read(version: Version, kind: FrameKind, body: &'a [u8]) -> Result<Self, NoMessage> {
        if (version, kind) == (Version::V2, FrameKind::Binary) {
            return binary(body).ok_or_else(|| NoMessage("a binary frame of another form".to_owned()));
        }
        let Message { join_ref, reference, topic, event, payload } =
            decode(version, kind, body).map_err(|error| NoMessage(error.to_string()))?;
        Ok(Self {
            join_ref: number(&join_ref),
            reference: number(&reference),
            topic: text_of(topic),
            event: text_of(event),
            payload,
            status: None,
        })
    }

    /// Returns the status of a `phx_reply`; `None` if it has none.
    pub(crate) fn status(&self) -> Option<Status> {
        #[derive(Deserialize)]
        struct Reply<'a> {
            #[serde(borrow)]
            status: Cow<'a, str>,
        }
        let status = match (self.status, self.payload) {
            (Some(status), _) => Cow::Borrowed(status),
            (None, Payload::Json(json)) => serde_json::from_str::<Reply<'_>>(json).ok()?.status,
            (None, Payload::Binary(_)) => return None,
        };
        Some(if status == "error" { Status::Error } else { Status::Ok })
    }

    /// Returns the payload's bytes.
    pub(crate) fn payload_bytes(&self) -> &'a [u8] {
        match self.payload {
            Payload::Json(json) => json.as_bytes(),
            Payload::Binary(bytes) => bytes,
        }
    }
}

/// A message from the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    /// `None` on the topic `phoenix`.
    pub(crate) join_ref: Option<u32>,
    pub(crate) reference: u32,
    pub(crate) topic: &'a str,
    pub(crate) event: &'a str,
    pub(crate) payload: Payload<'a>,
}

impl Outgoing<'_> {
    /// Appends the body of one WebSocket message and returns its frame kind.
    pub(crate) fn write(&self, version: Version, out: &mut Vec<u8>) -> Result<FrameKind, EncodeError> {
        let message = Message {
            join_ref: self.join_ref.map_or(Ref::NULL, reference),
            reference: reference(self.reference),
            topic: Name::from(self.topic),
            event: Name::from(self.event),
            payload: self.payload,
        };
        encode_message(version, out, &message)
    }
}

/// Decodes one of the three binary messages of a server (V2): 0 push, 1 reply, 2 broadcast. Each begins with the
/// lengths of its fields, one byte each.
fn binary(body: &[u8]) -> Option<Incoming<'_>> {
    let (&kind, rest) = body.split_first()?;
    match kind {
        0 => {
            let ([join_ref, topic, event], payload) = fields(rest)?;
            Some(Incoming {
                join_ref: join_ref.parse().ok(),
                reference: None,
                topic: topic.into(),
                event: event.into(),
                payload: Payload::Binary(payload),
                status: None,
            })
        }
        1 => {
            let ([join_ref, reference, topic, status], payload) = fields(rest)?;
            Some(Incoming {
                join_ref: join_ref.parse().ok(),
                reference: reference.parse().ok(),
                topic: topic.into(),
                event: "phx_reply".into(),
                payload: Payload::Binary(payload),
                status: Some(status),
            })
        }
        2 => {
            let ([topic, event], payload) = fields(rest)?;
            Some(Incoming {
                join_ref: None,
                reference: None,
                topic: topic.into(),
                event: event.into(),
                payload: Payload::Binary(payload),
                status: None,
            })
        }
        _ => None,
    }
}

/// Splits off `COUNT` texts that follow their lengths; returns them and the rest.
fn fields<const COUNT: usize>(bytes: &[u8]) -> Option<([&str; COUNT], &[u8])> {
    let (lengths, mut rest) = bytes.split_first_chunk::<COUNT>()?;
    let mut texts = [""; COUNT];
    for (text, &length) in texts.iter_mut().zip(lengths) {
        let (field, tail) = rest.split_at_checked(usize::from(length))?;
        *text = std::str::from_utf8(field).ok()?;
        rest = tail;
    }
    Some((texts, rest))
}

fn reference(number: u32) -> Ref {
    Ref::from_text(itoa(number, &mut [0; 10]))
}

/// Formats a number in decimal without allocating.
fn itoa(mut number: u32, digits: &mut [u8; 10]) -> &str {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 || start == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[start..]).unwrap_or_default()
}

/// Returns the number of one of our references; `None` for `null` and for references that no user of ours has sent.
fn number(reference: &Ref) -> Option<u32> {
    reference.as_json().trim_matches('"').parse().ok()
}

fn text_of(name: Name<'_>) -> Cow<'_, str> {
    match name {
        Name::Text(text) => text,
        Name::Other(raw) => Cow::Borrowed(raw),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_of_both_versions_are_understood() {
        let v2 = br#"["3","9","room:7","phx_reply",{"status":"ok","response":{"id":4}}]"#;
        let v1 = br#"{"topic":"room:7","event":"phx_reply","ref":"9","payload":{"status":"ok","response":{"id":4}}}"#;
        for (version, body, join_ref) in [(Version::V2, &v2[..], Some(3)), (Version::V1, &v1[..], None)] {
            let reply = Incoming::read(version, FrameKind::Text, body).expect("a reply");
            assert_eq!((reply.join_ref, reply.reference), (join_ref, Some(9)));
            assert_eq!((&*reply.topic, &*reply.event), ("room:7", "phx_reply"));
            assert_eq!(reply.status(), Some(Status::Ok));
        }
    }

    #[test]
    fn the_binary_messages_of_a_server_are_understood() {
        let push = Incoming::read(Version::V2, FrameKind::Binary, b"\x00\x01\x03\x02" as &[u8]);
        assert!(push.is_err(), "cut off");
        let push = binary(b"\x00\x01\x03\x023a:bxy\x01\x02").expect("a push");
        assert_eq!((push.join_ref, &*push.topic, &*push.event), (Some(3), "a:b", "xy"));
        assert_eq!(push.payload_bytes(), b"\x01\x02");
        let reply = binary(b"\x01\x01\x02\x03\x05312a:berror!").expect("a reply");
        assert_eq!((reply.reference, reply.status()), (Some(12), Some(Status::Error)));
        let broadcast = binary(b"\x02\x03\x02a:bxy!").expect("a broadcast");
        assert_eq!(
            (broadcast.join_ref, &*broadcast.event, broadcast.payload_bytes()),
            (None, "xy", &b"!"[..])
        );
    }

    proptest! {
        #[test]
        fn what_a_user_says_is_what_a_server_reads(join_ref: Option<u32>, number: u32, topic in ".{1,20}") {
            let payload = Payload::Json(r#"{"a":1}"#);
            let outgoing = Outgoing { join_ref, reference: number, topic: &topic, event: "new", payload };
            let mut body = Vec::new();
            let kind = outgoing.write(Version::V2, &mut body).expect("text has no limits");
            let read = Incoming::read(Version::V2, kind, &body).expect("our own message");
            prop_assert_eq!((read.join_ref, read.reference, &*read.topic), (join_ref, Some(number), &topic[..]));
        }
    }
}
