//! Carries out a hub's effects.

use super::driver::{ShardDriver, ShardIo};
use super::mail::Mail;
use crate::control::ControlMail;
use crate::metrics::CloseReason;
use bytes::Bytes;
use engine::ShardIndex;
use hub::{Class, Effect, Effects, Micros, SECOND_LANE, Task};
use proto::ws::CloseCode;
use std::time::{Duration, Instant};

/// When shared frames are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timing {
    /// At the tick's flush, so that everything a connection gets in response to an event is one write.
    Flush,
    /// Each at once: in a pass over a topic's members, nothing else is being sent to them.
    Now,
}

impl ShardDriver {
    pub(crate) fn carry_out(&mut self, io: &mut ShardIo<'_>, timing: Timing, effects: &mut Effects) {
        let Effects { list, bytes, slots, frames } = effects;
        for effect in list.drain(..) {
            match effect {
                Effect::Send { slot, range } if slot >= SECOND_LANE => {
                    self.session_message(slot, &bytes[range])
                }
                Effect::Send { slot, range } => {
                    if let Some(id) = io.id_of(slot) {
                        io.send(id, &bytes[range]);
                    }
                }
                Effect::Deliver { slots: receivers, frame } => {
                    self.deliver_each(io, timing, &slots[receivers], &frames[frame as usize]);
                }
                Effect::Close { slot, code } => self.close_for_hub(io, slot, code),
                Effect::ToShard { shard, message, class } => {
                    let (shard, mail) = (ShardIndex(shard.0), Mail::Shard(message));
                    match class {
                        Class::Control => self.mailboxes.post(shard, mail),
                        // A full mailbox drops the message and counts it.
                        Class::Ephemeral => drop(self.mailboxes.offer(shard, mail)),
                        Class::Durable => {
                            if let Err(Mail::Shard(message)) = self.mailboxes.offer(shard, mail) {
                                self.refused.push(message);
                            }
                        }
                    }
                }
                Effect::Spawn { owner, task: Task::Called(call) } => {
                    let (mailboxes, shard) = (self.mailboxes.clone(), ShardIndex(self.shard.0));
                    call.begin(move |answer| mailboxes.post(shard, Mail::Answer { owner, answer }));
                }
                Effect::Spawn { owner, task } => {
                    let (control, shard) = (self.control.clone(), ShardIndex(self.shard.0));
                    self.relay.run(move || drop(control.send(ControlMail::Task { shard, owner, task })));
                }
                Effect::Taken { slot, ticket } => self.session_taken(slot, ticket),
                Effect::Walked { received, members } => self.observe_walk(received, members),
                Effect::Bus(effect) => self.bus_effects.push(*effect),
            }
        }
        effects.clear();
    }

    fn deliver_each(&mut self, io: &mut ShardIo<'_>, timing: Timing, slots: &[u32], frames: &Bytes) {
        debug_assert!(
            slots.iter().all(|slot| (*slot >= SECOND_LANE) == (slots[0] >= SECOND_LANE)),
            "one lane"
        );
        if slots.first().is_some_and(|slot| *slot >= SECOND_LANE) {
            for slot in slots {
                self.session_message(*slot, frames);
            }
            return;
        }
        match timing {
            Timing::Flush => {
                for slot in slots {
                    if let Some(id) = io.id_of(*slot) {
                        io.send_shared(id, frames);
                    }
                }
            }
            Timing::Now => io.deliver_each(slots, frames),
        }
    }

    /// Sends this turn's requests to the bus.
    pub(crate) fn flush_bus(&mut self) {
        let effects = std::mem::take(&mut self.bus_effects);
        if let Some(bus) = self.bus.as_ref().filter(|_| !effects.is_empty()) {
            bus.send(self.shard, effects);
        }
    }

    fn close_for_hub(&mut self, io: &mut ShardIo<'_>, slot: u32, code: u16) {
        let reason = match code {
            CloseCode::GOING_AWAY | 4000..5000 => CloseReason::Disconnected,
            _ => CloseReason::Undecodable,
        };
        if slot >= SECOND_LANE {
            self.session_closed(slot, reason);
        } else if let Some(id) = io.id_of(slot) {
            self.close(io, id, code, reason);
        }
    }

    fn observe_walk(&mut self, received: Micros, members: u32) {
        let now = self.micros(Instant::now());
        self.metrics().observe_processing(Duration::from_micros(now - received), 1);
        self.metrics().fanout.observe(f64::from(members), 1);
    }
}
