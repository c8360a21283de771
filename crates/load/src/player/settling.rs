//! What a shard's members received from other machines: kept when they leave, judged once it is known what was
//! published.

use super::clock::nanos;
use super::deliveries::Membership;
use super::shard::Shard;
use crate::ledger::{Receipt, RemoteReceipts, Settlement, Stamp, Stay};
use crate::observe::{Kind, Nanos, Observation, Outcome};

/// Maximum number of members of one shard that have left and wait to be judged; for further ones, messages between
/// machines are not judged.
pub(crate) const STAYS_MAX: usize = 1 << 18;

impl Shard {
    /// Returns the record of messages from other machines for a new member; `None` if there are no other machines.
    pub(super) fn elsewhere(&self, now: Nanos) -> Option<Box<RemoteReceipts>> {
        self.stage.together.has_others().then(|| Box::new(RemoteReceipts::new(now)))
    }

    /// Handles a message from another machine that arrived in a room with this number here.
    pub(super) fn receive_elsewhere(&mut self, place: u32, room: u32, stamp: &Stamp) -> Receipt {
        let membership = self
            .clients
            .item_mut(place)
            .and_then(|client| client.memberships_mut().find(|one| one.room == room));
        match membership.and_then(|membership| membership.elsewhere.as_mut()) {
            Some(elsewhere) => self.stage.rooms.receive_elsewhere(elsewhere, room, stamp),
            None => Receipt::Unexpected,
        }
    }

    /// Keeps the record of a member that has left a room.
    pub(super) fn keep_stay(&mut self, place: u32, membership: &mut Membership, at: Nanos) {
        let Some(elsewhere) = membership.elsewhere.take() else { return };
        let (user, source) = self.clients.item(place).map_or((0, 0), |client| (client.user, client.source));
        let stay = elsewhere.leave(user, source, membership.room, at);
        if self.stays.len() < STAYS_MAX {
            self.stays.push(stay);
        } else {
            self.settle_stay(&stay, &Settlement::default(), at);
        }
    }

    /// Judges the members that have left.
    pub(super) fn settle_stays(&mut self, settlement: &Settlement, at: Nanos) {
        for stay in std::mem::take(&mut self.stays) {
            self.settle_stay(&stay, settlement, at);
        }
    }

    fn settle_stay(&mut self, stay: &Stay, settlement: &Settlement, at: Nanos) {
        let Some(name) = self.stage.rooms.name(stay.room) else { return };
        let settle_after = nanos(self.stage.plan.drain);
        let others = (0..self.stage.rooms.machines()).filter(|machine| *machine != self.stage.origin);
        for machine in others.collect::<Vec<u16>>() {
            let missing = stay.missing(machine, &name, settlement, settle_after);
            for (outcome, count) in [
                (Outcome::Lost, missing.lost),
                (Outcome::InFlight, missing.in_flight),
                (Outcome::Unjudged, missing.unjudged),
            ] {
                if count > 0 {
                    let count = u32::try_from(count).unwrap_or(u32::MAX);
                    let seen = Observation {
                        user: stay.user,
                        source: stay.source,
                        room: stay.room,
                        code: machine.saturating_add(1),
                        outcome,
                        count,
                        ..Observation::of_nobody(Kind::Missing, at)
                    };
                    self.see(seen, String::new);
                }
            }
        }
    }
}
