//! Dismissals: sockets to be closed and joins to be ended on all nodes, requested by the application and not by a
//! client.

use crate::bus::BusEffect;
use crate::effect::{Effect, Effects};
use crate::hub::Hub;
use std::sync::Arc;

/// What has to end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dismissal {
    /// The sockets with an id.
    Sockets {
        /// The id.
        id: Arc<str>,
        /// The close code: 1001, or from 4000 to 4999 one of the application's own (RFC 6455, section 7.4.2).
        code: u16,
    },
    /// The joins of the sockets with an id to a topic, with `phx_close`.
    Joins {
        /// The id.
        id: Arc<str>,
        /// The topic.
        topic: Arc<str>,
    },
}

impl Dismissal {
    /// Returns the id of the sockets.
    pub fn id(&self) -> &Arc<str> {
        match self {
            Dismissal::Sockets { id, .. } | Dismissal::Joins { id, .. } => id,
        }
    }
}

impl Hub {
    /// Ends the sockets or joins on this shard.
    pub(crate) fn dismiss(&mut self, dismissal: &Dismissal, out: &mut Effects) {
        match dismissal {
            Dismissal::Sockets { id, code } => self.disconnect(id, *code, out),
            Dismissal::Joins { id, topic } => self.end_joins_of(id, topic, out),
        }
    }

    /// Informs the other nodes. Every shard of this node gets the dismissal; only one of them informs the other nodes,
    /// and none does while the bus is away.
    pub(crate) fn dismiss_elsewhere(&self, dismissal: &Dismissal, out: &mut Effects) {
        let is_teller = self.home_of(dismissal.id()) == self.config.shard;
        if is_teller && self.config.bus.is_some() && self.bus.up {
            out.push(Effect::Bus(Box::new(BusEffect::Dismiss(dismissal.clone()))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{BusEvent, NodeId};
    use crate::event::{Event, NewConnection, ShardMessage};
    use crate::frames::{Dialect, Transport};
    use crate::histories::Histories;
    use crate::hub::HubConfig;
    use crate::ids::{ConnectionKey, Micros, MountIndex, ShardIndex};
    use crate::limits::Limits;
    use proto::phoenix::Version;

    const SHARDS: u16 = 3;

    /// The shards of a node with a bus, each with a socket of this id.
    fn shards(id: &str) -> Vec<Hub> {
        let hub = |shard| {
            let mut hub = Hub::new(HubConfig {
                shard: ShardIndex(shard),
                shards: SHARDS,
                secret: 1,
                salt: 1,
                bus: Some(NodeId(1)),
                histories: Histories::default(),
                limits: Limits::default(),
            });
            let key = ConnectionKey { slot: 7, generation: 1 };
            let dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };
            let (mount, socket_id) = (MountIndex(0), Some(id.into()));
            hub.open(NewConnection { key, mount, dialect, socket_id, assigns: None });
            hub
        };
        (0..SHARDS).map(hub).collect()
    }

    /// Passes an event to every shard; returns the number of sockets closed and the dismissals sent to other nodes.
    fn told(hubs: &mut [Hub], event: impl Fn() -> Event<'static>) -> (usize, Vec<Dismissal>) {
        let (mut closed, mut elsewhere) = (0, Vec::new());
        for hub in hubs {
            let mut out = Effects::default();
            hub.handle(Micros(0), event(), &mut out);
            for effect in out.list {
                match effect {
                    Effect::Close { code: 4001, .. } => closed += 1,
                    Effect::Bus(effect) => match *effect {
                        BusEffect::Dismiss(dismissal) => elsewhere.push(dismissal),
                        other => panic!("not asked for: {other:?}"),
                    },
                    other => panic!("not asked for: {other:?}"),
                }
            }
        }
        (closed, elsewhere)
    }

    #[test]
    fn sockets_are_closed_on_every_shard_and_one_shard_tells_the_other_nodes() {
        let sockets = Dismissal::Sockets { id: "user:1".into(), code: 4001 };
        let here = || Event::Shard(ShardMessage::Dismiss(sockets.clone()));
        let mut away = shards("user:1");
        assert_eq!(told(&mut away, here), (3, vec![]), "nobody can be told while the bus is away");

        let mut hubs = shards("user:1");
        told(&mut hubs, || Event::Bus(BusEvent::Up));
        assert_eq!(told(&mut hubs, here), (3, vec![sockets.clone()]));
        assert_eq!(told(&mut hubs, here), (0, vec![sockets.clone()]), "other nodes may have some");
    }

    #[test]
    fn what_another_node_has_ended_ends_here_and_goes_no_further() {
        let mut hubs = shards("user:1");
        told(&mut hubs, || Event::Bus(BusEvent::Up));
        for (id, closed) in [("user:2", 0), ("user:1", 3)] {
            let sockets = Dismissal::Sockets { id: id.into(), code: 4001 };
            assert_eq!(
                told(&mut hubs, || Event::Bus(BusEvent::Dismissed(sockets.clone()))),
                (closed, vec![])
            );
        }
    }
}
