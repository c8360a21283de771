//! One simulated shard: a hub, the slots of its connections and a bounded mailbox.

use crate::channels::{RoomKind, Rooms};
use crate::journal::Journal;
use crate::plan::Plan;
use hub::{
    Class, Effects, Histories, Hub, HubConfig, Limits, MountIndex, Pattern, SECOND_LANE, ShardIndex,
    ShardMessage,
};
use std::collections::{BTreeMap, VecDeque};

/// Each mount routes the same topics; they differ in how joins are handled.
pub(crate) const MOUNTS: u16 = 3;
/// Handles joins one after the other.
pub(crate) const SEQUENTIAL_MOUNT: MountIndex = MountIndex(1);
/// Lets a connection join only two channels.
pub(crate) const LIMITED_MOUNT: MountIndex = MountIndex(2);

/// Few, so that they are reused soon.
const SLOTS: u32 = 40;

/// The kinds of rooms, by topic prefix.
pub(crate) const ROOMS: [(&str, RoomKind); 3] =
    [("plain:", RoomKind::Plain), ("intercepting:", RoomKind::Intercepting), ("present:", RoomKind::Present)];

pub(crate) struct Shard {
    pub(crate) hub: Hub,
    pub(crate) effects: Effects,
    mailbox: VecDeque<ShardMessage>,
    mailbox_max: usize,
    /// The latest generation of each slot.
    generations: BTreeMap<u32, u32>,
}

impl Shard {
    pub(crate) fn new(index: usize, seed: u64, plan: &Plan, journal: &Journal) -> Shard {
        let mut hub = Hub::new(config(index, seed, plan));
        for mount in (0..MOUNTS).map(MountIndex) {
            for (prefix, kind) in ROOMS {
                let pattern = Pattern::parse(&format!("{prefix}*")).expect("a prefix and a star");
                hub.route(mount, pattern, Box::new(Rooms { kind, journal: journal.clone() }));
            }
        }
        hub.join_sequentially(SEQUENTIAL_MOUNT);
        hub.limit_channels(LIMITED_MOUNT, 2);
        Shard {
            hub,
            effects: Effects::default(),
            mailbox: VecDeque::new(),
            mailbox_max: plan.mailbox_max,
            generations: BTreeMap::new(),
        }
    }

    /// Accepts a message, or returns one that a full mailbox drops.
    pub(crate) fn post(&mut self, message: ShardMessage, class: Class) -> Option<ShardMessage> {
        if class == Class::Ephemeral && self.mailbox.len() >= self.mailbox_max {
            return Some(message);
        }
        self.mailbox.push_back(message);
        None
    }

    pub(crate) fn next_message(&mut self) -> Option<ShardMessage> {
        self.mailbox.pop_front()
    }

    pub(crate) fn has_mail(&self) -> bool {
        !self.mailbox.is_empty()
    }

    /// Returns a slot for a new connection, the first from `first` on that is not `taken`, and its generation.
    pub(crate) fn seat(&mut self, first: u32, second_lane: bool, taken: impl Fn(u32) -> bool) -> (u32, u32) {
        let lane = if second_lane { SECOND_LANE } else { 0 };
        let slots = (0..SLOTS).map(|step| lane + (first + step) % SLOTS);
        let slot = slots.into_iter().find(|&slot| !taken(slot)).expect("more slots than clients");
        let generation = self.generations.entry(slot).or_default();
        *generation += 1;
        (slot, *generation)
    }
}

pub(crate) fn config(index: usize, seed: u64, plan: &Plan) -> HubConfig {
    HubConfig {
        shard: ShardIndex(index as u16),
        shards: plan.shards() as u16,
        secret: seed,
        salt: seed as u32,
        bus: None,
        histories: Histories::default(),
        limits: Limits {
            presence_people_max: plan.people_max,
            crowd_members_min: plan.crowd_members_min,
            ..Limits::default()
        },
    }
}
