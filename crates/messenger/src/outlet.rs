//! The way out to the clients.

use crate::topics::{PERSON, ROOM, TOLD_TO_PEOPLE};
use crate::witness::{Happening, Witness};
use chat::{CommunityId, KeyId, PersonId};
use gateway::{Handle, Outgoing};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What carries news to clients: a running gateway, or what a test puts in its place. It must not block.
pub trait Outlet: Send + Sync + 'static {
    /// Tells every member of a topic on this node; `payload` is a JSON object. Says whether it was taken.
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool;

    /// Whether there are other nodes over the same store, or may be.
    fn has_nodes(&self) -> bool {
        false
    }

    /// Says something to the other nodes, in the order of the calls. Nobody may hear it.
    fn tell_nodes(&self, _words: Vec<u8>) {}

    /// Closes every socket with this id, with a close code.
    fn close(&self, socket_id: &str, code: u16);

    /// Ends the join of the socket with this id to a topic.
    fn end_join(&self, socket_id: &str, topic: &str);

    /// Counts what was lost on the way after it was taken.
    fn lost(&self) -> u64 {
        0
    }
}

impl Outlet for Handle {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        let payload = Outgoing::json(payload);
        // A person has a device or two, on a shard or two; a room's people are everywhere. All that a room is told goes the same
        // way, so that it comes in this order.
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

/// The outlet, from the moment at which there is one: channels need the messenger before the gateway starts.
#[derive(Default)]
pub(crate) struct WayOut {
    outlet: OnceLock<Box<dyn Outlet>>,
    witness: OnceLock<Box<dyn Witness>>,
    untold: AtomicU64,
    /// What was lost when somebody looked last.
    lost: AtomicU64,
}

impl WayOut {
    /// Says where news go from now on. A second outlet is not taken.
    pub(crate) fn open(&self, outlet: impl Outlet) {
        if self.outlet.set(Box::new(outlet)).is_err() {
            tracing::error!("the messenger has a gateway already, and keeps it");
        }
    }

    /// Says who is told of everything. A second one is not taken.
    pub(crate) fn be_witnessed(&self, witness: impl Witness) {
        if self.witness.set(Box::new(witness)).is_err() {
            tracing::error!("the messenger has a witness already, and keeps it");
        }
    }

    /// That happened.
    pub(crate) fn happened(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        if let Some(witness) = self.witness.get() {
            witness.witness(community, by, happening);
        }
    }

    /// A community's keys are others.
    pub(crate) fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>) {
        if let Some(witness) = self.witness.get() {
            witness.keys_changed(community, revoked);
        }
    }

    /// A person is no more.
    pub(crate) fn erased(&self, community: &CommunityId, person: &PersonId) {
        if let Some(witness) = self.witness.get() {
            witness.erased(community, person);
        }
    }

    /// A community is there for nobody any more.
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
        // What is said while the gateway starts is counted, too, so that who is there first is told how far it has come.
        if !self.outlet.get().is_some_and(|outlet| outlet.tell(topic, event, payload)) {
            self.untold.fetch_add(1, Relaxed);
        }
    }

    /// Whether there are other nodes, or may be.
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

    /// Whether something was not taken or was lost since this was asked last.
    pub(crate) fn has_lost_something(&self) -> bool {
        let lost = self.outlet.get().map_or(0, |outlet| outlet.lost()) + self.untold();
        self.lost.swap(lost, Relaxed) != lost
    }

    /// How much was not taken because too much waited.
    pub(crate) fn untold(&self) -> u64 {
        self.untold.load(Relaxed)
    }
}
