//! The state of one shard, and its entry points.

use crate::active::{Active, Pending};
use crate::archive::Archive;
use crate::backlog::SpareBacklogs;
use crate::bus::NodeId;
use crate::channel::ChannelFactory;
use crate::class::Class;
use crate::connection::Connections;
use crate::counters::Counters;
use crate::directory::Directory;
use crate::effect::{Effect, Effects};
use crate::event::{Event, ShardMessage};
use crate::fanout::Encoder;
use crate::hashing::SecretHash;
use crate::histories::Histories;
use crate::ids::{ConnectionKey, Micros, MountIndex, ShardIndex, Ticket, TopicId};
use crate::join_queue::JoinQueue;
use crate::limits::Limits;
use crate::link::BusState;
use crate::memory::Memory;
use crate::named::NamedSlab;
use crate::outages::OwedGaps;
use crate::owners::{OwnerOf, Owners};
use crate::pattern::Pattern;
use crate::topic::Topic;
use hashbrown::HashTable;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A hub's configuration. All hubs of a node share everything but `shard`.
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// The index of this shard.
    pub shard: ShardIndex,
    /// The number of shards.
    pub shards: u16,
    /// A random number that keeps the hashing of topic names secret.
    pub secret: u64,
    /// A random number that makes this node's presence refs unique.
    pub salt: u32,
    /// This node's id, if a bus carries topics between nodes.
    pub bus: Option<NodeId>,
    /// Which topics are recoverable.
    pub histories: Histories,
    /// Bounds.
    pub limits: Limits,
}

/// The channels of one mount, in declaration order, and its join settings.
#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) channels: Vec<(Pattern, Box<dyn ChannelFactory>)>,
    pub(crate) channels_max: Option<usize>,
    pub(crate) sequential_joins: bool,
}

/// One shard as a state machine; see the crate's documentation.
pub struct Hub {
    pub(crate) config: HubConfig,
    pub(crate) hash: SecretHash,
    pub(crate) now: Micros,
    pub(crate) mounts: Vec<Routes>,
    pub(crate) connections: Connections,
    /// The slot of the first connection of each socket id, by the id; see [`crate::connection::Identity`].
    pub(crate) identities: HashTable<u32>,
    pub(crate) topics: NamedSlab<Topic>,
    pub(crate) owners: Owners,
    pub(crate) active: Active,
    /// Empty backlogs for topics that get publications again.
    pub(crate) spare_backlogs: SpareBacklogs,
    /// Connections whose parked frames can be handled once no pass is in progress.
    pub(crate) released: Vec<ConnectionKey>,
    pub(crate) directory: Directory,
    /// The histories of the topics whose home is this shard.
    pub(crate) archive: Archive,
    pub(crate) bus: BusState,
    pub(crate) join_line: JoinQueue,
    /// Recoverable topics with a request for their home.
    pub(crate) questions: VecDeque<TopicId>,
    pub(crate) owed_gaps: OwedGaps,
    pub(crate) encoder: Encoder,
    pub(crate) instances: u32,
    pub(crate) epochs: u32,
    pub(crate) references: u64,
    /// Number of changes of this node's people that were sent to other nodes, over all topics.
    pub(crate) presence_versions: u64,
    pub(crate) counters: Counters,
    /// Memory that is counted as it changes; see [`Hub::memory`].
    pub(crate) memory: Memory,
}

impl Hub {
    /// Creates a shard without connections and routes.
    pub fn new(config: HubConfig) -> Hub {
        let hash = SecretHash(config.secret);
        Hub {
            hash,
            now: Micros(0),
            mounts: Vec::new(),
            connections: Connections::default(),
            identities: HashTable::new(),
            topics: NamedSlab::new(hash),
            owners: Owners::new(hash),
            active: Active::default(),
            spare_backlogs: SpareBacklogs::default(),
            released: Vec::new(),
            directory: Directory::new(hash),
            archive: Archive::new(hash, config.histories.len(), config.limits.history_bytes_max),
            bus: BusState::default(),
            join_line: JoinQueue::new(&config.limits),
            questions: VecDeque::new(),
            owed_gaps: OwedGaps::default(),
            encoder: Encoder::default(),
            instances: 0,
            epochs: 0,
            references: 0,
            presence_versions: 0,
            counters: Counters::default(),
            memory: Memory::default(),
            config,
        }
    }

    /// Routes the topics of a mount's connections to channels; the first pattern that matches wins.
    pub fn route(&mut self, mount: MountIndex, pattern: Pattern, factory: Box<dyn ChannelFactory>) {
        self.routes_mut(mount).channels.push((pattern, factory));
    }

    /// Limits how many channels a connection of this mount may join, instead of [`Limits::channels_max`].
    pub fn limit_channels(&mut self, mount: MountIndex, channels_max: usize) {
        self.routes_mut(mount).channels_max = Some(channels_max);
    }

    /// Makes connections of this mount wait for each join's decision before anything else they sent is handled, as
    /// Phoenix does. Without this, only messages for the same topic wait.
    pub fn join_sequentially(&mut self, mount: MountIndex) {
        self.routes_mut(mount).sequential_joins = true;
    }

