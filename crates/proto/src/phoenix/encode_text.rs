//! Text frames of both versions. Strings that need no escaping and payloads are copied.

use super::{Message, Name, Ref, json};

/// An upper bound of what a frame holds beside its fields, so that one reservation is enough for the whole frame.
const PUNCTUATION_BYTES_MAX: usize = 96;

/// `[join_ref, ref, topic, event, payload]`
pub(super) fn message_v2(
    out: &mut Vec<u8>,
    join_ref: &Ref,
    reference: &Ref,
    topic: &str,
    event: &str,
    payload: &str,
) {
    out.reserve(PUNCTUATION_BYTES_MAX + topic.len() + event.len() + payload.len());
    start_v2(out, join_ref, reference);
    json::write_string(out, topic);
    out.push(b',');
    json::write_string(out, event);
    out.push(b',');
    out.extend_from_slice(payload.as_bytes());
    out.push(b']');
}

/// `[join_ref, ref, topic, "phx_reply", {"status": …, "response": …}]`
pub(super) fn reply_v2(
    out: &mut Vec<u8>,
    join_ref: &Ref,
    reference: &Ref,
    topic: &Name<'_>,
    status: &str,
    response: &str,
) {
    out.reserve(PUNCTUATION_BYTES_MAX + name_len(topic) + status.len() + response.len());
    start_v2(out, join_ref, reference);
    write_name(out, topic);
    out.extend_from_slice(br#","phx_reply","#);
    write_reply_payload(out, status, response);
    out.push(b']');
}

/// `{"topic": …, "event": …, "payload": …, "ref": …}`: exactly four keys, never a join_ref.
pub(super) fn message_v1(out: &mut Vec<u8>, reference: &Ref, topic: &str, event: &str, payload: &str) {
    out.reserve(PUNCTUATION_BYTES_MAX + topic.len() + event.len() + payload.len());
    out.extend_from_slice(br#"{"topic":"#);
    json::write_string(out, topic);
    out.extend_from_slice(br#","event":"#);
    json::write_string(out, event);
    out.extend_from_slice(br#","payload":"#);
    out.extend_from_slice(payload.as_bytes());
    end_v1(out, reference);
}

/// `{"topic": …, "event": "phx_reply", "payload": {"status": …, "response": …}, "ref": …}`
pub(super) fn reply_v1(out: &mut Vec<u8>, reference: &Ref, topic: &Name<'_>, status: &str, response: &str) {
    out.reserve(PUNCTUATION_BYTES_MAX + name_len(topic) + status.len() + response.len());
    out.extend_from_slice(br#"{"topic":"#);
    write_name(out, topic);
    out.extend_from_slice(br#","event":"phx_reply","payload":"#);
    write_reply_payload(out, status, response);
    end_v1(out, reference);
}

/// `[join_ref, ref, topic, event, payload]` from a client, whose names need not be text.
pub(super) fn client_v2(out: &mut Vec<u8>, message: &Message<'_>, payload: &str) {
    start_v2(out, &message.join_ref, &message.reference);
    write_name(out, &message.topic);
    out.push(b',');
    write_name(out, &message.event);
    out.push(b',');
    out.extend_from_slice(payload.as_bytes());
    out.push(b']');
}

/// `{"topic": …, "event": …, "payload": …, "ref": …, "join_ref": …}`, where a null join_ref is left out.
pub(super) fn client_v1(out: &mut Vec<u8>, message: &Message<'_>, payload: &str) {
    out.extend_from_slice(br#"{"topic":"#);
    write_name(out, &message.topic);
    out.extend_from_slice(br#","event":"#);
    write_name(out, &message.event);
    out.extend_from_slice(br#","payload":"#);
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(br#","ref":"#);
    out.extend_from_slice(message.reference.as_json_bytes());
    if !message.join_ref.is_null() {
        out.extend_from_slice(br#","join_ref":"#);
        out.extend_from_slice(message.join_ref.as_json_bytes());
    }
    out.push(b'}');
}

fn start_v2(out: &mut Vec<u8>, join_ref: &Ref, reference: &Ref) {
    out.push(b'[');
    out.extend_from_slice(join_ref.as_json_bytes());
    out.push(b',');
    out.extend_from_slice(reference.as_json_bytes());
    out.push(b',');
}

fn end_v1(out: &mut Vec<u8>, reference: &Ref) {
    out.extend_from_slice(br#","ref":"#);
    out.extend_from_slice(reference.as_json_bytes());
    out.push(b'}');
}

fn write_reply_payload(out: &mut Vec<u8>, status: &str, response: &str) {
    out.extend_from_slice(br#"{"status":"#);
    json::write_string(out, status);
    out.extend_from_slice(br#","response":"#);
    out.extend_from_slice(response.as_bytes());
    out.push(b'}');
}

fn write_name(out: &mut Vec<u8>, name: &Name<'_>) {
    match name {
        Name::Text(text) => json::write_string(out, text),
        Name::Other(raw) => out.extend_from_slice(raw.as_bytes()),
    }
}

fn name_len(name: &Name<'_>) -> usize {
    match name {
        Name::Text(text) => text.len(),
        Name::Other(raw) => raw.len(),
    }
}
