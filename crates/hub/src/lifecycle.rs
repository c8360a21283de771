//! Connections come and go; socket ids find them.

use crate::channel::Ended;
use crate::connection::{Connection, Identity};
use crate::effect::{Effect, Effects};
use crate::event::NewConnection;
use crate::hub::Hub;
use crate::ids::ConnectionKey;
use proto::ws::CloseCode;

impl Hub {
    pub(crate) fn open(&mut self, new: NewConnection) {
        let slot = new.key.slot;
        let mut connection = Connection::new(new.key.generation, new.mount, new.dialect);
        if new.assigns.is_some() {
            connection.extra_mut().assigns = new.assigns;
        }
        if let Some(id) = new.socket_id {
            let next = self.identities.insert(self.hash.of(&id), slot);
            connection.extra_mut().identity = Some(Identity { id, next });
        }
        self.connections.insert(slot, connection);
    }

    /// The driver says that a connection is gone.
    pub(crate) fn closed(&mut self, key: ConnectionKey, out: &mut Effects) {
        if self.connections.keyed(key).is_some() {
            self.forget(key.slot, out);
        }
    }

    /// The hub wants a connection gone.
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
        if connection.extra().is_some()
            && let Some(identity) = connection.extra_mut().identity.take()
        {
            self.forget_identity(slot, identity);
        }
    }

    fn forget_identity(&mut self, slot: u32, identity: Identity) {
        let hash = self.hash.of(&identity.id);
        let Some(first) = self.identities.get(&hash).copied() else { return };
        if first == slot {
            match identity.next {
                Some(next) => self.identities.insert(hash, next),
                None => self.identities.remove(&hash),
            };
            return;
        }
        let mut at = Some(first);
        while let Some(other) = at.and_then(|at| self.identity_mut(at)) {
            at = other.next;
            if at == Some(slot) {
                other.next = identity.next;
                return;
            }
        }
    }

    fn identity_mut(&mut self, slot: u32) -> Option<&mut Identity> {
        self.connections.get_mut(slot)?.extra_mut().identity.as_mut()
    }

    /// Closes every connection with this socket id.
    pub(crate) fn disconnect(&mut self, id: &str, out: &mut Effects) {
        let mut at = self.identities.get(&self.hash.of(id)).copied();
        while let Some(slot) = at {
            let Some(identity) = self.identity_mut(slot) else { return };
            at = identity.next;
            // Ids with the same hash share a list.
            if &*identity.id == id {
                self.close(slot, CloseCode::GOING_AWAY, out);
            }
        }
    }
}
