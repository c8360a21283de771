//! The Phoenix decoders against a JSON tree as the reference.

use std::borrow::Cow;

use proto::phoenix::{
    DecodeError, FrameKind, Message, Name, Payload, Ref, Version, decode, encode_message, encode_reply,
};
use serde_json::{Value, json};

/// V2 text frames.
pub fn v2_agrees_with_a_json_tree(data: &[u8]) {
    let expected = match serde_json::from_slice(data) {
        Ok(Value::Array(elements)) => Tree::from_array(&elements),
        Ok(_) => Some(Err(DecodeError::Shape)),
        Err(_) => None,
    };
    check_text(Version::V2, data, expected);
}

/// V1 frames.
pub fn v1_agrees_with_a_json_tree(data: &[u8]) {
    let expected = match serde_json::from_slice(data) {
        Ok(Value::Object(object)) => Tree::from_object(&object),
        Ok(_) => Some(Err(DecodeError::Shape)),
        Err(_) => None,
    };
    check_text(Version::V1, data, expected);
}

/// V2 binary frames.
pub fn binary_survives(data: &[u8]) {
    let Ok(message) = decode(Version::V2, FrameKind::Binary, data) else { return };
    let mut out = Vec::new();
    assert_eq!(encode_message(Version::V2, &mut out, &message), Ok(FrameKind::Binary));
    assert_eq!(out, data);
}

/// The five fields as trees.
#[derive(Debug, PartialEq)]
struct Tree([Value; 5]);

impl Tree {
    fn from_array(elements: &[Value]) -> Option<Result<Tree, DecodeError>> {
        Some(elements.first_chunk().cloned().map(Tree).ok_or(DecodeError::Shape))
    }

    fn from_object(object: &serde_json::Map<String, Value>) -> Option<Result<Tree, DecodeError>> {
        let field = |key: &str| object.get(key).cloned().ok_or(DecodeError::Shape);
        let fields = || {
            let join_ref = object.get("join_ref").cloned().unwrap_or(Value::Null);
            Ok(Tree([join_ref, field("ref")?, field("topic")?, field("event")?, field("payload")?]))
        };
        Some(fields())
    }

    /// Returns `None` if a value nests too deeply or is too large a number for a tree.
    fn from_message(message: &Message<'_>) -> Option<Tree> {
        let Payload::Json(payload) = message.payload else { panic!("a text frame has a text payload") };
        Some(Tree([
            serde_json::from_str(message.join_ref.as_json()).ok()?,
            serde_json::from_str(message.reference.as_json()).ok()?,
            tree_of(&message.topic)?,
            tree_of(&message.event)?,
            serde_json::from_str(payload).ok()?,
        ]))
    }
}

fn tree_of(name: &Name<'_>) -> Option<Value> {
    match name {
        Name::Text(text) => Some(Value::String(text.clone().into_owned())),
        Name::Other(raw) => {
            serde_json::from_str(raw).ok().inspect(|value: &Value| assert!(!value.is_string()))
        }
    }
}

/// `expected` is absent if no tree can be built, which is no reason for the decoder to reject the input.
fn check_text(version: Version, data: &[u8], expected: Option<Result<Tree, DecodeError>>) {
    let decoded = decode(version, FrameKind::Text, data);
    if let Some(expected) = expected {
        let decoded =
            decoded.clone().map(|message| Tree::from_message(&message).expect("a tree, as the whole is one"));
        assert_eq!(decoded, expected);
    }
    let Ok(message) = decoded else { return };
    check_survives(version, &message);
    check_echo(version, &message);
}

fn check_survives(version: Version, message: &Message<'_>) {
    let mut out = Vec::new();
    let kind = encode_message(version, &mut out, message).expect("a text message");
    assert_eq!(decode(version, kind, &out).as_ref(), Ok(message));
}

/// A reply that echoes the payload is valid JSON with the same values.
fn check_echo(version: Version, message: &Message<'_>) {
    let Some(Tree([join_ref, reference, topic, _, payload])) = Tree::from_message(message) else { return };
    let mut out = Vec::new();
    let Message { join_ref: raw_join_ref, reference: raw_ref, topic: raw_topic, .. } = message;
    let kind = encode_reply(version, &mut out, raw_join_ref, raw_ref, raw_topic, "ok", message.payload);
    assert_eq!(kind, Ok(FrameKind::Text));
    let reply = json!({"status": "ok", "response": payload});
    let expected = match version {
        Version::V1 => json!({"topic": topic, "event": "phx_reply", "payload": reply, "ref": reference}),
        Version::V2 => json!([join_ref, reference, topic, "phx_reply", reply]),
    };
    // A payload that is just shallow enough for a tree may be too deep within a reply.
    if let Ok(echoed) = serde_json::from_slice::<Value>(&out) {
        assert_eq!(echoed, expected);
    }
}

/// Returns a message of text fields and a JSON payload.
pub fn text_message<'a>(
    join_ref: Ref,
    reference: Ref,
    topic: &'a str,
    event: &'a str,
    payload: &'a str,
) -> Message<'a> {
    let name = |text| Name::Text(Cow::Borrowed(text));
    Message { join_ref, reference, topic: name(topic), event: name(event), payload: Payload::Json(payload) }
}
