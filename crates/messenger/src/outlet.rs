//! Delivery to clients, and to the other nodes.

use crate::topics::{PERSON, ROOM, TOLD_TO_PEOPLE};
use crate::witness::{Happening, Witness};
use chat::{CommunityId, KeyId, PersonId};
use gateway::{Handle, Outgoing};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Carries news to clients: a running gateway, or a substitute in tests. Must not block.
pub trait Outlet: Send + Sync + 'static {
    /// Sends an event to every member of a topic on this node; `payload` is a JSON object. Returns whether it was
    /// accepted.
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool;

    /// Returns whether there are, or may be, other nodes over the same store.
    fn has_nodes(&self) -> bool {
        false
    }

    /// Sends a message to the other nodes, in call order. Delivery is not guaranteed.
    fn tell_nodes(&self, _words: Vec<u8>) {}

    /// Closes every socket with this id, with the given close code.
    fn close(&self, socket_id: &str, code: u16);

    /// Ends the join of the socket with this id to a topic.
    fn end_join(&self, socket_id: &str, topic: &str);

    /// Returns how many messages were lost after they had been accepted.
    fn lost(&self) -> u64 {
        0
    }
}

impl Outlet for Handle {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        let payload = Outgoing::json(payload);
        // A person has one or two devices on as many shards; a room's members are on every shard. Everything for one
        // room takes the same path, so that it arrives in call order.
        let told = match topic.starts_with(ROOM) {
            true => self.broadcast_to_crowd(topic, event, payload),
            false => self.broadcast_here(topic, event, payload),
        };
        told.is_ok()
    }

    fn has_nodes(&self) -> bool {
        Handle::has_nodes(self)
    }

    fn tell_nodes(&self, words: Vec<u8>) {
        Handle::tell_nodes(self, words);
    }

    fn close(&self, socket_id: &str, code: u16) {
        self.disconnect_with(socket_id, code);
    }

    fn end_join(&self, socket_id: &str, topic: &str) {
        Handle::end_join(self, socket_id, topic);
    }

    fn lost(&self) -> u64 {
        let metrics = self.metrics();
        let dropped: u64 = metrics.shards.iter().map(|shard| shard.mailbox_dropped_total).sum();
        metrics.publications_dropped_total + dropped
    }
}

/// The outlet, once it is set: channels need the messenger before the gateway starts.
#[derive(Default)]
pub(crate) struct Outlets {
    outlet: OnceLock<Box<dyn Outlet>>,
    witness: OnceLock<Box<dyn Witness>>,
    untold: AtomicU64,
    /// The total of lost messages at the last check.
    lost: AtomicU64,
}

impl Outlets {
    /// Sets the outlet. A second one is ignored.
    pub(crate) fn open(&self, outlet: impl Outlet) {
        if self.outlet.set(Box::new(outlet)).is_err() {
            tracing::error!("the messenger has a gateway already, and keeps it");
        }
    }

    /// Sets the witness. A second one is ignored.
    pub(crate) fn be_witnessed(&self, witness: impl Witness) {
        if self.witness.set(Box::new(witness)).is_err() {
            tracing::error!("the messenger has a witness already, and keeps it");
        }
    }

    /// Passes something that happened to the witness.
    pub(crate) fn happened(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        if let Some(witness) = self.witness.get() {
            witness.witness(community, by, happening);
        }
    }

    /// Reports that a community's keys changed.
    pub(crate) fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>) {
        if let Some(witness) = self.witness.get() {
            witness.keys_changed(community, revoked);
        }
    }

    /// Reports that a person was erased.
    pub(crate) fn erased(&self, community: &CommunityId, person: &PersonId) {
        if let Some(witness) = self.witness.get() {
            witness.erased(community, person);
        }
    }

    /// Reports that a community was closed.
    pub(crate) fn closed(&self, community: &CommunityId) {
        if let Some(witness) = self.witness.get() {
            witness.closed(community);
        }
    }

    pub(crate) fn tell(&self, topic: &str, event: &str, payload: &str) {
        debug_assert!(
            !topic.starts_with(PERSON) || TOLD_TO_PEOPLE.contains(&event),
            "{event} is not among what people are told"
        );
        // What is sent before the gateway runs counts as lost, too, so that rooms joined first are sent their head.
        if !self.outlet.get().is_some_and(|outlet| outlet.tell(topic, event, payload)) {
            self.untold.fetch_add(1, Relaxed);
        }
    }

    /// Returns whether there are, or may be, other nodes.
    pub(crate) fn has_nodes(&self) -> bool {
        self.outlet.get().is_some_and(|outlet| outlet.has_nodes())
    }

    pub(crate) fn tell_nodes(&self, words: Vec<u8>) {
        if let Some(outlet) = self.outlet.get() {
            outlet.tell_nodes(words);
        }
    }

    pub(crate) fn close(&self, socket_id: &str, code: u16) {
        if let Some(outlet) = self.outlet.get() {
            outlet.close(socket_id, code);
        }
    }

    pub(crate) fn end_join(&self, socket_id: &str, topic: &str) {
        if let Some(outlet) = self.outlet.get() {
            outlet.end_join(socket_id, topic);
        }
    }

    /// Returns whether anything was rejected or lost since the last call.
    pub(crate) fn has_lost_something(&self) -> bool {
        let lost = self.outlet.get().map_or(0, |outlet| outlet.lost()) + self.untold();
        self.lost.swap(lost, Relaxed) != lost
    }

    /// Returns how many messages were rejected because too many were queued.
    pub(crate) fn untold(&self) -> u64 {
        self.untold.load(Relaxed)
    }
}
