//! Hot-path work whose instructions callgrind counts: codecs and hub.
//!
//! Callgrind is configured to count only inside [`instructions_are_counted`] and to dump its counts whenever that
//! returns, so the counts are in the order of the list that [`work`] returns.

use crate::client::said;
use crate::room::{BODY, TOPIC, join, message};
use crate::shard::Shard;
use proto::phoenix::{FrameKind, Name, Payload, Ref, Version, decode, encode_broadcast, encode_reply};
use proto::ws::{Decoder, Inflater, Limits, Opcode, Pending, Role, encode_frame};
use serde::Serialize;
use std::hint::black_box;

/// One counted batch of work.
#[derive(Serialize)]
pub(crate) struct Work {
    /// Name of the budget.
    name: &'static str,
    /// Number of operations in the batch; the budget is per operation.
    operations: u64,
}

const TIMES: u32 = 1000;
const BROADCASTS: u32 = 10;
/// A large number of members, by the hub's standards.
const MEMBERS: u32 = 1024;

/// Does all the work and returns what was done, in order.
pub(crate) fn work() -> Vec<Work> {
    vec![
        decode_frame(),
        encode_frame_of_text(),
        decode_message("v1_decode_instructions", Version::V1, &v1_message()),
        decode_message("v2_decode_instructions", Version::V2, &message("reply")),
        encode_replies("v1_encode_reply_instructions", Version::V1),
        encode_replies("v2_encode_reply_instructions", Version::V2),
        encode_broadcasts(),
        accept_keys(),
        hub_replies(),
        hub_comings_and_goings(),
        hub_broadcasts(),
        hub_deliveries(),
    ]
}

/// The only function that callgrind counts. `bench/runner/budgets/callgrind.py` refers to it by name.
#[inline(never)]
fn instructions_are_counted(times: u32, work: &mut dyn FnMut()) {
    for _ in 0..times {
        work();
    }
}

/// Runs the work once uncounted, so that buffers and lists have reached their size, and then counted.
fn counted(name: &'static str, times: u32, work: &mut dyn FnMut()) -> Work {
    work();
    instructions_are_counted(times, work);
    Work { name, operations: u64::from(times) }
}

/// Decodes a masked frame of a message, including the copy into the read buffer that the kernel would make.
fn decode_frame() -> Work {
    let frame = said(&message("reply"));
    let decoder = Decoder { role: Role::Server, limits: Limits::default(), deflate: false };
    let (mut pending, mut inflater) = (Pending::default(), Inflater::default());
    let mut received = vec![0; frame.len()];
    counted("ws_decode_instructions", TIMES, &mut || {
        received.copy_from_slice(&frame);
        let step = decoder.decode(&mut pending, &mut inflater, &mut received);
        assert!(black_box(step).expect("a good frame").event.is_some());
    })
}

fn encode_frame_of_text() -> Work {
    let mut frame = Vec::new();
    counted("ws_encode_instructions", TIMES, &mut || {
        frame.clear();
        encode_frame(&mut frame, Opcode::Text, black_box(BODY.as_bytes()));
        black_box(&frame);
    })
}

fn decode_message(name: &'static str, version: Version, text: &str) -> Work {
    counted(name, TIMES, &mut || {
        let message = decode(version, FrameKind::Text, black_box(text.as_bytes()));
        black_box(message.expect("a good message"));
    })
}

fn v1_message() -> String {
    format!(r#"{{"topic":"{TOPIC}","event":"reply","payload":{BODY},"ref":"2"}}"#)
}

fn encode_replies(name: &'static str, version: Version) -> Work {
    let text = message("reply");
    let asked = decode(Version::V2, FrameKind::Text, text.as_bytes()).expect("a good message");
    let (join_ref, reference): (&Ref, &Ref) = (&asked.join_ref, &asked.reference);
    let topic: &Name<'_> = &asked.topic;
    let mut body = Vec::new();
    counted(name, TIMES, &mut || {
        body.clear();
        let response = Payload::Json(black_box(BODY));
        let kind = encode_reply(version, &mut body, join_ref, reference, topic, "ok", response);
        black_box(kind.expect("text can be sent"));
        black_box(&body);
    })
}

fn encode_broadcasts() -> Work {
    let mut body = Vec::new();
    counted("v2_encode_broadcast_instructions", TIMES, &mut || {
        body.clear();
        let payload = Payload::Json(black_box(BODY));
        let kind = encode_broadcast(Version::V2, &mut body, black_box(TOPIC), "shout", payload);
        black_box(kind.expect("text can be sent"));
        black_box(&body);
    })
}

/// The only computation in a handshake.
fn accept_keys() -> Work {
    counted("handshake_accept_key_instructions", TIMES, &mut || {
        black_box(proto::handshake::accept_key(black_box("dGhlIHNhbXBsZSBub25jZQ==")));
    })
}

/// From the text of a message to the frame of the reply.
fn hub_replies() -> Work {
    let mut shard = Shard::with_members(1);
    let text = message("reply");
    counted("hub_reply_instructions", TIMES, &mut || {
        assert_eq!(shard.say(0, black_box(&text)), 1);
    })
}

/// A connection opens, joins a topic that has members, and closes.
fn hub_comings_and_goings() -> Work {
    let mut shard = Shard::with_members(MEMBERS);
    let text = join(TOPIC);
    counted("hub_join_instructions", TIMES, &mut || {
        shard.open(MEMBERS..MEMBERS + 1);
        assert_eq!(shard.say(MEMBERS, black_box(&text)), 1);
        shard.close(MEMBERS);
    })
}

/// The cost of a broadcast before any other member gets it: the publisher receives it at once.
fn hub_broadcasts() -> Work {
    let mut shard = Shard::with_members(2);
    let text = message("shout");
    counted("hub_broadcast_instructions", TIMES, &mut || {
        shard.say(0, black_box(&text));
        assert_eq!(shard.deliver(), 1);
    })
}

/// The cost per member of a broadcast to many.
fn hub_deliveries() -> Work {
    let mut shard = Shard::with_members(MEMBERS);
    let text = message("shout");
    let others = u64::from(MEMBERS) - 1;
    let work = counted("hub_delivery_instructions", BROADCASTS, &mut || {
        shard.say(0, black_box(&text));
        assert_eq!(shard.deliver(), others);
    });
    Work { operations: work.operations * others, ..work }
}