    /// Sets how a topic's owner is read from its name. Owners share the fan-out evenly, however many topics each has;
    /// topics without an owner count as those of one owner. Must be called before there are topics.
    pub fn share_fan_out(&mut self, owner_of: OwnerOf) {
        debug_assert!(self.topics.is_empty(), "topics are there already");
        self.owners.read_by(owner_of);
    }

    fn routes_mut(&mut self, mount: MountIndex) -> &mut Routes {
        let at = usize::from(mount.0);
        if self.mounts.len() <= at {
            self.mounts.resize_with(at + 1, Routes::default);
        }
        &mut self.mounts[at]
    }

    /// Handles one event and appends the resulting effects.
    pub fn handle(&mut self, now: Micros, event: Event<'_>, out: &mut Effects) {
        self.now = now;
        match event {
            Event::Opened(connection) => self.open(connection),
            Event::Frame { key, kind, bytes, ticket } => self.frame(key, kind, bytes, ticket, out),
            Event::Closed(key) => self.closed(key, out),
            Event::Shard(message) => self.shard_message(message, out),
            Event::Refused(message) => self.refused(message, out),
            Event::Answer { owner, answer } => self.answer(owner, answer, out),
            Event::Bus(event) => self.bus_event(event, out),
            Event::Tick => {}
        }
        self.encoder.rest();
    }

    /// Returns which publications are still to be delivered.
    pub fn pending(&self) -> Pending {
        self.active.pending()
    }

    /// Returns when [`Hub::pump`] has to be called even if no event occurs.
    pub fn deadline(&self) -> Option<Micros> {
        let deadlines = self.directory.deadline().into_iter().chain(self.archive.deadline());
        deadlines.chain(self.bus.deadline()).chain(self.join_line.deadline()).min()
    }

    /// Returns the counters of what happened so far, and the current totals.
    pub fn counters(&self) -> Counters {
        Counters {
            connections: self.connections.open() as u64,
            topics: self.topics.len() as u64,
            joins_waiting: self.join_line.len() as u64,
            ..self.counters
        }
    }

    /// Iterates over this shard's topics with their number of members here, in no order.
    pub fn topics(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        self.topics.iter().map(|topic| (&topic.name, topic.members()))
    }

    /// Returns an upper bound of the topics' places, for walks over all of them.
    pub fn topic_places(&self) -> usize {
        self.topics.places()
    }

    /// Iterates over the topics within these places: the number of members here, and the place.
    pub fn topic_sizes(&self, places: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        places.filter_map(|place| Some((self.topics.get(place)?.members(), place)))
    }

    /// Returns the topic at a place, with the number of members here.
    pub fn topic_at(&self, place: usize) -> Option<(&Arc<str>, usize)> {
        self.topics.get(place).map(|topic| (&topic.name, topic.members()))
    }

    /// Returns the number of members that a topic has here.
    pub fn members_of(&self, topic: &str) -> usize {
        self.topic_named(topic).map_or(0, |id| self.topics[id.0 as usize].members())
    }

    /// Returns the topic with that name, if it has joins on this shard.
    pub(crate) fn topic_named(&self, name: &str) -> Option<TopicId> {
        self.topics.find(name).map(|place| TopicId(place as u32))
    }

    /// Returns the socket id of a connection, if it has one.
    pub fn socket_id(&self, key: ConnectionKey) -> Option<&str> {
        self.connections.keyed(key)?;
        self.connections.socket_id(key.slot)
    }

    /// Returns whether no connection, topic, presence or history is left.
    pub fn is_empty(&self) -> bool {
        self.connections.open() == 0
            && self.topics.is_empty()
            && self.owners.is_empty()
            && self.identities.is_empty()
            && self.owed_gaps.is_empty()
            && self.directory.len() == 0
            && self.archive.len() == 0
            && self.nothing_is_counted()
    }

    pub(crate) fn send_to_shard(
        &mut self,
        shard: ShardIndex,
        message: ShardMessage,
        class: Class,
        out: &mut Effects,
    ) {
        if shard == self.config.shard && class == Class::Control {
            self.shard_message(message, out);
        } else {
            out.push(Effect::ToShard { shard, message, class });
        }
    }

    /// Sends to the home of the message's topic.
    pub(crate) fn send_home(&mut self, message: ShardMessage, class: Class, out: &mut Effects) {
        let home = self.home_of(message.topic());
        self.send_to_shard(home, message, class, out);
    }

    pub(crate) fn home_of(&self, topic: &str) -> ShardIndex {
        self.hash.home(topic, self.config.shards)
    }

    pub(crate) fn taken(&mut self, slot: u32, ticket: Ticket, out: &mut Effects) {
        if ticket != Ticket::NONE {
            out.push(Effect::Taken { slot, ticket });
        }
    }
}

impl HubConfig {
    /// Returns the shard that keeps a topic's directory entry, to which code outside the hubs posts
    /// [`ShardMessage::PublishNow`].
    pub fn home_of(&self, topic: &str) -> ShardIndex {
        SecretHash(self.secret).home(topic, self.shards)
    }
}
