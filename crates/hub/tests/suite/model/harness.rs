//! Applies the same operations to a hub and to the reference, and compares the results.

use super::operation::{Operation, SLOTS};
use super::reference::{Message, Reference, Request, Told};
use hub::{
    Answer, Channel, ConnectionKey, Context, Dialect, Effect, Effects, Event, Histories, Hub, HubConfig,
    Info, Joining, Limits, Micros, MountIndex, NewConnection, Outgoing, Pattern, Reach, ShardIndex,
    ShardMessage, Task, TaskOwner, Ticket, Transport,
};
use proto::phoenix::{FrameKind, Payload, Version};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Applies the operations, closes all connections, and fails where the hub and the reference disagree.
pub fn run(operations: &[Operation]) {
    let mut pair = Pair::new();
    for &operation in operations {
        pair.operate(operation);
        pair.compare_topics();
    }
    while pair.pump(64) {}
    assert!(!pair.reference.waits(), "never delivered: {:?}", pair.reference);
    for slot in pair.reference.open_slots() {
        pair.operate(Operation::Close { slot });
    }
    while pair.pump(64) {}
    assert!(pair.hub.is_empty(), "everyone is gone, and the hub is not empty");
}

/// The channel of every topic; the reference models its behavior.
struct Room;

impl Channel for Room {
    fn join(&mut self, _: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let value = value(payload);
        match value["later"].as_bool() {
            Some(true) => Joining::Later(Task::blocking(move || value)),
            _ => Joining::accept(),
        }
    }

    fn join_answered(&mut self, _: &mut Context<'_>, _: Info) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let value = value(payload);
        match event {
            "publish" => cx.broadcast("told", &value["told"]),
            "publish from" => cx.broadcast_from("told", &value["told"]),
            "publish to" => cx.broadcast_to(value["to"].as_str().unwrap_or_default(), "told", &value["told"]),
            _ => {}
        }
        cx.reply_ok(Outgoing::empty());
    }
}

fn value(payload: Payload<'_>) -> Value {
    match payload {
        Payload::Json(text) => serde_json::from_str(text).expect("the harness sends JSON"),
        Payload::Binary(_) => Value::Null,
    }
}

struct Pair {
    hub: Hub,
    reference: Reference,
    effects: Effects,
    generations: BTreeMap<u8, u32>,
    /// Tasks that the hub spawned, oldest first.
    tasks: VecDeque<(TaskOwner, Task)>,
    numbers: u32,
}

fn dialect(slot: u8) -> Dialect {
    let version = if slot.is_multiple_of(3) { Version::V1 } else { Version::V2 };
    let transport = if slot.is_multiple_of(2) { Transport::WebSocket } else { Transport::LongPoll };
    Dialect { version, transport }
}

fn topic_name(topic: u8) -> String {
    format!("room:{topic}")
}

