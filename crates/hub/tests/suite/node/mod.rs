//! One node under test: hubs with mailboxes between them, and clients that get texts without framing.

use hub::{
    BusEffect, BusEvent, Channel, Class, ConnectionKey, Context, Dialect, Effect, Effects, Epoch, Event,
    Histories, Hub, HubConfig, Joining, Limits, Micros, MountIndex, NewConnection, NodeId, Outgoing, Pattern,
    Position, Reach, Retention, ShardIndex, ShardMessage, Ticket, Transport,
};
use proto::phoenix::{FrameKind, Payload, Version};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

const TEXTS: Dialect = Dialect { version: Version::V2, transport: Transport::LongPoll };

/// Publishes what clients send, and replies.
struct Room;

impl Channel for Room {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "say" => cx.broadcast_and_reply("said", payload),
            "say to others" => cx.broadcast_from_and_reply("said", payload),
            "say bytes" => cx.broadcast("said", Outgoing::binary(b"bytes")),
            "watched" => cx.broadcast("watched", payload),
            "here" => {
                cx.track("own", payload).expect("there is room");
                cx.push_presence_state();
            }
            _ => cx.reply_ok(payload),
        }
    }

    fn intercepts(&self) -> &'static [&'static str] {
        &["watched"]
    }

    fn handle_out(&mut self, cx: &mut Context<'_>, _: &str, payload: Payload<'_>) {
        cx.push("changed", payload);
    }
}

/// A client: its shard, and its connection there.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    shard: usize,
    key: ConnectionKey,
}

pub(crate) struct Node {
    hubs: Vec<Hub>,
    mail: Vec<VecDeque<ShardMessage>>,
    pub(crate) now: Micros,
    /// Number of messages that a mailbox accepts before it refuses those of a class that may be refused.
    pub(crate) mailbox_max: usize,
    told: BTreeMap<(usize, u32), Vec<Value>>,
    /// The hubs' requests to the bus.
    pub(crate) wanted: Vec<BusEffect>,
    slots: u32,
}

pub(crate) fn retention() -> Retention {
    Retention { messages_max: 20, age_us_max: 60_000_000, bytes_max: 1 << 20 }
}

impl Node {
    pub(crate) fn new(shards: u16, retention: Retention, limits: &Limits) -> Node {
        Node::with(shards, retention, limits, None)
    }

    /// Creates a node among several, whose bus is away.
    pub(crate) fn on_bus(shards: u16) -> Node {
        Node::with(shards, retention(), &Limits::default(), Some(NodeId(1)))
    }

    fn with(shards: u16, retention: Retention, limits: &Limits, bus: Option<NodeId>) -> Node {
        let histories: Histories =
            [(Pattern::parse("kept:*").expect("a pattern"), retention)].into_iter().collect();
        let hub = |shard| {
            let mut hub = Hub::new(HubConfig {
                shard: ShardIndex(shard),
                shards,
                secret: 1,
                salt: 1,
                bus,
                histories: histories.clone(),
                limits: limits.clone(),
            });
            hub.route(MountIndex(0), Pattern::parse("*").expect("a pattern"), Box::new(|| Room));
            hub
        };
        Node {
            hubs: (0..shards).map(hub).collect(),
            mail: vec![VecDeque::new(); usize::from(shards)],
            now: Micros(0),
            mailbox_max: usize::MAX,
            told: BTreeMap::new(),
            wanted: Vec::new(),
            slots: 0,
        }
    }

    pub(crate) fn open(&mut self, shard: usize) -> Client {
        self.slots += 1;
        let key = ConnectionKey { slot: self.slots, generation: 1 };
        let (mount, dialect) = (MountIndex(0), TEXTS);
        let new = NewConnection { key, mount, dialect, socket_id: None, assigns: None };
        self.handle(shard, Event::Opened(new));
        Client { shard, key }
    }

    /// Opens a connection and joins; returns the client and the messages that it got, the join's reply first.
    pub(crate) fn join(&mut self, shard: usize, topic: &str, payload: Value) -> (Client, Vec<Value>) {
        let client = self.open(shard);
        self.say(client, topic, "phx_join", payload);
        self.settle();
        let told = self.told(client);
        (client, told)
    }

    /// Opens a connection and joins, on a node whose bus confirms subscriptions; checks that the client gets only the
    /// join's reply.
    pub(crate) fn member(&mut self, shard: usize, topic: &str) -> Client {
        let (client, mut told) = self.join(shard, topic, json!({}));
        self.confirm();
        told.extend(self.told(client));
        assert_eq!(told.iter().map(|message| &message[0]).collect::<Vec<_>>(), ["phx_reply"], "{told:?}");
        client
    }

