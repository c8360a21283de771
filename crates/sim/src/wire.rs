//! Decodes what the hub writes, and encodes what clients send, without the hub's own encoders.

use hub::{Dialect, Transport};
use proto::phoenix::{FrameKind, Payload, Version};
use proto::ws::{Decoder, Event, Inflater, Limits, Pending, Role};
use serde_json::{Value, json};
use std::fmt;

/// One message from the server.
#[derive(Debug)]
pub(crate) struct Received {
    /// Always null on V1, which does not carry it.
    pub(crate) join_ref: Value,
    pub(crate) reference: Value,
    pub(crate) topic: String,
    pub(crate) event: String,
    pub(crate) payload: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    Json(Value),
    Bytes(Vec<u8>),
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Received { join_ref, reference, topic, event, payload } = self;
        match payload {
            Body::Json(payload) => write!(f, "[{join_ref},{reference},{topic},{event},{payload}]"),
            Body::Bytes(payload) => write!(f, "[{join_ref},{reference},{topic},{event},{payload:?}]"),
        }
    }
}

impl Body {
    pub(crate) fn json(&self) -> &Value {
        match self {
            Body::Json(value) => value,
            Body::Bytes(_) => &Value::Null,
        }
    }

    pub(crate) fn as_payload<'a>(&'a self, text: &'a mut String) -> Payload<'a> {
        match self {
            Body::Json(value) => {
                *text = value.to_string();
                Payload::Json(text)
            }
            Body::Bytes(bytes) => Payload::Binary(bytes),
        }
    }
}

/// Decodes every message in `bytes`, which must contain whole frames of the dialect and nothing else.
pub(crate) fn decode(dialect: Dialect, bytes: &[u8]) -> Result<Vec<Received>, String> {
    match dialect.transport {
        Transport::LongPoll => Ok(vec![message(dialect.version, FrameKind::Text, bytes)?]),
        Transport::WebSocket => unframe(dialect.version, false, bytes),
        Transport::WebSocketDeflate => unframe(dialect.version, true, bytes),
    }
}

fn unframe(version: Version, deflate: bool, bytes: &[u8]) -> Result<Vec<Received>, String> {
    let decoder = Decoder { role: Role::Client, limits: Limits::default(), deflate };
    let (mut pending, mut inflater) = (Pending::default(), Inflater::default());
    let mut bytes = bytes.to_vec();
    let (mut rest, mut messages) = (&mut bytes[..], Vec::new());
    while !rest.is_empty() {
        let step =
            decoder.decode(&mut pending, &mut inflater, rest).map_err(|violation| violation.to_string())?;
        let consumed = step.consumed;
        messages.push(match step.event {
            Some(Event::Text(text)) => message(version, FrameKind::Text, text.as_bytes())?,
            Some(Event::Binary(bytes)) => message(version, FrameKind::Binary, &bytes)?,
            other => return Err(format!("no whole message, but {other:?}")),
        });
        rest = &mut rest[consumed..];
    }
    if messages.is_empty() { Err("a write of nothing".into()) } else { Ok(messages) }
}

fn message(version: Version, kind: FrameKind, body: &[u8]) -> Result<Received, String> {
    match (version, kind) {
        (Version::V1, FrameKind::Text) => v1(&json(body)?),
        (Version::V2, FrameKind::Text) => v2(&json(body)?),
        (Version::V2, FrameKind::Binary) => {
            binary(body).ok_or_else(|| format!("a broken binary frame {body:?}"))
        }
        (Version::V1, FrameKind::Binary) => Err("a binary frame to a V1 client".into()),
    }
}

fn json(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| format!("{error} in {:?}", String::from_utf8_lossy(body)))
}

