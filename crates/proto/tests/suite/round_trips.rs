//! What one side encodes, the other decodes, wherever the bytes are split.

use crate::properties;
use crate::properties::frames::{Received, read};
use crate::properties::phoenix::text_message;
use proptest::prelude::*;
use proptest::sample::Index;
use proto::phoenix::{
    FrameKind, Message, Name, Payload, Ref, Version, decode, encode_broadcast, encode_message, encode_push,
};
use proto::ws::{
    Decoder, Deflater, Limits, Opcode, Role, encode_client_frame, encode_close, encode_frame, encode_header,
};

/// A message to be sent: its content, and how it is framed.
#[derive(Clone, Debug)]
struct Sent {
    content: Content,
    deflated: bool,
    mask: [u8; 4],
    /// Where the payload is cut into fragments.
    cuts: Vec<Index>,
    /// Sent between the fragments.
    ping: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Content {
    Text(String),
    Binary(Vec<u8>),
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        ".{0,200}".prop_map(Content::Text),
        (".{1,30}", 1..400_usize).prop_map(|(text, times)| Content::Text(text.repeat(times))),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Content::Binary),
        (any::<u8>(), prop_oneof![Just(65535), Just(65536), 0..70_000_usize])
            .prop_map(|(byte, len)| Content::Binary(vec![byte; len])),
    ]
}

prop_compose! {
    fn sent()(
        content in content(),
        deflated: bool,
        mask: [u8; 4],
        cuts in prop::collection::vec(any::<Index>(), 0..4),
        ping in prop::option::of(prop::collection::vec(any::<u8>(), 0..=125)),
    ) -> Sent {
        Sent { content, deflated, mask, cuts, ping }
    }
}

impl Sent {
    /// Appends the frames to `stream`, and what they must decode to, to `events`.
    fn send(self, role: Role, deflater: &mut Deflater, stream: &mut Vec<u8>, events: &mut Vec<Received>) {
        let (opcode, bytes) = match &self.content {
            Content::Text(text) => (Opcode::Text, text.as_bytes()),
            Content::Binary(bytes) => (Opcode::Binary, &bytes[..]),
        };
        let mut payload = Vec::new();
        match self.deflated {
            true => deflater.compress(bytes, &mut payload),
            false => payload.extend_from_slice(bytes),
        }
        let mut ends: Vec<usize> = self.cuts.iter().map(|cut| cut.index(payload.len() + 1)).collect();
        ends.sort_unstable();
        let mut start = 0;
        for (at, &end) in ends.iter().enumerate() {
            let opcode = if at == 0 { opcode } else { Opcode::Continuation };
            self.frame(role, opcode, false, at == 0, &payload[start..end], stream);
            start = end;
        }
        if let Some(ping) = &self.ping {
            self.control(role, ping, stream);
            events.push(Received::Ping(ping.clone()));
        }
        let opcode = if ends.is_empty() { opcode } else { Opcode::Continuation };
        self.frame(role, opcode, true, ends.is_empty(), &payload[start..], stream);
        events.push(match self.content {
            Content::Text(text) => Received::Text(text),
            Content::Binary(bytes) => Received::Binary(bytes),
        });
    }

    fn frame(
        &self,
        role: Role,
        opcode: Opcode,
        fin: bool,
        is_first: bool,
        payload: &[u8],
        stream: &mut Vec<u8>,
    ) {
        let mask = (role == Role::Client).then_some(self.mask);
        encode_header(stream, opcode, fin, is_first && self.deflated, payload.len(), mask);
        let mask = mask.unwrap_or_default();
        stream.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    }

    fn control(&self, role: Role, payload: &[u8], stream: &mut Vec<u8>) {
        match role {
            Role::Client => encode_client_frame(stream, Opcode::Ping, payload, self.mask),
            Role::Server => encode_frame(stream, Opcode::Ping, payload),
        }
    }
}

fn other(role: Role) -> Role {
    match role {
        Role::Server => Role::Client,
        Role::Client => Role::Server,
    }
}

/// Returns the pieces of a stream that is cut at these places.
fn pieces<'a>(stream: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> =
        cuts.iter().map(|cut| cut.index(stream.len() + 1)).chain([stream.len()]).collect();
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter().map(|end| &stream[std::mem::replace(&mut start, end)..end]).collect()
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}:[0-9]{1,4}", ".{0,20}", "[a-zé😀\"\\\\]{0,60}"]
}

fn references() -> impl Strategy<Value = Ref> {
    prop_oneof![
        Just(Ref::NULL),
        any::<u32>().prop_map(|number| Ref::from_json(&number.to_string())),
        any::<u64>().prop_map(|number| Ref::from_text(&number.to_string())),
        ".{0,30}".prop_map(|text| Ref::from_text(&text)),
    ]
}