impl Pair {
    fn new() -> Pair {
        let limits = Limits::default();
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: 1,
            secret: 7,
            salt: 7,
            bus: None,
            histories: Histories::default(),
            limits,
        };
        let mut hub = Hub::new(config);
        hub.route(MountIndex(0), Pattern::parse("room:*").expect("a pattern"), Box::new(|| Room));
        Pair {
            hub,
            reference: Reference::default(),
            effects: Effects::default(),
            generations: BTreeMap::new(),
            tasks: VecDeque::new(),
            numbers: 0,
        }
    }

    fn operate(&mut self, operation: Operation) {
        match operation {
            Operation::Open { slot } => self.open(slot),
            Operation::Close { slot } => self.close(slot),
            Operation::Join { slot, topic, later } => self.say(slot, topic, Request::Join { later }),
            Operation::Leave { slot, topic } => self.say(slot, topic, Request::Leave),
            Operation::Echo { slot, topic } => self.say(slot, topic, Request::Echo),
            Operation::Publish { slot, topic, from } => {
                let (to, payload) = (topic_name(topic), self.payload());
                self.say(slot, topic, Request::Publish { to, from, payload });
            }
            Operation::PublishTo { slot, topic, to } => {
                let (to, payload) = (topic_name(to), self.payload());
                self.say(slot, topic, Request::Publish { to, from: false, payload });
            }
            Operation::PublishNow { topic } => self.publish_now(topic_name(topic)),
            Operation::Answer => self.answer(),
            Operation::Pump { budget } => drop(self.pump(usize::from(budget))),
        }
    }

    fn key(&self, slot: u8) -> ConnectionKey {
        let generation = self.generations.get(&slot).copied().unwrap_or_default();
        ConnectionKey { slot: u32::from(slot), generation }
    }

    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn payload(&mut self) -> Value {
        json!({"number": self.number()})
    }

    fn open(&mut self, slot: u8) {
        if self.reference.is_open(slot) {
            return;
        }
        *self.generations.entry(slot).or_default() += 1;
        self.reference.open(slot, dialect(slot).version);
        let (key, dialect) = (self.key(slot), dialect(slot));
        let new = NewConnection { key, mount: MountIndex(0), dialect, socket_id: None, assigns: None };
        self.handle(Event::Opened(new));
    }

    fn close(&mut self, slot: u8) {
        self.reference.close(slot);
        self.handle(Event::Closed(self.key(slot)));
    }

    fn say(&mut self, slot: u8, topic: u8, request: Request) {
        if !self.reference.is_open(slot) {
            return;
        }
        let (topic, reference) = (topic_name(topic), self.number().to_string());
        let (event, payload) = match &request {
            // The payload comes back as the task's answer and identifies the join.
            Request::Join { later } => {
                let generation = self.key(slot).generation;
                let asked = json!({"later": later, "slot": slot, "generation": generation, "topic": topic});
                ("phx_join", asked)
            }
            Request::Leave => ("phx_leave", json!({})),
            Request::Echo => ("echo", json!({})),
            Request::Publish { from: true, payload, .. } => ("publish from", json!({"told": payload})),
            Request::Publish { to, payload, .. } if *to == topic => ("publish", json!({"told": payload})),
            Request::Publish { to, payload, .. } => ("publish to", json!({"told": payload, "to": to})),
        };
        let text = frame(dialect(slot).version, &reference, &topic, event, &payload).to_string();
        self.reference.message(slot, Message { topic, reference, request });
        let (key, bytes) = (self.key(slot), text.as_bytes());
        self.handle(Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE });
    }

    fn publish_now(&mut self, topic: String) {
        let payload = self.payload();
        self.reference.publish(None, &topic, &payload);
        let message = ShardMessage::PublishNow {
            topic: topic.into(),
            event: "told".into(),
            payload: payload.into(),
            here: false,
        };
        self.handle(Event::Shard(message));
    }

    fn answer(&mut self) {
        let Some((owner, Task::Blocking(work))) = self.tasks.pop_front() else { return };
        let info = work();
        let asked = info.downcast_ref::<Value>().expect("the join's payload");
        let slot = (0..SLOTS).find(|&slot| asked["slot"] == slot).expect("the join's slot");
        if asked["generation"] == self.key(slot).generation {
            self.reference.accept(slot, asked["topic"].as_str().unwrap_or_default());
        }
        self.handle(Event::Answer { owner, answer: Answer::Finished(info) });
    }

    /// Handles one event; then every connection must have got what the reference predicts, in order.
    fn handle(&mut self, event: Event<'_>) {
        self.hub.handle(Micros(0), event, &mut self.effects);
        let told = self.carry_out();
        assert_eq!(told, self.reference.take_told());
    }

    /// Delivers; each delivery must be the oldest that waits for its member. Returns `true` if the hub reports more.
    fn pump(&mut self, budget: usize) -> bool {
        let more = self.hub.pump(Micros(0), budget, Reach::All, &mut self.effects).any();
        for (slot, messages) in self.carry_out() {
            for message in messages {
                assert!(self.reference.was_delivered(slot, &message), "not the next for {slot}: {message}");
            }
        }
        assert!(more || !self.reference.waits(), "the hub rests, and some wait: {:?}", self.reference);
        more
    }

    fn carry_out(&mut self) -> Told {
        let Effects { list, bytes, slots, frames } = std::mem::take(&mut self.effects);
        let mut told = Told::new();
        for effect in list {
            let (receivers, bytes) = match effect {
                Effect::Send { slot, range } => (&[slot][..], &bytes[range]),
                Effect::Deliver { slots: receivers, frame } => {
                    (&slots[receivers], &frames[frame as usize][..])
                }
                Effect::Spawn { owner, task } => {
                    self.tasks.push_back((owner, task));
                    continue;
                }
                Effect::Walked { .. } => continue,
                other => panic!("one shard alone wants nothing of this kind: {other:?}"),
            };
            for slot in receivers.iter().map(|slot| *slot as u8) {
                assert!(self.reference.is_open(slot), "slot {slot} is not open");
                told.entry(slot).or_default().extend(texts(dialect(slot).transport, bytes));
            }
        }
        told
    }

    fn compare_topics(&self) {
        let topics = self.hub.topics().filter(|(_, members)| *members > 0);
        let topics: BTreeMap<&str, usize> = topics.map(|(topic, members)| (&**topic, members)).collect();
        assert_eq!(topics, self.reference.topics());
    }
}

fn frame(version: Version, reference: &str, topic: &str, event: &str, payload: &Value) -> Value {
    // A join's own number is its join_ref; later messages may omit theirs.
    let join_ref = (event == "phx_join").then_some(reference);
    match version {
        Version::V1 => {
            json!({"topic": topic, "event": event, "payload": payload, "ref": reference, "join_ref": join_ref})
        }
        Version::V2 => json!([join_ref, reference, topic, event, payload]),
    }
}

/// Decodes the messages written to one connection: texts as they are, or in unmasked frames (RFC 6455 section 5.2).
fn texts(transport: Transport, mut bytes: &[u8]) -> Vec<Value> {
    let parse = |text: &[u8]| serde_json::from_slice(text).expect("the hub writes JSON");
    if transport == Transport::LongPoll {
        return vec![parse(bytes)];
    }
    let mut texts = Vec::new();
    while let [0x81, length, rest @ ..] = bytes {
        let (length, rest) = match (length, rest) {
            (126, [high, low, rest @ ..]) => (usize::from(u16::from_be_bytes([*high, *low])), rest),
            (length, rest) => (usize::from(*length), rest),
        };
        let (text, rest) = rest.split_at(length);
        texts.push(parse(text));
        bytes = rest;
    }
    assert!(bytes.is_empty() && !texts.is_empty(), "whole frames of texts");
    texts
}