fn v1(value: &Value) -> Result<Received, String> {
    let is_key = |key: &String| ["topic", "event", "payload", "ref"].contains(&key.as_str());
    if !value.as_object().is_some_and(|object| object.len() == 4 && object.keys().all(is_key)) {
        return Err(format!("not V1's four keys: {value}"));
    }
    received(&Value::Null, &value["ref"], &value["topic"], &value["event"], &value["payload"])
}

fn v2(value: &Value) -> Result<Received, String> {
    let Some([join_ref, reference, topic, event, payload]) = value.as_array().map(Vec::as_slice) else {
        return Err(format!("not V2's five elements: {value}"));
    };
    received(join_ref, reference, topic, event, payload)
}

fn received(
    join_ref: &Value,
    reference: &Value,
    topic: &Value,
    event: &Value,
    payload: &Value,
) -> Result<Received, String> {
    let (Some(topic), Some(event), true) = (topic.as_str(), event.as_str(), payload.is_object()) else {
        return Err(format!(
            "topic {topic}, event {event} and payload {payload} are not two texts and an object"
        ));
    };
    Ok(Received {
        join_ref: join_ref.clone(),
        reference: reference.clone(),
        topic: topic.to_owned(),
        event: event.to_owned(),
        payload: Body::Json(payload.clone()),
    })
}

/// Decodes a binary frame, by reference section 2.3.
fn binary(body: &[u8]) -> Option<Received> {
    let (&kind, rest) = body.split_first()?;
    let fields = match kind {
        0 => 3,
        1 => 4,
        2 => 2,
        _ => return None,
    };
    let (lengths, mut rest) = rest.split_at_checked(fields)?;
    let mut texts = Vec::new();
    for &length in lengths {
        let (text, after) = rest.split_at_checked(usize::from(length))?;
        texts.push(std::str::from_utf8(text).ok()?.to_owned());
        rest = after;
    }
    let nullable = |text: &String| if text.is_empty() { Value::Null } else { json!(text) };
    let payload = Body::Bytes(rest.to_vec());
    Some(match &texts[..] {
        [join_ref, topic, event] => Received {
            join_ref: nullable(join_ref),
            reference: Value::Null,
            topic: topic.clone(),
            event: event.clone(),
            payload,
        },
        [join_ref, reference, topic, status] => Received {
            join_ref: nullable(join_ref),
            reference: nullable(reference),
            topic: topic.clone(),
            event: "phx_reply".into(),
            payload: Body::Json(json!({"status": status, "response": {"bytes": rest}})),
        },
        [topic, event] => Received {
            join_ref: Value::Null,
            reference: Value::Null,
            topic: topic.clone(),
            event: event.clone(),
            payload,
        },
        _ => return None,
    })
}

/// Encodes a client's message as text.
pub(crate) fn encode(
    version: Version,
    join_ref: Option<u32>,
    reference: u32,
    topic: &str,
    event: &str,
    payload: &Value,
) -> Vec<u8> {
    let join_ref = join_ref.map(|join_ref| join_ref.to_string());
    let reference = reference.to_string();
    match (version, join_ref) {
        (Version::V2, join_ref) => json!([join_ref, reference, topic, event, payload]),
        (Version::V1, None) => json!({"topic": topic, "event": event, "payload": payload, "ref": reference}),
        (Version::V1, Some(join_ref)) => {
            json!({"topic": topic, "event": event, "payload": payload, "ref": reference, "join_ref": join_ref})
        }
    }
    .to_string()
    .into_bytes()
}

/// Encodes a client's push of bytes; V2 only.
pub(crate) fn encode_bytes(
    join_ref: u32,
    reference: u32,
    topic: &str,
    event: &str,
    payload: &[u8],
) -> Vec<u8> {
    let (join_ref, reference) = (join_ref.to_string(), reference.to_string());
    let mut frame = vec![0];
    frame.extend([&join_ref, &reference, topic, event].map(|text: &str| text.len() as u8));
    for text in [&join_ref, &reference, topic, event] {
        frame.extend(text.as_bytes());
    }
    frame.extend(payload);
    frame
}
