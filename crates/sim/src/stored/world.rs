//! A process on a disk, its clients, and one random path through everything that may happen to them.

use super::client::Client;
use super::disk::Disk;
use super::ledger::Ledger;
use super::plan::Plan;
use super::process::{Called, Process, Running};
use crate::oracle::{Checked, violated};
use crate::random::Random;
use crate::trace::Trace;
use hub::{Answer, Effect, Effects, Event, Micros, Reach, ShardMessage, Task};
use serde_json::Value;
use std::task::{Context, Poll, Waker};

pub(super) struct World {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) random: Random,
    pub(super) now: Micros,
    pub(super) process: Process,
    pub(super) clients: Vec<Client>,
    pub(super) ledger: Ledger,
    pub(super) trace: Trace,
    pub(super) numbers: u64,
    pub(super) drops: u64,
}

impl World {
    pub(super) fn new(seed: u64, trace: Trace) -> World {
        let mut random = Random::from_seed(seed);
        let plan = Plan::draw(&mut random);
        let (disk, rooms) = Disk::new(random.next(), plan.rooms);
        let clients = (0..plan.clients).map(|index| Client::new(index, random.below(plan.rooms))).collect();
        World {
            seed,
            process: Process::start(&disk, seed, &plan),
            plan,
            random,
            now: Micros(0),
            clients,
            ledger: Ledger::new(disk, rooms),
            trace,
            numbers: 0,
            drops: 0,
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Kills the process and starts it again: what was not on the disk is lost, and so is every connection.
    pub(super) fn kill(&mut self) {
        self.trace.line(format_args!("{} the process is killed", self.now.0));
        self.drops += self.process.outlet.losses();
        self.process = Process::start(&self.ledger.disk, self.seed, &self.plan);
        for client in &mut self.clients {
            client.leave_seat();
        }
    }

    pub(super) fn handle(&mut self, shard: usize, event: Event<'_>) -> Checked {
        let place = &mut self.process.shards[shard];
        let mut effects = std::mem::take(&mut place.effects);
        place.hub.handle(self.now, event, &mut effects);
        self.carry_out(shard, effects)
    }

    /// Returns `true` if more is pending.
    pub(super) fn pump(&mut self, shard: usize, budget: usize) -> Checked<bool> {
        let place = &mut self.process.shards[shard];
        let mut effects = std::mem::take(&mut place.effects);
        let more = place.hub.pump(self.now, budget, Reach::All, &mut effects).any();
        self.carry_out(shard, effects)?;
        Ok(more)
    }

    fn carry_out(&mut self, shard: usize, mut effects: Effects) -> Checked {
        let Effects { list, bytes, slots, frames } = &mut effects;
        for effect in list.drain(..) {
            match effect {
                Effect::Send { slot, range } => self.receive(shard, slot, &bytes[range])?,
                Effect::Deliver { slots: receivers, frame } => {
                    for slot in &slots[receivers] {
                        self.receive(shard, *slot, &frames[frame as usize])?;
                    }
                }
                Effect::ToShard { shard: to, message, class } => {
                    let refused = self.process.post(usize::from(to.0), message, class, self.plan.mailbox_max);
                    match refused {
                        None => {}
                        Some(ShardMessage::Deliver(_) | ShardMessage::Publish { .. }) => {
                            self.process.outlet.lose();
                        }
                        Some(other) => return violated(format!("{other:?} was dropped")),
                    }
                }
                Effect::Spawn { owner, task: Task::Future(future) } => {
                    self.process.tasks.push(Running { shard, owner, future });
                }
                Effect::Spawn { owner, task: Task::Called(call) } => self.process.call(shard, owner, call),
                Effect::Spawn { task: Task::Blocking(_), .. } | Effect::Close { .. } | Effect::Bus(_) => {
                    return violated("nothing blocks, nobody is closed, and there is no bus");
                }
                Effect::Taken { .. } | Effect::Walked { .. } => {}
            }
        }
        effects.clear();
        self.process.shards[shard].effects = effects;
        self.news_leave()
    }

    /// Forwards the events that the messenger told while it was called.
    pub(super) fn news_leave(&mut self) -> Checked {
        self.process.post_news(self.now, self.plan.mailbox_max);
        match self.process.outlet.dismissed() {
            Some(what) => violated(what),
            None => Ok(()),
        }
    }

    fn receive(&mut self, shard: usize, slot: u32, bytes: &[u8]) -> Checked {
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else { return violated("not JSON") };
        let Some(client) = self.clients.get_mut(slot as usize) else { return violated("a slot of nobody") };
        let Some(seat) = client.seat else { return Ok(()) };
        if seat.shard != shard {
            return violated(format!("slot {slot} of s{shard} is not open"));
        }
        let (event, payload) = (&message[3], &message[4]);
        let what = [&payload["seq"], &payload["status"], &payload["response"]["seq"]];
        self.trace.line(format_args!("{} s{shard} client {slot} gets {event} {what:?}", self.now.0));
        client.receive(&message, &mut self.ledger)
    }

    /// Handles the oldest mail of a shard.
    pub(super) fn read_mail(&mut self, shard: usize) -> Checked {
        match self.process.shards[shard].mailbox.pop_front() {
            Some(message) => self.handle(shard, Event::Shard(message)),
            None => Ok(()),
        }
    }

    /// Lets the store's writer execute what has waited, in one transaction.
    pub(super) fn write(&mut self) -> Checked {
        let Process { store, disk, .. } = &mut self.process;
        let (count, failures) = (store.write(disk, self.plan.group_max), disk.failures());
        if count > 0 {
            self.trace.line(format_args!("{} {count} are committed, {failures} failures", self.now.0));
        }
        self.news_leave()
    }

    /// Lets one of the store's readers execute one request.
    pub(super) fn read(&mut self) -> Checked {
        let Process { store, disk, .. } = &mut self.process;
        if store.read(disk, &mut self.random) {
            self.trace.line(format_args!("{} one is read", self.now.0));
        }
        self.news_leave()
    }

    /// Polls the tasks, starting at any one, until one is done, and tells its channel. What came by a callback is
    /// already done.
    pub(super) fn poll_tasks(&mut self) -> Checked {
        let calls = self.process.called().len();
        let count = self.process.tasks.len();
        let nth = self.random.below((calls + count).max(1));
        if nth < calls {
            let Called { shard, owner, answer } = self.process.called().swap_remove(nth);
            self.trace.line(format_args!("{} s{shard} is called", self.now.0));
            return self.handle(shard, Event::Answer { owner, answer });
        }
        let first = self.random.below(count.max(1));
        for at in (0..count).map(|step| (first + step) % count) {
            let future = self.process.tasks[at].future.as_mut();
            if let Poll::Ready(info) = future.poll(&mut Context::from_waker(Waker::noop())) {
                let Running { shard, owner, .. } = self.process.tasks.swap_remove(at);
                self.trace.line(format_args!("{} s{shard} a task is done", self.now.0));
                return self.handle(shard, Event::Answer { owner, answer: Answer::Finished(info) });
            }
        }
        self.news_leave()
    }
}
