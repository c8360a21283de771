//! What waits for a join or a held channel goes on in its order, however the waiting ends.

use hub::{
    Channel, ConnectionKey, Context, Dialect, Effect, Effects, Event, Hub, HubConfig, Info, Joining, Limits,
    Micros, MountIndex, NewConnection, Pattern, ShardIndex, ShardMessage, Task, Ticket, Transport,
};
use proto::phoenix::{FrameKind, Payload, Version};

/// Holds on `hold`, echoes anything else, and dies of the broadcast that it intercepts.
struct Holder;

impl Channel for Holder {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "hold" => cx.hold(Task::future(async {})),
            "fatal" => cx.broadcast("fatal", payload),
            _ => cx.reply_ok(payload),
        }
    }

    fn handle_info(&mut self, _: &mut Context<'_>, _: Info) {}

    fn intercepts(&self) -> &'static [&'static str] {
        &["fatal"]
    }

    fn handle_out(&mut self, cx: &mut Context<'_>, _: &str, _: Payload<'_>) {
        cx.fail();
    }
}

struct Shard {
    hub: Hub,
    effects: Effects,
}

impl Shard {
    fn new() -> Shard {
        let limits = Limits::default();
        let config = HubConfig { shard: ShardIndex(0), shards: 2, secret: 1, salt: 1, bus: false, limits };
        let mut hub = Hub::new(config);
        hub.route(MountIndex(0), Pattern::parse("*").expect("a pattern"), Box::new(|| Holder));
        Shard { hub, effects: Effects::default() }
    }

    fn open(&mut self, slot: u32, generation: u32) -> ConnectionKey {
        let key = ConnectionKey { slot, generation };
        // Long-polling has no framing: what is sent is the text itself.
        let dialect = Dialect { version: Version::V2, transport: Transport::LongPoll };
        let new = NewConnection { key, mount: MountIndex(0), dialect, socket_id: None, assigns: None };
        self.handle(Event::Opened(new));
        key
    }

    fn handle(&mut self, event: Event<'_>) {
        self.hub.handle(Micros(0), event, &mut self.effects);
    }

    fn say(&mut self, key: ConnectionKey, text: &str) {
        let bytes = text.as_bytes();
        self.handle(Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE });
    }

    /// The texts that were sent since the last time, and the messages to other shards.
    fn take(&mut self) -> (Vec<String>, Vec<ShardMessage>) {
        let effects = std::mem::take(&mut self.effects);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let (mut texts, mut messages) = (Vec::new(), Vec::new());
        for effect in effects.list {
            match effect {
                Effect::Send { range, .. } => texts.push(text(&effects.bytes[range])),
                Effect::Deliver { frame, .. } => texts.push(text(&effects.frames[frame as usize])),
                Effect::ToShard { message, .. } => messages.push(message),
                _ => {}
            }
        }
        (texts, messages)
    }
}

/// A topic whose home is that shard of two.
fn topic_at(home: u16) -> String {
    let limits = Limits::default();
    let config = HubConfig { shard: ShardIndex(0), shards: 2, secret: 1, salt: 1, bus: false, limits };
    let topics = (0..).map(|number| format!("room:{number}"));
    topics
        .into_iter()
        .find(|topic| config.home_of(topic) == ShardIndex(home))
        .expect("hashing uses both shards")
}

#[test]
fn frames_behind_a_held_channel_that_dies_of_a_broadcast_are_answered() {
    let mut shard = Shard::new();
    let topic = topic_at(0);
    let (holder, other) = (shard.open(0, 1), shard.open(1, 1));
    shard.say(holder, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
    shard.say(other, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
    shard.say(holder, &format!(r#"["1","2","{topic}","hold",{{}}]"#));
    shard.say(holder, &format!(r#"["1","3","{topic}","echo",{{}}]"#));
    shard.say(other, &format!(r#"["1","2","{topic}","fatal",{{}}]"#));
    shard.take();
    shard.hub.pump(Micros(0), 100, &mut shard.effects);
    let (texts, _) = shard.take();
    let unmatched = format!(
        r#"[null,"3","{topic}","phx_reply",{{"status":"error","response":{{"reason":"unmatched topic"}}}}]"#
    );
    assert!(texts.contains(&unmatched), "{texts:?}");
}

#[test]
fn a_join_does_not_stand_on_an_answer_to_an_earlier_request_of_interest() {
    let mut shard = Shard::new();
    let topic = topic_at(1);
    let join = |reference: u32| format!(r#"["{reference}","{reference}","{topic}","phx_join",{{}}]"#);
    // Three joins wait for the home, two on the same slot; only the last is still there when the answer comes.
    let (first, second) = (shard.open(0, 1), shard.open(1, 1));
    shard.say(first, &join(1));
    shard.say(second, &join(1));
    shard.handle(Event::Closed(first));
    let third = shard.open(0, 2);
    shard.say(third, &join(1));
    shard.handle(Event::Closed(second));
    // Once it stands it leaves, which ends the topic here, and joins again, which begins it anew.
    shard.say(third, &format!(r#"["1","2","{topic}","phx_leave",{{}}]"#));
    shard.say(third, &join(3));
    let (texts, messages) = shard.take();
    assert_eq!(texts, [""; 0]);
    shard.handle(Event::Shard(answer_to(&messages)));

    let (texts, messages) = shard.take();
    let replied = |reference: u32, texts: &[String]| {
        texts.iter().any(|text| {
            text.starts_with(&format!(r#"["{reference}","{reference}""#)) && text.contains("phx_reply")
        })
    };
    assert!(replied(1, &texts), "{texts:?}");
    assert!(!replied(3, &texts), "the home has not confirmed the second interest: {texts:?}");
    shard.handle(Event::Shard(answer_to(&messages)));
    assert!(replied(3, &shard.take().0));
}

/// The home's answer to the last request of interest.
fn answer_to(messages: &[ShardMessage]) -> ShardMessage {
    let mut answers = messages.iter().rev().filter_map(|message| match message {
        ShardMessage::Interest { topic, on: true, epoch, .. } => {
            Some(ShardMessage::InterestTaken { topic: topic.clone(), epoch: *epoch })
        }
        _ => None,
    });
    answers.next().expect("a request of interest")
}
