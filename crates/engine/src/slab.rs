//! A shard's connections, by slot: chunks that are never moved, so that growth costs neither copying nor twice the
//! memory.

use std::os::fd::OwnedFd;

use crate::connection::{Connection, Flags, UNTOUCHED};
use crate::driver::{ConnectionId, ListenerIndex};

/// Slots per chunk.
const CHUNK_SLOTS: usize = 1024;
/// The end of the list of free slots.
const NO_SLOT: u32 = u32::MAX;

/// All connections of one shard, and when each last received something.
pub(crate) struct Slab<P> {
    chunks: Vec<Chunk<P>>,
    first_free: u32,
    /// Slots below this have been used at some time.
    slots: u32,
    live: usize,
}

struct Chunk<P> {
    slots: Vec<Slot<P>>,
    /// The coarse clock in milliseconds at each connection's last byte. Dense and apart from the slots, because the
    /// sweep for silent connections reads nothing else.
    last_heard_ms: Box<[u32; CHUNK_SLOTS]>,
}

enum Slot<P> {
    Vacant { generation: u32, next_free: u32 },
    Live(Connection<P>),
}

const _: () = assert!(size_of::<Slot<[u64; 2]>>() <= 48, "an idle connection must stay small");

impl<P> Slab<P> {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new(), first_free: NO_SLOT, slots: 0, live: 0 }
    }

    /// Returns the number of connections.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Returns an upper bound of all slots in use.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the memory of all chunks, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK_SLOTS * (size_of::<Slot<P>>() + size_of::<u32>())
    }

    pub(crate) fn insert(
        &mut self,
        socket: OwnedFd,
        listener: ListenerIndex,
        peer: P,
        now_ms: u32,
    ) -> ConnectionId {
        let (slot, generation) = self.vacant_slot();
        let connection = Connection {
            socket,
            generation,
            staged: UNTOUCHED,
            listener,
            flags: Flags::NONE,
            extra: None,
            peer,
        };
        let (chunk, place) = split(slot);
        self.chunks[chunk].slots[place] = Slot::Live(connection);
        self.chunks[chunk].last_heard_ms[place] = now_ms;
        self.live += 1;
        ConnectionId { slot, generation }
    }

    pub(crate) fn remove(&mut self, id: ConnectionId) -> Option<Connection<P>> {
        self.live(id)?;
        let (chunk, place) = split(id.slot);
        let vacant = Slot::Vacant { generation: id.generation.wrapping_add(1), next_free: self.first_free };
        match std::mem::replace(&mut self.chunks[chunk].slots[place], vacant) {
            Slot::Live(connection) => {
                self.first_free = id.slot;
                self.live -= 1;
                Some(connection)
            }
            Slot::Vacant { .. } => unreachable!("the slot was live a moment ago"),
        }
    }

    pub(crate) fn live(&self, id: ConnectionId) -> Option<&Connection<P>> {
        let (chunk, place) = split(id.slot);
        match self.chunks.get(chunk)?.slots.get(place)? {
            Slot::Live(connection) if connection.generation == id.generation => Some(connection),
            Slot::Live(_) | Slot::Vacant { .. } => None,
        }
    }

    pub(crate) fn live_mut(&mut self, id: ConnectionId) -> Option<&mut Connection<P>> {
        let (chunk, place) = split(id.slot);
        match self.chunks.get_mut(chunk)?.slots.get_mut(place)? {
            Slot::Live(connection) if connection.generation == id.generation => Some(connection),
            Slot::Live(_) | Slot::Vacant { .. } => None,
        }
    }

    /// Returns the connection that uses `slot` now.
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut Connection<P>> {
        let (chunk, place) = split(slot);
        match self.chunks.get_mut(chunk)?.slots.get_mut(place)? {
            Slot::Live(connection) => Some(connection),
            Slot::Vacant { .. } => None,
        }
    }

    /// Returns the id of the connection that uses `slot` now.
    pub(crate) fn id_of(&self, slot: u32) -> Option<ConnectionId> {
        let (chunk, place) = split(slot);
        match self.chunks.get(chunk)?.slots.get(place)? {
            Slot::Live(connection) => Some(ConnectionId { slot, generation: connection.generation }),
            Slot::Vacant { .. } => None,
        }
    }

    /// Notes that a live connection has received something.
    pub(crate) fn heard(&mut self, slot: u32, now_ms: u32) {
        let (chunk, place) = split(slot);
        self.chunks[chunk].last_heard_ms[place] = now_ms;
    }

    /// Returns for how many milliseconds the connection in `slot`, if there is one, has been silent. The clock may wrap
    /// around.
    pub(crate) fn silence_ms(&self, slot: u32, now_ms: u32) -> u32 {
        let (chunk, place) = split(slot);
        now_ms.wrapping_sub(self.chunks[chunk].last_heard_ms[place])
    }

    /// Returns a free slot and the generation that its next user gets.
    fn vacant_slot(&mut self) -> (u32, u32) {
        if self.first_free == NO_SLOT {
            return (self.new_slot(), 0);
        }
        let slot = self.first_free;
        let (chunk, place) = split(slot);
        match &self.chunks[chunk].slots[place] {
            Slot::Vacant { generation, next_free } => {
                self.first_free = *next_free;
                (slot, *generation)
            }
            Slot::Live(_) => unreachable!("a live slot is not on the list of free ones"),
        }
    }

    fn new_slot(&mut self) -> u32 {
        let slot = self.slots;
        let (chunk, _) = split(slot);
        if chunk == self.chunks.len() {
            self.chunks.push(Chunk {
                slots: Vec::with_capacity(CHUNK_SLOTS),
                last_heard_ms: Box::new([0; CHUNK_SLOTS]),
            });
        }
        self.chunks[chunk].slots.push(Slot::Vacant { generation: 0, next_free: NO_SLOT });
        self.slots += 1;
        slot
    }
}

