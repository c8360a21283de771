//! The way between the hubs of a node's shards and a bus between nodes, which somebody else provides.

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

/// What a bus is given to run with; see [`GatewayBuilder::bus`](crate::GatewayBuilder::bus).
pub struct BusPort {
    /// This node's name, from its start to its end.
    pub node: NodeId,
    /// When the hubs' time began.
    pub began: Instant,
    /// Where this node listens for the others
    /// ([`GatewayBuilder::listen_for_nodes`](crate::GatewayBuilder::listen_for_nodes)), which a bus announces to them, with what
    /// they have to show there; the IP address may be the unspecified one.
    pub listening: Option<NodeAddress>,
    /// What each shard's hub wants, in its order, that of one turn together. A bus takes them at once and bounds what it
    /// keeps.
    pub requests: UnboundedReceiver<(ShardIndex, Vec<BusEffect>)>,
    /// Where it says what it has to say.
    pub events: BusEvents,
}

/// Runs a bus until its requests end.
pub(crate) type RunBus = Box<dyn FnOnce(BusPort) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Tells the hubs what a bus says.
#[derive(Clone)]
pub struct BusEvents {
    mailboxes: Mailboxes<Mail>,
    hub: HubConfig,
    nodes: Arc<Nodes>,
    ear: Option<Ear>,
}

/// Where nodes are heard of beside the hubs: by who forwards to them, and by the program.
pub(crate) struct Around {
    pub(crate) nodes: Arc<Nodes>,
    /// Where this node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    pub(crate) ear: Option<Ear>,
}

/// A shard's end.
#[derive(Clone)]
pub(crate) struct BusWishes {
    sender: UnboundedSender<(ShardIndex, Vec<BusEffect>)>,
    relay: Relay,
}

/// Both ends for a node.
pub(crate) fn bus_port(
    shared: &Shared,
    Around { nodes, listening, ear }: Around,
    mailboxes: Mailboxes<Mail>,
    relay: Relay,
) -> (BusWishes, BusPort) {
    let (sender, requests) = unbounded_channel();
    let events = BusEvents { mailboxes, hub: shared.hub.clone(), nodes, ear };
    let port = BusPort { node: shared.node, began: shared.began, listening, requests, events };
    (BusWishes { sender, relay }, port)
}

impl BusWishes {
    /// Hands over what a turn made.
    pub(crate) fn send(&self, shard: ShardIndex, effects: Vec<BusEffect>) {
        let sender = self.sender.clone();
        // Refused only when the bus has ended, which is the gateway's end.
        self.relay.run(move || drop(sender.send((shard, effects))));
    }

    /// Says something to the other nodes' programs. In the order in which it is called, from any thread.
    pub(crate) fn tell_nodes(&self, words: Arc<[u8]>) {
        self.send(ShardIndex(0), vec![BusEffect::Tell(words)]);
    }
}

impl BusEvents {
    /// Tells a shard, the home of the event's topic, or, where there is neither, every shard. Never waits: publications
    /// for which a mailbox has no room are dropped and counted there. Those of recoverable topics are read from their history
    /// when the next one comes, or when who published says how far the topic has come.
    /// What is the program's to know ([`FromNodes`]) it is told at once, when the shards have it: however long that takes, no
    /// hub waits for it.
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
            // What is about no topic is never dropped.
            None => self.mailboxes.post_to_all(|| Mail::Bus(event.clone())),
        }
    }

    /// Says which nodes listen for others, whenever that changes; this one may be among them. They are believed to be there
    /// until it says otherwise, even while the bus is away.
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

    /// Of shards that have not begun, and whose mailboxes hold one letter.
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
