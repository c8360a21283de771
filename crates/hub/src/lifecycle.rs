//! Opening and closing of connections, and their lookup by socket id.

use crate::channel::Ended;
use crate::connection::{Connection, Identity, Neighbour};
use crate::effect::{Effect, Effects};
use crate::event::NewConnection;
use crate::guard;
use crate::hub::Hub;
use crate::ids::ConnectionKey;
use crate::short_text::ShortText;
use hashbrown::hash_table::Entry;

impl Hub {
    pub(crate) fn open(&mut self, new: NewConnection) {
        let slot = new.key.slot;
        let mut connection = Connection::new(new.key.generation, new.mount, new.dialect);
        if new.assigns.is_some() {
            connection.extra_mut().assigns = new.assigns;
        }
        if let Some(id) = new.socket_id {
            let next = self.put_first(&id, slot);
            if let Some(next) = next.and_then(|next| self.identity_mut(next)) {
                next.previous = slot.into();
            }
            let (previous, next) = (Neighbour::NONE, next.map_or(Neighbour::NONE, Neighbour::from));
            connection.extra_mut().identity = Some(Identity { id: ShortText::new(&id), previous, next });
        }
        self.connections.insert(slot, connection);
    }

    /// Puts a socket at the front of the list of its id. Returns the socket that was the first.
    fn put_first(&mut self, id: &str, slot: u32) -> Option<u32> {
        let (connections, secret) = (&self.connections, self.hash);
        let has_id = |first: &u32| connections.socket_id(*first) == Some(id);
        let hash_of = |first: &u32| secret.of(connections.socket_id(*first).unwrap_or_default());
        match self.identities.entry(secret.of(id), has_id, hash_of) {
            Entry::Occupied(mut first) => Some(std::mem::replace(first.get_mut(), slot)),
            Entry::Vacant(place) => {
                place.insert(slot);
                None
            }
        }
    }

    /// Handles the driver's report that a connection is gone.
    pub(crate) fn closed(&mut self, key: ConnectionKey, out: &mut Effects) {
        if self.connections.keyed(key).is_some() {
            self.forget(key.slot, out);
        }
    }

    /// Closes a connection on the hub's initiative.
    pub(crate) fn close(&mut self, slot: u32, code: u16, out: &mut Effects) {
        self.forget(slot, out);
        out.push(Effect::Close { slot, code });
    }

    /// Ends every join of a connection and removes it.
    fn forget(&mut self, slot: u32, out: &mut Effects) {
        while let Some(topic) =
            self.connections.get(slot).and_then(|c| c.joins().next()).map(|join| join.topic)
        {
            self.end_join(slot, topic, Ended::Disconnected, out);
        }
        let Some(mut connection) = self.connections.remove(slot) else { return };
        if connection.extra().is_none() {
            return;
        }
        let extra = connection.extra_mut();
        guard::discard(extra.assigns.take());
        if let Some(identity) = extra.identity.take() {
            self.forget_identity(slot, &identity);
        }
    }

    /// Removes a closed socket from the list of its id; O(1), however many sockets have the same id.
    fn forget_identity(&mut self, slot: u32, Identity { id, previous, next }: &Identity) {
        if let Some(next) = next.slot().and_then(|next| self.identity_mut(next)) {
            next.previous = *previous;
        }
        if let Some(previous) = previous.slot() {
            if let Some(previous) = self.identity_mut(previous) {
                previous.next = *next;
            }
            return;
        }
        let first = self.identities.find_entry(self.hash.of(id.as_str()), |first| *first == slot);
        let Ok(mut first) = first else { return };
        match next.slot() {
            Some(next) => *first.get_mut() = next,
            None => drop(first.remove()),
        }
    }

    fn identity_mut(&mut self, slot: u32) -> Option<&mut Identity> {
        self.connections.get_mut(slot)?.extra_mut().identity.as_mut()
    }