fn split(slot: u32) -> (usize, usize) {
    let slot = slot as usize;
    (slot / CHUNK_SLOTS, slot % CHUNK_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn socket() -> OwnedFd {
        std::fs::File::open("/dev/null").expect("there is a /dev/null").into()
    }

    #[test]
    fn a_stale_id_names_nobody() {
        let mut slab = Slab::new();
        let first = slab.insert(socket(), ListenerIndex(0), 1u64, 0);
        assert_eq!(slab.remove(first).expect("it is there").peer, 1);
        let second = slab.insert(socket(), ListenerIndex(0), 2u64, 0);
        assert_eq!(first.slot, second.slot);
        assert!(slab.live(first).is_none() && slab.remove(first).is_none());
        assert_eq!(slab.live(second).expect("it is there").peer, 2);
        assert_eq!(slab.id_of(second.slot), Some(second));
        assert_eq!(slab.id_of(second.slot + 1), None);
    }

    #[test]
    fn an_idle_connection_takes_forty_bytes() {
        assert_eq!(size_of::<Slot<[u64; 2]>>(), 40);
    }

    proptest! {
        #[test]
        fn the_slab_holds_what_a_map_would(steps in prop::collection::vec(any::<(bool, u8)>(), 0..300)) {
            let mut slab = Slab::new();
            let mut model: Vec<(ConnectionId, usize)> = Vec::new();
            for (step, (insert, pick)) in steps.into_iter().enumerate() {
                if insert || model.is_empty() {
                    model.push((slab.insert(socket(), ListenerIndex(0), step, 0), step));
                } else {
                    let (id, peer) = model.swap_remove(usize::from(pick) % model.len());
                    prop_assert_eq!(slab.remove(id).map(|connection| connection.peer), Some(peer));
                    prop_assert!(slab.live(id).is_none());
                }
                prop_assert_eq!(slab.len(), model.len());
                for (id, peer) in &model {
                    prop_assert_eq!(slab.live(*id).map(|connection| connection.peer), Some(*peer));
                }
            }
        }
    }
}
