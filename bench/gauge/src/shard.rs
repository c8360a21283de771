//! One hub without sockets, driven as a gateway drives it.

use crate::room::{PLANTED_BYTES, Room, TOPIC, join};
use hub::{
    ChannelFactory, ConnectionKey, Dialect, Effects, Event, Histories, Hub, HubConfig, Limits, Micros,
    MountIndex, NewConnection, Pattern, Reach, ShardIndex, Ticket, Transport,
};
use proto::phoenix::{FrameKind, Version};
use std::ops::Range;

/// Number of deliveries that a gateway requests per turn.
const DELIVERIES_PER_TURN: usize = 256;

const DIALECT: Dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };

pub(crate) struct Shard {
    hub: Hub,
    effects: Effects,
}

impl Shard {
    pub(crate) fn new(planted: bool) -> Shard {
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: 1,
            secret: 1,
            salt: 1,
            bus: None,
            histories: Histories::default(),
            limits: Limits::default(),
        };
        let factory: Box<dyn ChannelFactory> =
            if planted { Box::new(Room::<PLANTED_BYTES>::new) } else { Box::new(Room::<0>::new) };
        let mut hub = Hub::new(config);
        hub.route(MountIndex(0), Pattern::parse("room:*").expect("a pattern"), factory);
        Shard { hub, effects: Effects::default() }
    }

    /// Opens a connection at each of these slots.
    pub(crate) fn open(&mut self, slots: Range<u32>) {
        for slot in slots {
            let (mount, dialect) = (MountIndex(0), DIALECT);
            let new = NewConnection { key: key(slot), mount, dialect, socket_id: None, assigns: None };
            self.handle(Event::Opened(new));
        }
    }

    /// Joins a topic with the connections at these slots.
    pub(crate) fn join(&mut self, slots: Range<u32>, topic: &str) {
        let (text, joins) = (join(topic), slots.len() as u64);
        let before = self.hub.counters().joined;
        for slot in slots {
            self.say(slot, &text);
        }
        assert_eq!(self.hub.counters().joined - before, joins, "everybody joins {topic}");
    }

    /// Creates a shard with this many members in the shared topic.
    pub(crate) fn with_members(members: u32) -> Shard {
        let mut shard = Shard::new(false);
        shard.open(0..members);
        shard.join(0..members, TOPIC);
        shard
    }

    pub(crate) fn close(&mut self, slot: u32) {
        self.handle(Event::Closed(key(slot)));
    }

    /// Passes in a text, and returns the number of effects.
    pub(crate) fn say(&mut self, slot: u32, text: &str) -> usize {
        let bytes = text.as_bytes();
        self.handle(Event::Frame { key: key(slot), kind: FrameKind::Text, bytes, ticket: Ticket::NONE })
    }

    /// Delivers everything published, and returns the number of deliveries.
    pub(crate) fn deliver(&mut self) -> u64 {
        let before = self.hub.counters().deliveries;
        let mut pending = true;
        while pending {
            let reach = Reach::All;
            pending = self.hub.pump(Micros(0), DELIVERIES_PER_TURN, reach, &mut self.effects).any();
            self.effects.clear();
        }
        self.hub.counters().deliveries - before
    }

    fn handle(&mut self, event: Event<'_>) -> usize {
        self.hub.handle(Micros(0), event, &mut self.effects);
        let effects = self.effects.list.len();
        self.effects.clear();
        effects
    }
}

fn key(slot: u32) -> ConnectionKey {
    ConnectionKey { slot, generation: 1 }
}