    /// Ends the joins to a topic of every connection with this socket id. A join that is still being decided continues:
    /// its channel is called again when it is established.
    pub(crate) fn end_joins_of(&mut self, id: &str, topic: &str, out: &mut Effects) {
        self.each_socket(id, |hub, slot| {
            let Some(topic) = hub.topic_named(topic) else { return };
            if hub.connections.join(slot, topic).is_some_and(|join| join.is_joined()) {
                hub.end_join(slot, topic, Ended::Stopped, out);
                // Frames may have waited for it, and nothing else resumes them.
                hub.released.extend(hub.connections.key_of(slot));
            }
        });
    }

    /// Closes every connection with this socket id.
    pub(crate) fn disconnect(&mut self, id: &str, code: u16, out: &mut Effects) {
        self.each_socket(id, |hub, slot| hub.close(slot, code, out));
    }

    /// Calls `act` for every connection of a socket id; `act` may remove that connection, but no other.
    fn each_socket(&mut self, id: &str, mut act: impl FnMut(&mut Hub, u32)) {
        let mut at = self.first_socket(id);
        while let Some(slot) = at {
            let Some(identity) = self.identity_mut(slot) else { return };
            at = identity.next.slot();
            act(self, slot);
        }
    }

    fn first_socket(&self, id: &str) -> Option<u32> {
        let has_id = |first: &u32| self.connections.socket_id(*first) == Some(id);
        self.identities.find(self.hash.of(id), has_id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Dialect, Transport};
    use crate::histories::Histories;
    use crate::hub::HubConfig;
    use crate::ids::{MountIndex, ShardIndex};
    use crate::limits::Limits;
    use proptest::prelude::*;
    use proto::phoenix::Version;
    use proto::ws::CloseCode;
    use std::collections::BTreeSet;

    const SOCKETS: u32 = 3000;

    fn key(slot: u32) -> ConnectionKey {
        ConnectionKey { slot, generation: 1 }
    }

    /// A hub with the given number of sockets of one id.
    fn hub_with(sockets: u32) -> Hub {
        let limits = Limits::default();
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: 1,
            secret: 1,
            salt: 1,
            bus: None,
            histories: Histories::default(),
            limits,
        };
        let mut hub = Hub::new(config);
        let dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };
        for slot in 0..sockets {
            let (key, mount, socket_id) = (key(slot), MountIndex(0), Some("user:1".into()));
            hub.open(NewConnection { key, mount, dialect, socket_id, assigns: None });
        }
        hub
    }

    /// Returns the sockets of the id by following the list's links, and checks that they agree in both directions.
    fn listed(hub: &mut Hub) -> BTreeSet<u32> {
        let (mut at, mut before) = (hub.first_socket("user:1"), None);
        let mut slots = BTreeSet::new();
        while let Some(slot) = at {
            let identity = hub.identity_mut(slot).expect("a listed socket is open");
            assert_eq!(identity.previous.slot(), before);
            assert!(slots.insert(slot), "{slot} is listed twice");
            (before, at) = (at, identity.next.slot());
        }
        slots
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sockets_of_one_id_close_in_any_order_and_the_rest_by_a_disconnect(
            order in Just((0..SOCKETS).collect::<Vec<_>>()).prop_shuffle(),
            closing in 0..SOCKETS as usize,
        ) {
            let (mut hub, mut out) = (hub_with(SOCKETS), Effects::default());
            let mut open: BTreeSet<u32> = (0..SOCKETS).collect();
            for (count, &slot) in order[..closing].iter().enumerate() {
                hub.closed(key(slot), &mut out);
                open.remove(&slot);
                if count % 500 == 0 {
                    assert_eq!(listed(&mut hub), open);
                }
            }
            assert_eq!(listed(&mut hub), open);
            hub.disconnect("user:2", CloseCode::GOING_AWAY, &mut out);
            assert!(out.list.is_empty(), "nobody has this id");
            hub.disconnect("user:1", CloseCode::GOING_AWAY, &mut out);
            let closed = out.list.iter().map(|effect| match effect {
                Effect::Close { slot, code: CloseCode::GOING_AWAY } => *slot,
                other => panic!("not a close: {other:?}"),
            });
            assert_eq!(closed.collect::<BTreeSet<_>>(), open);
            assert!(hub.is_empty());
        }
    }
}
