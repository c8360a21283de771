//! Users that reconnect when their connection fails: where they continue, and which messages they are still expected to
//! receive.
//!
//! On a recoverable topic a user stays a member of the room while it is disconnected: it is to receive what is
//! published meanwhile when it joins again, each message once. It leaves all other rooms with its connection.

use std::rc::Rc;

use engine::Io;

use super::client::{Doing, Followed, Line, PendingJoin};
use super::clock::{NEVER, nanos_of_seconds};
use super::deliveries::topic_tag;
use super::endings::Phase;
use super::phoenix::Incoming;
use super::program::Operation;
use super::recovery::{Recovery, Standing, gap_in, offset_in};
use super::shard::Shard;
use crate::observe::{Kind, Nanos, Observation, Outcome};

/// Maximum number of reconnects before the user is in a room again; beyond it the session has failed.
const RETURNS_MAX: u32 = 100;

impl Shard {
    /// Called when a user's connection could not be opened or has ended, or its join failed. If the step that opened it
    /// says so, the user goes back to that step after a pause, with another target. Returns whether it does.
    pub(super) fn comes_back(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome) -> bool {
        let Some(pause) = self.pause_before_return(place) else { return false };
        let now = self.now();
        let back_to = self.clients.item(place).map(|client| client.dialect.opened_by);
        self.end_open_transactions(place, outcome, now, back_to);
        self.leave_barrier(place);
        self.drop_request(io, place);
        self.hang_up(io, place, now);
        self.lose_rooms(place, outcome, now);
        let Some(client) = self.clients.item_mut(place) else { return false };
        client.target = self.stage.targets.draw_other(&mut client.rng, client.target);
        client.position = client.dialect.opened_by;
        client.intended = NEVER;
        client.doing = Doing::Pausing;
        client.step_due = now.saturating_add(pause);
        if let Some(rare) = &mut client.rare {
            rare.wanted = None;
        }
        self.set_timer(place);
        true
    }

    /// Returns `None` for a user that does not reconnect.
    fn pause_before_return(&mut self, place: u32) -> Option<Nanos> {
        if self.phase != Phase::Playing {
            return None;
        }
        let client = self.clients.item_mut(place)?;
        let program = Rc::clone(self.programs.get(usize::from(client.session.0))?);
        let Operation::Connect(_, connect) = program.operations.get(client.dialect.opened_by as usize)?
        else {
            return None;
        };
        let pause = connect.reconnect?;
        let returns = &mut client.rare_mut().returns;
        if *returns >= RETURNS_MAX {
            return None;
        }
        *returns += 1;
        Some(nanos_of_seconds(pause.sample(&mut client.rng)))
    }

    /// Cuts the connection if it is still open, because a join failed.
    fn hang_up(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item(place).filter(|client| client.line != Line::Down) else {
            return;
        };
        let was_open = matches!(client.line, Line::Open | Line::Closing | Line::Mute);
        self.drop_socket(io, place);
        if was_open {
            let seen = self.of_client(place, Kind::Disconnect, Outcome::Ok, now);
            self.see(seen, String::new);
        }
    }

    /// The connection is gone: removes the user from its rooms, except recoverable ones.
    fn lose_rooms(&mut self, place: u32, outcome: Outcome, at: Nanos) {
        self.doubt_unanswered(place);
        self.settle_echoes(place, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        let followed = client.rare.iter_mut().flat_map(|rare| rare.followed.iter_mut());
        let followed: Vec<(u32, bool)> =
            followed.map(|one| (one.topic, !std::mem::replace(&mut one.is_away, true))).collect();
        let is_kept = |topic: u32| followed.iter().any(|one| one.0 == topic);
        while let Some(membership) =
            self.clients.item_mut(place).and_then(|client| client.leave(|one| !is_kept(one.topic)))
        {
            self.settle(place, membership, outcome, at);
        }
        for (topic, _) in followed.iter().filter(|one| one.1) {
            let room = self.clients.item(place).and_then(|client| {
                client.memberships().find(|one| one.topic == *topic).map(|membership| membership.room)
            });
            let Some(room) = room else { continue };
            let seen = Observation { room, ..self.of_client(place, Kind::Leave, outcome, at) };
            self.see(seen, || "the connection ended".to_owned());
            self.lower(|gauges| &gauges.joined);
        }
    }

    /// Returns whether the pending join is for a recoverable topic.
    pub(super) fn recovers(&self, place: u32) -> bool {
        let rare = self.clients.item(place).and_then(|client| client.rare.as_ref());
        rare.and_then(|rare| rare.join.as_ref()).is_some_and(|join| join.recover)
    }

    /// A user has joined a recoverable topic; returns the room's number. If the missed messages are not recovered, they
    /// are lost, and the user is a new member from now on.
    pub(super) fn follow(
        &mut self,
        place: u32,
        pending: &PendingJoin,
        recovery: Recovery,
        at: Nanos,
    ) -> Option<u32> {
        let PendingJoin { topic: name, join_ref, echo, presence, .. } = pending;
        let topic = topic_tag(name);
        let Recovery { standing, is_recovered } = recovery;
        let was_away = self.is_away(place, topic);
        if was_away && !is_recovered {
            let seen = self.of_client(place, Kind::Step, Outcome::Rejected, at);
            self.see(seen, || format!("join {name}: missed messages were not recovered"));
            if let Some(membership) = self.clients.item_mut(place)?.leave(|one| one.topic == topic) {
                self.settle(place, membership, Outcome::Ok, at);
            }
        }
        let room = if was_away && is_recovered {
            let membership =
                self.clients.item_mut(place)?.memberships_mut().find(|one| one.topic == topic)?;
            membership.join_ref = *join_ref;
            membership.room
        } else {
            self.enter_room(place, name, *join_ref, *echo, *presence)?
        };
        self.unfollow(place, topic);
        let rare = self.clients.item_mut(place)?.rare_mut();
        rare.followed.push(Followed { topic, standing, is_away: false });
        Some(room)
    }

    /// Returns whether a user is a member of a recoverable topic but disconnected from it.
    pub(super) fn is_away(&self, place: u32, topic: u32) -> bool {
        let followed = self.clients.item(place).and_then(|client| client.followed(topic));
        followed.is_some_and(|followed| followed.is_away)
    }

    /// Forgets a recoverable topic; returns whether the user was disconnected from it.
    pub(super) fn unfollow(&mut self, place: u32, topic: u32) -> bool {
        let Some(rare) = self.clients.item_mut(place).and_then(|client| client.rare.as_mut()) else {
            return false;
        };
        let Some(index) = rare.followed.iter().position(|followed| followed.topic == topic) else {
            return false;
        };
        rare.followed.swap_remove(index).is_away
    }

    /// Updates the position of a user that follows a topic from a received message.
    pub(super) fn keep_place(&mut self, place: u32, topic: u32, message: &Incoming<'_>) {
        let Some(followed) = self.clients.item_mut(place).and_then(|client| client.followed_mut(topic))
        else {
            return;
        };
        if &*message.event == "gap" {
            if let Some((epoch, offset)) = gap_in(message) {
                let publisher = followed.standing.take().and_then(|standing| standing.publisher);
                followed.standing = Some(Standing { epoch, offset, publisher });
            }
        } else if let (Some(standing), Some(offset)) =
            (&mut followed.standing, offset_in(message.payload_bytes()))
        {
            standing.offset = offset;
        }
    }
}
