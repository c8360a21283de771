//! What a publisher's own client gets, and when.

use crate::shard::Shard;
use hub::{Channel, ConnectionKey, Context, Dialect, Joining, Outgoing, Transport};
use proptest::prelude::*;
use proto::phoenix::{Payload, Version};

/// Broadcasts each event that it gets, in order, then replies. Intercepts `x`.
struct Speaker;

impl Channel for Speaker {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        for event in event.split(' ') {
            cx.broadcast(event, payload);
        }
        cx.reply_ok(Outgoing::empty());
    }

    fn intercepts(&self) -> &'static [&'static str] {
        &["x"]
    }
}

/// Like [`Speaker`], but intercepts nothing.
struct Plain;

impl Channel for Plain {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        Speaker.join(cx, payload)
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        Speaker.handle_in(cx, event, payload);
    }
}

#[test]
fn an_intercepted_broadcast_reaches_its_publisher_after_the_reply_and_others_before_it() {
    let mut shard = Shard::new(1, || Speaker);
    let key = shard.open(0, 1);
    shard.say(key, r#"["1","1","t","phx_join",{}]"#);
    shard.take();
    shard.say(key, r#"["1","2","t","x y x z",{}]"#);
    shard.pump();
    let expected = [
        r#"[null,null,"t","y",{}]"#,
        r#"[null,null,"t","z",{}]"#,
        r#"["1","2","t","phx_reply",{"status":"ok","response":{}}]"#,
        r#"["1",null,"t","x",{}]"#,
        r#"["1",null,"t","x",{}]"#,
    ];
    assert_eq!(shard.take().texts, expected);
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let versions = prop::sample::select(&[Version::V1, Version::V2][..]);
    let transports = [Transport::WebSocket, Transport::WebSocketDeflate, Transport::LongPoll];
    (versions, prop::sample::select(transports.to_vec()))
        .prop_map(|(version, transport)| Dialect { version, transport })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Members of the publisher's dialect get the very frame that the publisher got.
    #[test]
    fn a_publication_is_encoded_once_for_its_publisher_and_for_others_of_its_dialect(
        dialects in prop::collection::vec(dialect(), 2..8)
    ) {
        let mut shard = Shard::new(1, || Plain);
        for (slot, &dialect) in (0..).zip(&dialects) {
            let key = shard.open_with(ConnectionKey { slot, generation: 1 }, |new| new.dialect = dialect);
            shard.say(key, join(dialect));
        }
        shard.effects.clear();
        let text = "a text that is long enough to be worth compressing, and then some";
        shard.say(ConnectionKey { slot: 0, generation: 1 }, &publish(dialects[0], text));
        let own = shard.effects.frames.last().expect("the publisher's own copy").clone();
        let before = shard.effects.list.len();
        shard.pump();
        for effect in &shard.effects.list[before..] {
            let hub::Effect::Deliver { slots, frame } = effect else { continue };
            let shared = shard.effects.frames[*frame as usize].as_ptr() == own.as_ptr();
            for slot in &shard.effects.slots[slots.clone()] {
                assert_eq!(shared, dialects[*slot as usize] == dialects[0]);
            }
        }
    }
}

fn join(dialect: Dialect) -> &'static str {
    match dialect.version {
        Version::V1 => r#"{"topic":"t","event":"phx_join","payload":{},"ref":"1"}"#,
        Version::V2 => r#"["1","1","t","phx_join",{}]"#,
    }
}

fn publish(dialect: Dialect, text: &str) -> String {
    match dialect.version {
        Version::V1 => format!(r#"{{"topic":"t","event":"y","payload":{{"text":"{text}"}},"ref":"2"}}"#),
        Version::V2 => format!(r#"["1","2","t","y",{{"text":"{text}"}}]"#),
    }
}
