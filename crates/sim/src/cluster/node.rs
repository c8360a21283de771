//! One node of a cluster: hubs with mailboxes between them.

use super::plan::Plan;
use super::room::Room;
use hub::{
    BusEvent, Effects, Histories, Hub, HubConfig, Limits, MountIndex, NodeId, Pattern, ShardIndex,
    ShardMessage,
};
use std::collections::VecDeque;

pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) config: HubConfig,
    pub(super) shards: Vec<Shard>,
    /// Whether its processes are stopped, to continue later where they were.
    pub(super) is_still: bool,
    /// How often its bus connected since the last rest.
    pub(super) connects: u64,
}

pub(super) struct Shard {
    pub(super) hub: Hub,
    pub(super) effects: Effects,
    pub(super) mailbox: VecDeque<ShardMessage>,
    pub(super) bus_mail: VecDeque<BusEvent>,
}

impl Node {
    pub(super) fn new(id: NodeId, seed: u64, plan: &Plan) -> Node {
        let pattern = |text| Pattern::parse(text).expect("a pattern");
        let histories: Histories = [(pattern("kept:*"), plan.retention)].into_iter().collect();
        let limits = Limits {
            history_bytes_max: plan.history_bytes_max,
            recovery_messages_max: plan.recovery_messages_max,
            join_interval_us: plan.join_interval_us,
            join_wait_us_max: plan.join_wait_us_max,
            ..Limits::default()
        };
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: plan.shards as u16,
            secret: seed ^ id.0,
            salt: id.0 as u32,
            bus: plan.bus.then_some(id),
            histories,
            limits,
        };
        let shard = |index| {
            let mut hub = Hub::new(HubConfig { shard: ShardIndex(index as u16), ..config.clone() });
            hub.route(MountIndex(0), pattern("*"), Box::new(Room::default));
            Shard { hub, effects: Effects::default(), mailbox: VecDeque::new(), bus_mail: VecDeque::new() }
        };
        Node { id, shards: (0..plan.shards).map(shard).collect(), config, is_still: false, connects: 0 }
    }

    /// Passes a bus event to the given shard, to the topic's home, or to every shard.
    pub(super) fn bus_event(&mut self, shard: Option<usize>, event: &BusEvent) {
        let home = event.topic().map(|topic| usize::from(self.config.home_of(topic).0));
        match shard.or(home) {
            Some(shard) => self.shards[shard].bus_mail.push_back(event.clone()),
            None => self.shards.iter_mut().for_each(|shard| shard.bus_mail.push_back(event.clone())),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.shards.iter().any(|shard| !(shard.mailbox.is_empty() && shard.bus_mail.is_empty()))
    }
}
