//! The wire vectors in `testdata/`, which other languages read too.

use std::fs;
use std::path::Path;

use crate::properties::frames::{Received, read};
use proto::phoenix::{
    DecodeError, EncodeError, FrameKind, Message, Name, Payload, Ref, Version, decode, encode_broadcast,
    encode_lifecycle, encode_push, encode_reply,
};
use proto::ws::{Decoder, Limits, Role};
use serde_json::{Value, json};

#[test]
fn streams_of_frames_are_read_as_the_vectors_say() {
    for vector in &vectors("websocket.json", "streams") {
        let decoder = Decoder {
            role: if vector["role"] == "server" { Role::Server } else { Role::Client },
            limits: limits(&vector["limits"]),
            deflate: vector["deflate"] == true,
        };
        let bytes = bytes_of_hex(text(&vector["bytes"]));
        for piece_bytes in [usize::MAX, 1, 2, 3, 7] {
            let reading = read(&decoder, bytes.chunks(piece_bytes));
            let events: Vec<Value> = reading.events.iter().map(event_to_json).collect();
            assert_eq!(json!(events), vector["events"], "{}", vector["name"]);
            let close_code = reading.violation.map(|violation| violation.close_code());
            assert_eq!(json!(close_code), vector["close_code"], "{}", vector["name"]);
        }
    }
}

#[test]
fn messages_are_decoded_as_the_vectors_say() {
    for vector in &vectors("phoenix.json", "decode") {
        let kind = if vector["kind"] == "binary" { FrameKind::Binary } else { FrameKind::Text };
        let outcome = match decode(version(vector), kind, &bytes(&vector["frame"])) {
            Ok(message) => ("message", message_to_json(&message)),
            Err(error) => ("error", json!(decode_error_name(error))),
        };
        assert_eq!(outcome.1, vector[outcome.0], "{}", vector["name"]);
    }
}

#[test]
fn messages_are_encoded_as_the_vectors_say() {
    for vector in &vectors("phoenix.json", "encode") {
        let mut out = b"what was there before".to_vec();
        let before = out.len();
        match encode(vector, &mut out) {
            Ok(FrameKind::Text) => {
                assert_eq!(vector["kind"], "text", "{}", vector["name"]);
                let frame: Value = serde_json::from_slice(&out[before..]).expect("a text frame is JSON");
                let expected: Value =
                    serde_json::from_str(text(&vector["frame"])).expect("so is the vector's");
                assert_eq!(frame, expected, "{}", vector["name"]);
            }
            Ok(FrameKind::Binary) => {
                assert_eq!(vector["kind"], "binary", "{}", vector["name"]);
                assert_eq!(out[before..], bytes(&vector["frame"]), "{}", vector["name"]);
            }
            Err(error) => {
                assert_eq!(vector["error"], encode_error_name(error), "{}", vector["name"]);
                assert_eq!(out.len(), before, "nothing is appended on an error: {}", vector["name"]);
            }
        }
    }
}

fn encode(vector: &Value, out: &mut Vec<u8>) -> Result<FrameKind, EncodeError> {
    let reference = |key: &str| Ref::from_json(&vector[key].to_string());
    let payload = PayloadOfVector::new(&vector["payload"]);
    let (version, join_ref) = (version(vector), reference("join_ref"));
    let (topic, event) = (&vector["topic"], &vector["event"]);
    match text(&vector["call"]) {
        "reply" => {
            let raw_topic = topic.to_string();
            let name = topic.as_str().map_or(Name::Other(&raw_topic), Name::from);
            let status = text(&vector["status"]);
            encode_reply(version, out, &join_ref, &reference("ref"), &name, status, payload.as_payload())
        }
        "push" => encode_push(version, out, &join_ref, text(topic), text(event), payload.as_payload()),
        "broadcast" => encode_broadcast(version, out, text(topic), text(event), payload.as_payload()),
        "lifecycle" => {
            let payload = vector["payload"].to_string();
            Ok(encode_lifecycle(version, out, &join_ref, text(topic), text(event), &payload))
        }
        call => panic!("unknown call {call}"),
    }
}

enum PayloadOfVector {
    Json(String),
    Binary(Vec<u8>),
}

impl PayloadOfVector {
    fn new(payload: &Value) -> Self {
        match payload["hex"].as_str() {
            Some(hex) => PayloadOfVector::Binary(bytes_of_hex(hex)),
            None => PayloadOfVector::Json(payload.to_string()),
        }
    }

    fn as_payload(&self) -> Payload<'_> {
        match self {
            PayloadOfVector::Json(text) => Payload::Json(text),
            PayloadOfVector::Binary(bytes) => Payload::Binary(bytes),
        }
    }
}

fn vectors(file: &str, section: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let document = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document: Value = serde_json::from_str(&document).expect("vectors are JSON");
    document[section].as_array().filter(|vectors| !vectors.is_empty()).expect("a list of vectors").clone()
}

fn version(vector: &Value) -> Version {
    Version::negotiate(vector["version"].as_str()).expect("a version that is served")
}

fn limits(value: &Value) -> Limits {
    let limit = |key: &str, default| value[key].as_u64().map_or(default, |limit| limit as usize);
    let default = Limits::default();
    Limits {
        frame_bytes_max: limit("frame_bytes_max", default.frame_bytes_max),
        message_bytes_max: limit("message_bytes_max", default.message_bytes_max),
        inflate_ratio_max: limit("inflate_ratio_max", default.inflate_ratio_max),
    }
}

fn message_to_json(message: &Message<'_>) -> Value {
    let name = |name: &Name<'_>| match name {
        Name::Text(text) => json!(text),
        Name::Other(raw) => value_of(raw),
    };
    json!({
        "join_ref": value_of(message.join_ref.as_json()),
        "ref": value_of(message.reference.as_json()),
        "topic": name(&message.topic),
        "event": name(&message.event),
        "payload": match message.payload {
            Payload::Json(raw) => value_of(raw),
            Payload::Binary(bytes) => json!({"hex": hex(bytes)}),
        },
    })
}

fn event_to_json(event: &Received) -> Value {
    match event {
        Received::Text(text) => json!({"text": text}),
        Received::Binary(bytes) => json!({"binary": hex(bytes)}),
        Received::Ping(bytes) => json!({"ping": hex(bytes)}),
        Received::Pong(bytes) => json!({"pong": hex(bytes)}),
        Received::Close { code, reason } => json!({"close": {"code": code, "reason": reason}}),
    }
}

fn decode_error_name(error: DecodeError) -> &'static str {
    match error {
        DecodeError::NotUtf8 => "not_utf8",
        DecodeError::NotJson => "not_json",
        DecodeError::Shape => "shape",
        DecodeError::Truncated => "truncated",
        DecodeError::Kind(_) => "kind",
    }
}

fn encode_error_name(error: EncodeError) -> &'static str {
    match error {
        EncodeError::TooLong { .. } => "too_long",
        EncodeError::BinaryOnV1 => "binary_on_v1",
    }
}

fn value_of(raw: &str) -> Value {
    serde_json::from_str(raw).expect("raw JSON is JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Text as it is, or `{"hex": …}`.
fn bytes(value: &Value) -> Vec<u8> {
    value["hex"].as_str().map_or_else(|| text(value).as_bytes().to_vec(), bytes_of_hex)
}

fn bytes_of_hex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hexadecimal digit") as u8;
    hex.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
