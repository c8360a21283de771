//! One hub under test, with every topic routed to one kind of channel.

use hub::{
    Answer, ChannelFactory, ConnectionKey, Dialect, Effect, Effects, Event, Histories, Hub, HubConfig, Info,
    Limits, Micros, MountIndex, NewConnection, Pattern, Reach, ShardIndex, ShardMessage, TaskOwner, Ticket,
    Transport,
};
use proto::phoenix::{FrameKind, Version};

/// Long-polling has no framing: the output is the text itself.
const TEXTS: Dialect = Dialect { version: Version::V2, transport: Transport::LongPoll };

pub(crate) struct Shard {
    pub(crate) hub: Hub,
    pub(crate) effects: Effects,
    pub(crate) now: Micros,
}

/// The effects of a hub since the last call.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Messages to clients, in order.
    pub(crate) texts: Vec<String>,
    /// Messages to other shards.
    pub(crate) messages: Vec<ShardMessage>,
    /// The owners of spawned tasks.
    pub(crate) tasks: Vec<TaskOwner>,
}

impl Shard {
    /// Creates the first of the given number of shards.
    pub(crate) fn new(shards: u16, factory: impl ChannelFactory + 'static) -> Shard {
        Shard::with_limits(shards, Limits::default(), factory)
    }

    /// The same with other limits.
    pub(crate) fn with_limits(shards: u16, limits: Limits, factory: impl ChannelFactory + 'static) -> Shard {
        let mut hub = Hub::new(HubConfig { limits, ..config(shards) });
        hub.route(MountIndex(0), Pattern::parse("*").expect("a pattern"), Box::new(factory));
        Shard { hub, effects: Effects::default(), now: Micros(0) }
    }

    /// Opens a connection that gets texts without framing.
    pub(crate) fn open(&mut self, slot: u32, generation: u32) -> ConnectionKey {
        self.open_with(ConnectionKey { slot, generation }, |_| {})
    }

    /// Opens a connection that differs from that of [`Shard::open`].
    pub(crate) fn open_with(
        &mut self,
        key: ConnectionKey,
        change: impl FnOnce(&mut NewConnection),
    ) -> ConnectionKey {
        let (mount, dialect) = (MountIndex(0), TEXTS);
        let mut new = NewConnection { key, mount, dialect, socket_id: None, assigns: None };
        change(&mut new);
        self.handle(Event::Opened(new));
        key
    }

    pub(crate) fn handle(&mut self, event: Event<'_>) {
        self.hub.handle(self.now, event, &mut self.effects);
    }

    pub(crate) fn say(&mut self, key: ConnectionKey, text: &str) {
        let bytes = text.as_bytes();
        self.handle(Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE });
    }

    pub(crate) fn finish(&mut self, owner: TaskOwner, info: Info) {
        self.handle(Event::Answer { owner, answer: Answer::Finished(info) });
    }

    pub(crate) fn pump(&mut self) {
        self.hub.pump(self.now, 100, Reach::All, &mut self.effects);
    }

    pub(crate) fn take(&mut self) -> Wanted {
        let effects = std::mem::take(&mut self.effects);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let mut wanted = Wanted::default();
        for effect in effects.list {
            match effect {
                Effect::Send { range, .. } => wanted.texts.push(text(&effects.bytes[range])),
                Effect::Deliver { slots, frame } => {
                    wanted.texts.extend(slots.map(|_| text(&effects.frames[frame as usize])));
                }
                Effect::ToShard { message, .. } => wanted.messages.push(message),
                Effect::Spawn { owner, .. } => wanted.tasks.push(owner),
                _ => {}
            }
        }
        wanted
    }
}

/// Returns a topic whose home is the given shard of two.
pub(crate) fn topic_at(home: u16) -> String {
    let mut topics = (0..).map(|number| format!("room:{number}"));
    topics.find(|topic| config(2).home_of(topic) == ShardIndex(home)).expect("hashing uses both shards")
}

fn config(shards: u16) -> HubConfig {
    HubConfig {
        shard: ShardIndex(0),
        shards,
        secret: 1,
        salt: 1,
        bus: None,
        histories: Histories::default(),
        limits: Limits::default(),
    }
}