fn payloads() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("a string")),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|values| format!("[{}]", values.join(" , "))),
            prop::collection::vec(("[a-z]{1,5}", inner), 0..6).prop_map(|entries| {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn messages_survive_framing_masks_fragments_compression_and_cuts(
        messages in prop::collection::vec(sent(), 0..5),
        sender in prop_oneof![Just(Role::Server), Just(Role::Client)],
        cuts in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let (mut deflater, mut stream, mut events) = (Deflater::default(), Vec::new(), Vec::new());
        for message in messages {
            message.send(sender, &mut deflater, &mut stream, &mut events);
        }
        let limits = Limits { inflate_ratio_max: 2000, ..Limits::default() };
        let decoder = Decoder { role: other(sender), limits, deflate: true };
        let reading = read(&decoder, pieces(&stream, &cuts));
        prop_assert_eq!(reading.violation, None);
        prop_assert!(reading.is_complete);
        prop_assert_eq!(reading.events, events);
    }

    #[test]
    fn any_close_is_read_with_its_reason_cut_to_fit(code in 3000..5000_u16, reason in ".{0,200}") {
        let mut stream = Vec::new();
        encode_close(&mut stream, Some(code), &reason);
        let decoder = Decoder { role: Role::Client, limits: Limits::default(), deflate: false };
        let reading = read(&decoder, [&stream[..]]);
        let [Received::Close { code: read_code, reason: cut }] = &reading.events[..] else {
            return Err(TestCaseError::fail(format!("{reading:?}")));
        };
        prop_assert_eq!(*read_code, Some(code));
        prop_assert!(reason.starts_with(cut.as_str()));
        prop_assert!(*cut == reason || cut.len() > 119);
    }

    #[test]
    fn a_text_message_survives_in_both_versions(
        (join_ref, reference) in (references(), references()),
        (topic, event) in (names(), names()),
        payload in payloads(),
    ) {
        let message = text_message(join_ref, reference, &topic, &event, &payload);
        for version in [Version::V1, Version::V2] {
            let mut out = Vec::new();
            let kind = encode_message(version, &mut out, &message).expect("text fits any version");
            prop_assert_eq!(decode(version, kind, &out), Ok(message.clone()));
        }
    }

    #[test]
    fn the_keys_of_a_v1_message_may_come_in_any_order_with_others(
        (join_ref, reference) in (references(), references()),
        (topic, event) in (names(), names()),
        payload in payloads(),
        order in Just([0, 1, 2, 3, 4, 5]).prop_shuffle(),
        space in prop::sample::select(vec!["", " ", "\n\t"]),
    ) {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string");
        let members = [
            format!(r#""topic":{}"#, quoted(&topic)),
            format!(r#""event":{space}{}"#, quoted(&event)),
            format!(r#""payload"{space}:{payload}"#),
            format!(r#""ref":{}"#, reference.as_json()),
            format!(r#""join_ref":{}"#, join_ref.as_json()),
            r#""sent_at":[1,{"topic":2}]"#.to_owned(),
        ];
        let members = order.map(|at| members[at].as_str()).join(&format!("{space},{space}"));
        let text = format!("{{{space}{members}{space}}}");
        let message = text_message(join_ref, reference, &topic, &event, &payload);
        prop_assert_eq!(decode(Version::V1, FrameKind::Text, text.as_bytes()), Ok(message));
    }

    #[test]
    fn a_servers_push_reads_like_a_message(
        join_ref in references(),
        (topic, event) in (names(), names()),
        payload in payloads(),
    ) {
        let mut out = Vec::new();
        let kind = encode_push(Version::V2, &mut out, &join_ref, &topic, &event, Payload::Json(&payload));
        prop_assert_eq!(kind, Ok(FrameKind::Text));
        let message = text_message(join_ref, Ref::NULL, &topic, &event, &payload);
        prop_assert_eq!(decode(Version::V2, FrameKind::Text, &out), Ok(message));
        out.clear();
        let kind = encode_broadcast(Version::V1, &mut out, &topic, &event, Payload::Json(&payload));
        prop_assert_eq!(kind, Ok(FrameKind::Text));
        let message = text_message(Ref::NULL, Ref::NULL, &topic, &event, &payload);
        prop_assert_eq!(decode(Version::V1, FrameKind::Text, &out), Ok(message));
    }

    #[test]
    fn a_binary_message_survives(
        (join_ref, reference) in (".{0,30}", ".{0,30}"),
        (topic, event) in (names(), names()),
        payload: Vec<u8>,
    ) {
        let message = Message {
            join_ref: Ref::from_text(&join_ref),
            reference: Ref::from_text(&reference),
            topic: Name::from(&*topic),
            event: Name::from(&*event),
            payload: Payload::Binary(&payload),
        };
        let mut out = Vec::new();
        let kind = encode_message(Version::V2, &mut out, &message);
        let is_short = [&join_ref, &reference, &topic, &event].iter().all(|text| text.len() <= 255);
        prop_assert_eq!(kind.is_ok(), is_short);
        if is_short {
            prop_assert_eq!(decode(Version::V2, FrameKind::Binary, &out), Ok(message));
        } else {
            prop_assert!(out.is_empty());
        }
    }

    #[test]
    fn any_bytes_hold_the_fuzzed_properties(data: Vec<u8>) {
        for (_, property) in properties::TARGETS {
            property(&data);
        }
    }
}