    pub(crate) fn say(&mut self, client: Client, topic: &str, event: &str, payload: Value) {
        let text = json!(["1", "1", topic, event, payload]).to_string();
        let (key, bytes) = (client.key, text.as_bytes());
        self.handle(client.shard, Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE });
    }

    pub(crate) fn close(&mut self, client: Client) {
        self.handle(client.shard, Event::Closed(client.key));
    }

    /// Takes the messages that a client got since the last call: `[event, payload]`.
    pub(crate) fn told(&mut self, client: Client) -> Vec<Value> {
        self.told.remove(&(client.shard, client.key.slot)).unwrap_or_default()
    }

    /// Passes an event of the bus to every shard.
    pub(crate) fn bus_says(&mut self, event: &BusEvent) {
        for shard in 0..self.hubs.len() {
            self.handle(shard, Event::Bus(event.clone()));
        }
        self.settle();
    }

    /// Makes the bus confirm every subscription that was requested.
    pub(crate) fn confirm(&mut self) {
        self.settle();
        for effect in std::mem::take(&mut self.wanted) {
            let BusEffect::Interest { topic, on: Some(subscription) } = effect else { continue };
            let start = || Position { epoch: Epoch::new("e").expect("an epoch"), offset: 0 };
            let position = topic.starts_with("kept:").then(start);
            self.bus_says(&BusEvent::Subscribed { topic, subscription, position });
        }
    }

    pub(crate) fn bus_comes(&mut self) {
        self.bus_says(&BusEvent::Up);
        self.confirm();
    }

    pub(crate) fn handle(&mut self, shard: usize, event: Event<'_>) {
        let mut effects = Effects::default();
        self.hubs[shard].handle(self.now, event, &mut effects);
        self.carry_out(shard, effects);
    }

    pub(crate) fn pump(&mut self, shard: usize) -> bool {
        let mut effects = Effects::default();
        let more = self.hubs[shard].pump(self.now, 100, Reach::All, &mut effects).any();
        self.carry_out(shard, effects);
        more
    }

    /// Runs until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut busy = false;
            for shard in 0..self.hubs.len() {
                while let Some(message) = self.mail[shard].pop_front() {
                    self.handle(shard, Event::Shard(message));
                    busy = true;
                }
                busy |= self.pump(shard);
            }
            if !busy && self.mail.iter().all(VecDeque::is_empty) {
                return;
            }
        }
    }

    fn carry_out(&mut self, shard: usize, effects: Effects) {
        let Effects { list, bytes, slots, frames } = effects;
        for effect in list {
            let (receivers, text) = match effect {
                Effect::Send { slot, range } => (&[slot][..], &bytes[range]),
                Effect::Deliver { slots: receivers, frame } => {
                    (&slots[receivers], &frames[frame as usize][..])
                }
                Effect::ToShard { shard: to, message, class } => {
                    let mail = &mut self.mail[usize::from(to.0)];
                    match class {
                        Class::Durable if mail.len() >= self.mailbox_max => {
                            self.handle(shard, Event::Refused(message));
                        }
                        Class::Ephemeral if mail.len() >= self.mailbox_max => {}
                        Class::Control | Class::Durable | Class::Ephemeral => mail.push_back(message),
                    }
                    continue;
                }
                Effect::Bus(effect) => {
                    self.wanted.push(*effect);
                    continue;
                }
                Effect::Walked { .. } => continue,
                other => panic!("{other:?}"),
            };
            let message: Value = serde_json::from_slice(text).expect("the hub writes JSON");
            let [_, _, _, event, payload] = message.as_array().expect("V2").as_slice() else { panic!("V2") };
            for slot in receivers {
                self.told.entry((shard, *slot)).or_default().push(json!([event, payload]));
            }
        }
    }

    pub(crate) fn counters(&self) -> Vec<hub::Counters> {
        self.hubs.iter().map(Hub::counters).collect()
    }

    pub(crate) fn hub(&self, shard: usize) -> &Hub {
        &self.hubs[shard]
    }

    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.hubs.iter().filter_map(Hub::deadline).min()
    }

    /// Returns a recoverable topic whose home is the given shard.
    pub(crate) fn topic_at(&self, home: u16) -> String {
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: self.hubs.len() as u16,
            secret: 1,
            salt: 1,
            bus: None,
            histories: Histories::default(),
            limits: Limits::default(),
        };
        let mut topics = (0..).map(|number| format!("kept:{number}"));
        topics.find(|topic| config.home_of(topic) == ShardIndex(home)).expect("hashing uses every shard")
    }
}
