//! The state of one shard, and the way in.

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
use crate::join_line::JoinLine;
use crate::limits::Limits;
use crate::link::BusState;
use crate::memory::Memory;
use crate::outages::OwedGaps;
use crate::owners::{OwnerOf, Owners};
use crate::pattern::Pattern;
use crate::topic::Topic;
use slab::Slab;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// What a hub is told at its start. All hubs of a node share everything but `shard`.
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// Which shard this is.
    pub shard: ShardIndex,
    /// How many there are.
    pub shards: u16,
    /// A random number that keeps the hashing of topic names secret.
    pub secret: u64,
    /// A random number that makes this node's presence refs its own.
    pub salt: u32,
    /// This node's name, if a bus carries topics between nodes.
    pub bus: Option<NodeId>,
    /// Which topics are recoverable.
    pub histories: Histories,
    /// Bounds.
    pub limits: Limits,
}

/// The channels of one mount, in declaration order, and how joins are taken.
#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) channels: Vec<(Pattern, Box<dyn ChannelFactory>)>,
    pub(crate) channels_max: Option<usize>,
    pub(crate) sequential_joins: bool,
}

/// One shard as a state machine. See the crate's documentation.
pub struct Hub {
    pub(crate) config: HubConfig,
    pub(crate) hash: SecretHash,
    pub(crate) now: Micros,
    pub(crate) mounts: Vec<Routes>,
    pub(crate) connections: Connections,
    /// The first connection of each socket id, by the id's hash; see [`crate::connection::Identity`].
    pub(crate) identities: HashMap<u64, u32, SecretHash>,
    pub(crate) topics: Slab<Topic>,
    /// How many places of `topics` were ever taken.
    pub(crate) topic_places: usize,
    pub(crate) topic_ids: HashMap<Arc<str>, TopicId, SecretHash>,
    pub(crate) owners: Owners,
    pub(crate) active: Active,
    /// For topics that have something on its way again.
    pub(crate) spare_backlogs: SpareBacklogs,
    /// Connections whose parked frames may go on once no pass is under way.
    pub(crate) released: Vec<ConnectionKey>,
    pub(crate) directory: Directory,
    /// The histories of the topics whose home this is.
    pub(crate) archive: Archive,
    pub(crate) bus: BusState,
    pub(crate) join_line: JoinLine,
    /// Recoverable topics with something to ask their homes.
    pub(crate) questions: VecDeque<TopicId>,
    pub(crate) owed_gaps: OwedGaps,
    pub(crate) encoder: Encoder,
    pub(crate) instances: u32,
    pub(crate) epochs: u32,
    pub(crate) references: u64,
    /// Changes of this node's people that other nodes were told, over all topics.
    pub(crate) presence_versions: u64,
    pub(crate) counters: Counters,
    /// What is counted as it changes; see [`Hub::memory`].
    pub(crate) memory: Memory,
}

impl Hub {
    /// A shard with no connections and no routes.
    pub fn new(config: HubConfig) -> Hub {
        let hash = SecretHash(config.secret);
        Hub {
            hash,
            now: Micros(0),
            mounts: Vec::new(),
            connections: Connections::default(),
            identities: HashMap::with_hasher(hash),
            topics: Slab::new(),
            topic_places: 0,
            topic_ids: HashMap::with_hasher(hash),
            owners: Owners::new(hash),
            active: Active::default(),
            spare_backlogs: SpareBacklogs::default(),
            released: Vec::new(),
            directory: Directory::new(hash),
            archive: Archive::new(hash, config.histories.len(), config.limits.history_bytes_max),
            bus: BusState::default(),
            join_line: JoinLine::new(&config.limits),
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

    /// How many channels a connection of this mount may join, in place of [`Limits::channels_max`].
    pub fn limit_channels(&mut self, mount: MountIndex, channels_max: usize) {
        self.routes_mut(mount).channels_max = Some(channels_max);
    }

    /// Makes connections of this mount wait for each join's decision before anything else they sent is handled, as
    /// Phoenix does. Otherwise only messages for the same topic wait.
    pub fn join_sequentially(&mut self, mount: MountIndex) {
        self.routes_mut(mount).sequential_joins = true;
    }

    /// Says how a topic's name tells whose it is. Owners share the fan-out evenly, however many topics each has; what
    /// nobody owns is one owner's. To be said before there are topics.
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

    /// Takes one event and appends what is to be done about it.
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

    /// What there is to deliver, of what was published.
    pub fn pending(&self) -> Pending {
        self.active.pending()
    }

    /// When [`Hub::pump`] has something to tell although nothing happens.
    pub fn deadline(&self) -> Option<Micros> {
        let deadlines = self.directory.deadline().into_iter().chain(self.archive.deadline());
        deadlines.chain(self.bus.deadline()).chain(self.join_line.deadline()).min()
    }

    /// What happened so far, and what stands now.
    pub fn counters(&self) -> Counters {
        Counters {
            connections: self.connections.open() as u64,
            topics: self.topics.len() as u64,
            joins_waiting: self.join_line.len() as u64,
            ..self.counters
        }
    }

    /// This shard's topics with their number of members here, in no order.
    pub fn topics(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        self.topics.iter().map(|(_, topic)| (&topic.name, topic.members()))
    }

    /// Upper bound of the places that topics have, for walks over all of them.
    pub fn topic_places(&self) -> usize {
        self.topic_places
    }

    /// How many members each topic within these places has here, and its place.
    pub fn topic_sizes(&self, places: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        places.filter_map(|place| Some((self.topics.get(place)?.members(), place)))
    }

    /// The topic at a place, with its members here.
    pub fn topic_at(&self, place: usize) -> Option<(&Arc<str>, usize)> {
        self.topics.get(place).map(|topic| (&topic.name, topic.members()))
    }

    /// How many members a topic has here.
    pub fn members_of(&self, topic: &str) -> usize {
        let id = self.topic_ids.get(topic).copied();
        id.and_then(|id| self.topics.get(id.0 as usize)).map_or(0, Topic::members)
    }

    /// The socket id of a connection, if it has one.
    pub fn socket_id(&self, key: ConnectionKey) -> Option<&str> {
        self.connections.keyed(key)?.extra()?.identity.as_ref().map(|identity| &*identity.id)
    }

    /// Whether nothing is left of any connection, topic, presence or history.
    pub fn is_empty(&self) -> bool {
        self.connections.open() == 0
            && self.topics.is_empty()
            && self.topic_ids.is_empty()
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
    /// The shard that keeps a topic's directory entry: where code outside the hubs posts a
    /// [`ShardMessage::PublishNow`] to.
    pub fn home_of(&self, topic: &str) -> ShardIndex {
        SecretHash(self.secret).home(topic, self.shards)
    }
}
