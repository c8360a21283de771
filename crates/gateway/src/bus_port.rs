//! The connection between the hubs of a node's shards and a bus between nodes, which is implemented elsewhere.

use crate::nodes::{NodeAddress, Nodes};
use crate::relay::Relay;
use crate::shard::{Mail, Shared};
use crate::words::{Ear, FromNodes};
use engine::Mailboxes;
use hub::{BusEffect, BusEvent, HubConfig, NodeId, ShardIndex};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The inputs of a bus; see [`GatewayBuilder::bus`](crate::GatewayBuilder::bus).
pub struct BusPort {
    /// This node's id, from its start to its end.
    pub node: NodeId,
    /// The zero of the hubs' time.
    pub began: Instant,
    /// The address where this node listens for the others
    /// ([`GatewayBuilder::listen_for_nodes`](crate::GatewayBuilder::listen_for_nodes)), and the secret that they must
    /// present there. The bus announces it to them; the IP address may be the unspecified one.
    pub listening: Option<NodeAddress>,
    /// The requests of each shard's hub in order, those of one turn together. A bus receives them at once, and bounds
    /// what it keeps.
    pub requests: UnboundedReceiver<(ShardIndex, Vec<BusEffect>)>,
    /// The sender for the bus's events.
    pub events: BusEvents,
}

/// Runs a bus until its requests end.
pub(crate) type RunBus = Box<dyn FnOnce(BusPort) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Passes the bus's events to the hubs.
#[derive(Clone)]
pub struct BusEvents {
    mailboxes: Mailboxes<Mail>,
    hub: HubConfig,
    nodes: Arc<Nodes>,
    ear: Option<Ear>,
}

/// Those who are informed about nodes besides the hubs: the forwarder of long-polling requests, and the program.
pub(crate) struct Around {
    pub(crate) nodes: Arc<Nodes>,
    /// The address where this node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    pub(crate) ear: Option<Ear>,
}

/// A shard's end of the connection.
#[derive(Clone)]
pub(crate) struct BusSender {
    sender: UnboundedSender<(ShardIndex, Vec<BusEffect>)>,
    relay: Relay,
}

/// Creates both ends for a node.
pub(crate) fn bus_port(
    shared: &Shared,
    Around { nodes, listening, ear }: Around,
    mailboxes: Mailboxes<Mail>,
    relay: Relay,
) -> (BusSender, BusPort) {
    let (sender, requests) = unbounded_channel();
    let events = BusEvents { mailboxes, hub: shared.hub.clone(), nodes, ear };
    let port = BusPort { node: shared.node, began: shared.began, listening, requests, events };
    (BusSender { sender, relay }, port)
}

impl BusSender {
    /// Sends the requests of one turn.
    pub(crate) fn send(&self, shard: ShardIndex, effects: Vec<BusEffect>) {
        let sender = self.sender.clone();
        // Fails only when the bus has ended, which means that the gateway is ending.
        self.relay.run(move || drop(sender.send((shard, effects))));
    }

    /// Sends a message to the other nodes' programs, in the order of the calls, from any thread.
    pub(crate) fn tell_nodes(&self, words: Arc<[u8]>) {
        self.send(ShardIndex(0), vec![BusEffect::Tell(words)]);
    }
}

impl BusEvents {
    /// Passes an event to the given shard, to the home of the event's topic, or, if there is neither, to every shard.
    /// Never waits: publications for which a mailbox has no room are dropped and counted there. Those of recoverable
    /// topics are read from the history when the next one comes, or when a head shows how far the topic has come.
    /// Events that concern the program ([`FromNodes`]) are passed to it synchronously after the shards have got them:
    /// however long that takes, no hub waits for it.
    pub fn tell(&self, shard: Option<ShardIndex>, event: BusEvent) {
        if let (Some(ear), Some(heard)) = (&self.ear, FromNodes::of(&event)) {
            self.tell_shards(shard, event.clone());
            return ear(heard);
        }
        self.tell_shards(shard, event);
    }

    fn tell_shards(&self, shard: Option<ShardIndex>, event: BusEvent) {
        if matches!(event, BusEvent::Told { .. }) {
            return;
        }
        let home = || event.topic().map(|topic| self.hub.home_of(topic));
        match shard.or_else(home) {
            Some(shard) => self.send(engine::ShardIndex(shard.0), event),
            // Events without a topic are never dropped.
            None => self.mailboxes.post_to_all(|| Mail::Bus(event.clone())),
        }
    }

    /// Sets which nodes listen for others, whenever that changes; this one may be among them. They are assumed to be
    /// there until the next call, even while the bus is away.
    pub fn peers(&self, peers: Vec<(NodeId, NodeAddress)>) {
        self.nodes.tell(peers);
    }

    fn send(&self, shard: engine::ShardIndex, event: BusEvent) {
        let may_be_dropped = matches!(event, BusEvent::Delivered { .. } | BusEvent::Ordered(_));
        match may_be_dropped {
            true => drop(self.mailboxes.offer(shard, Mail::Bus(event))),
            false => self.mailboxes.post(shard, Mail::Bus(event)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::ShardDriver;
    use engine::{EngineConfig, EngineLimits};
    use hub::{Histories, Limits};
    use std::sync::OnceLock;

    const SHARDS: u16 = 2;

    /// Creates events for shards that have not started, with mailboxes that hold one message.
    fn events(ear: Ear) -> BusEvents {
        let limits = EngineLimits { mailbox_len_max: 1, ..EngineLimits::default() };
        let config = EngineConfig { shards: SHARDS.into(), limits, ..EngineConfig::new(Vec::new()) };
        let hub = HubConfig {
            shard: ShardIndex(0),
            shards: SHARDS,
            secret: 0,
            salt: 0,
            bus: Some(NodeId(1)),
            histories: Histories::default(),
            limits: Limits::default(),
        };
        BusEvents {
            mailboxes: engine::prepare::<ShardDriver>(config).expect("shards").mailboxes(),
            hub,
            nodes: Arc::new(Nodes::new(NodeId(1)).expect("random numbers")),
            ear: Some(ear),
        }
    }

    #[test]
    fn the_shards_have_what_is_about_nodes_before_the_program_hears_it_and_never_what_programs_say() {
        let words: Arc<[u8]> = Arc::from(&b"hi"[..]);
        let said = [
            (BusEvent::Told { node: NodeId(2), words }, 0),
            (BusEvent::Up, SHARDS),
            (BusEvent::Leases(vec![NodeId(1)]), SHARDS),
            (BusEvent::Down, SHARDS),
        ];
        for (event, expected) in said {
            let (told, mailboxes) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::<Mailboxes<Mail>>::new()));
            let ear: Ear = {
                let (told, mailboxes) = (told.clone(), mailboxes.clone());
                Arc::new(move |_| {
                    let is_told = |shard: &u16| {
                        let mailboxes = mailboxes.get().expect("they are there");
                        mailboxes.offer(engine::ShardIndex(*shard), Mail::Turn).is_err()
                    };
                    told.set((0..SHARDS).filter(is_told).count()).expect("it hears that once");
                })
            };
            let events = events(ear);
            assert!(mailboxes.set(events.mailboxes.clone()).is_ok());
            events.tell(None, event);
            assert_eq!(told.get(), Some(&usize::from(expected)));
        }
    }
}
