//! A node: shards, mailboxes, tasks, clients and a clock, and one random path through everything that may happen.

use crate::channels::{Assigns, TASKS_MAX};
use crate::client::Client;
use crate::journal::{ClientId, Journal, Note};
use crate::oracle::{Checked, Oracle, violated};
use crate::plan::Plan;
use crate::presence::Truth;
use crate::random::Random;
use crate::shard::{SEQUENTIAL_MOUNT, Shard};
use crate::trace::Trace;
use crate::wire::decode;
use hub::{
    Answer, Class, ConnectionKey, Dialect, Effect, Effects, Event, Micros, MountIndex, NewConnection, Reach,
    ShardMessage, Task, TaskOwner, Ticket, Transport,
};
use proto::phoenix::FrameKind;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) random: Random,
    pub(crate) now: Micros,
    pub(crate) shards: Vec<Shard>,
    pub(crate) clients: BTreeMap<ClientId, Client>,
    /// The client of each slot of each shard.
    slots: BTreeMap<(usize, u32), ClientId>,
    tasks: Vec<(usize, TaskOwner, Task)>,
    pub(crate) journal: Journal,
    pub(crate) oracle: Oracle,
    pub(crate) truth: Truth,
    pub(crate) trace: Trace,
    kicked: BTreeSet<String>,
    /// Numbers for clients, joins, refs and tickets: each is used once.
    numbers: u32,
}

impl World {
    pub(crate) fn new(seed: u64, trace: Trace) -> World {
        let mut random = Random::from_seed(seed);
        let plan = Plan::draw(&mut random);
        let journal = Journal::default();
        World {
            seed,
            shards: (0..plan.shards()).map(|index| Shard::new(index, seed, &plan, &journal)).collect(),
            random,
            plan,
            now: Micros(0),
            clients: BTreeMap::new(),
            slots: BTreeMap::new(),
            tasks: Vec::new(),
            journal,
            oracle: Oracle::default(),
            truth: Truth::default(),
            trace,
            kicked: BTreeSet::new(),
            numbers: 0,
        }
    }

    pub(crate) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn open(
        &mut self,
        shard: usize,
        dialect: Dialect,
        mount: MountIndex,
        socket_id: Option<String>,
    ) -> Checked {
        let id = ClientId(self.number());
        let first = self.random.below(8) as u32;
        let long_poll = dialect.transport == Transport::LongPoll;
        let slots = &self.slots;
        let (slot, generation) =
            self.shards[shard].seat(first, long_poll, |slot| slots.contains_key(&(shard, slot)));
        let key = ConnectionKey { slot, generation };
        self.trace.line(format_args!(
            "{} s{shard} opened {id:?} {key:?} {dialect:?} {mount:?} {socket_id:?}",
            self.now.0
        ));
        let sequential = mount == SEQUENTIAL_MOUNT;
        self.clients.insert(id, Client::new(id, key, shard, dialect, socket_id.clone(), sequential));
        self.slots.insert((shard, slot), id);
        let (socket_id, assigns) = (socket_id.map(String::into_boxed_str), Some(Arc::new(Assigns(id)) as _));
        self.handle(shard, Event::Opened(NewConnection { key, mount, dialect, socket_id, assigns }))
    }

    /// Disconnects a client, whether it announced that or not.
    pub(crate) fn cut(&mut self, id: ClientId) -> Checked {
        let Some(client) = self.clients.remove(&id) else { return Ok(()) };
        self.trace.line(format_args!("{} s{} closed {id:?}", self.now.0, client.shard));
        self.handle(client.shard, Event::Closed(client.key))?;
        // Until here, what the hub still sends to the slot is ignored.
        self.slots.remove(&(client.shard, client.key.slot));
        Ok(())
    }

    pub(crate) fn frame(&mut self, id: ClientId, kind: FrameKind, bytes: &[u8]) -> Checked {
        let number = self.number();
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        let ticket = match client.dialect.transport {
            Transport::LongPoll => Ticket(number),
            Transport::WebSocket | Transport::WebSocketDeflate => Ticket::NONE,
        };
        if ticket != Ticket::NONE {
            client.tickets.insert(ticket.0);
        }
        let (shard, key) = (client.shard, client.key);
        self.trace.line(format_args!("{} s{shard} {id:?} says {}", self.now.0, Shown(bytes)));
        self.handle(shard, Event::Frame { key, kind, bytes, ticket })
    }

    /// Puts a message into a shard's mailbox, if it is not full.
    pub(crate) fn post(&mut self, shard: usize, message: ShardMessage, class: Class) -> Checked {
        let Some(dropped) = self.shards[shard].post(message, class) else { return Ok(()) };
        self.trace.line(format_args!("{} s{shard} dropped {dropped:?}", self.now.0));
        match class {
            Class::Ephemeral => self.oracle.dropped(shard, &dropped),
            Class::Durable | Class::Control => violated("a message that is no broadcast was dropped"),
        }
    }

    /// Handles the oldest message of a shard's mailbox. Returns `false` if there is none.
    pub(crate) fn read_mail(&mut self, shard: usize) -> Checked<bool> {
        let Some(message) = self.shards[shard].next_message() else { return Ok(false) };
        self.trace.line(format_args!("{} s{shard} reads {message:?}", self.now.0));
        self.oracle.handled(shard, &message)?;
        self.handle(shard, Event::Shard(message))?;
        Ok(true)
    }

    /// Finishes any one task. Returns `false` if there is none.
    pub(crate) fn finish_task(&mut self) -> Checked<bool> {
        if self.tasks.is_empty() {
            return Ok(false);
        }
        let at = self.random.below(self.tasks.len());
        let (shard, owner, task) = self.tasks.swap_remove(at);
        let answer = answer_of(task);
        let outcome = if matches!(answer, Answer::Finished(_)) { "finishes" } else { "panics" };
        self.trace.line(format_args!("{} s{shard} task of {owner:?} {outcome}", self.now.0));
        self.handle(shard, Event::Answer { owner, answer })?;
        Ok(true)
    }

    pub(crate) fn tick(&mut self, shard: usize) -> Checked {
        self.handle(shard, Event::Tick)
    }

    fn handle(&mut self, shard: usize, event: Event<'_>) -> Checked {
        let mut effects = std::mem::take(&mut self.shards[shard].effects);
        self.shards[shard].hub.handle(self.now, event, &mut effects);
        self.after_call(shard, effects)
    }

    /// Returns `true` if more deliveries are pending.
    pub(crate) fn pump(&mut self, shard: usize, budget: usize, reach: Reach) -> Checked<bool> {
        let mut effects = std::mem::take(&mut self.shards[shard].effects);
        let pending = self.shards[shard].hub.pump(self.now, budget, reach, &mut effects);
        if !effects.list.is_empty() {
            self.trace.line(format_args!(
                "{} s{shard} pumps {budget} {reach:?}, {} effects",
                self.now.0,
                effects.list.len()
            ));
        }
        self.after_call(shard, effects)?;
        Ok(pending.any())
    }

    /// Handles what the channels noted first: it determines what the effects must be.
    fn after_call(&mut self, shard: usize, mut effects: Effects) -> Checked {
        for note in self.journal.take() {
            self.trace.line(format_args!("{} s{shard} notes {note:?}", self.now.0));
            self.oracle.noted(shard, &note)?;
            self.truth.noted(&note);
            if let Note::Kicked { socket_id } = note {
                self.kick(socket_id);
            }
        }
        self.carry_out(shard, &mut effects)?;
        effects.clear();
        self.shards[shard].effects = effects;
        self.oracle.call_ended()
    }

    /// From now on, no socket with this id that is open now may stay open.
    pub(crate) fn kick(&mut self, socket_id: String) {
        let clients =
            self.clients.values_mut().filter(|client| client.socket_id.as_ref() == Some(&socket_id));
        clients.for_each(|client| client.is_kicked = true);
        self.kicked.insert(socket_id);
    }

    fn carry_out(&mut self, shard: usize, effects: &mut Effects) -> Checked {
        let Effects { list, bytes, slots, frames } = effects;
        for effect in list.drain(..) {
            match effect {
                Effect::Send { slot, range } => {
                    let bytes = bytes.get(range).unwrap_or_default();
                    self.receive(shard, slot, bytes)?;
                }
                Effect::Deliver { slots: receivers, frame } => {
                    let Some((receivers, bytes)) = slots.get(receivers).zip(frames.get(frame as usize))
                    else {
                        return violated(format!(
                            "there is no shared frame {frame}, or not all its receivers"
                        ));
                    };
                    receivers.iter().try_for_each(|slot| self.receive(shard, *slot, bytes))?;
                }
                Effect::Close { slot, code } => self.closed_by_hub(shard, slot, code)?,
                Effect::ToShard { shard, message, class } => {
                    self.post(usize::from(shard.0), message, class)?
                }
                Effect::Spawn { owner, task } => self.spawned(shard, owner, task)?,
                Effect::Taken { slot, ticket } => {
                    if let Some(client) = self.client_at(shard, slot)? {
                        client.taken(ticket)?;
                    }
                }
                Effect::Walked { received, .. } if received > self.now => {
                    return violated("walked before it was sent");
                }
                Effect::Walked { .. } => {}
                Effect::Bus(_) => return violated("there is no bus"),
            }
        }
        Ok(())
    }

    /// Takes a task, if its owner does not have more running than a join may have.
    fn spawned(&mut self, shard: usize, owner: TaskOwner, task: Task) -> Checked {
        self.tasks.push((shard, owner, task));
        let of_owner = self.tasks.iter().filter(|(at, other, _)| (*at, *other) == (shard, owner));
        if of_owner.count() > TASKS_MAX {
            return violated(format!("{owner:?} of s{shard} has more than {TASKS_MAX} tasks under way"));
        }
        Ok(())
    }

    /// Returns the client of a slot; `None` while its closing is handled.
    fn client_at(&mut self, shard: usize, slot: u32) -> Checked<Option<&mut Client>> {
        match self.slots.get(&(shard, slot)) {
            Some(id) => Ok(self.clients.get_mut(id)),
            None => violated(format!("slot {slot} of s{shard} is not open")),
        }
    }

    fn receive(&mut self, shard: usize, slot: u32, bytes: &[u8]) -> Checked {
        let Some(&id) = self.slots.get(&(shard, slot)) else {
            return violated(format!("slot {slot} of s{shard} is not open"));
        };
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        let messages = match decode(client.dialect, bytes) {
            Ok(messages) => messages,
            Err(error) => return violated(format!("{id:?} cannot read what it was sent: {error}")),
        };
        for message in messages {
            self.trace.line(format_args!("{} s{shard} {id:?} gets {message}", self.now.0));
            client.receive(&message, &mut self.oracle)?;
        }
        Ok(())
    }

    fn closed_by_hub(&mut self, shard: usize, slot: u32, code: u16) -> Checked {
        let Some(id) = self.slots.remove(&(shard, slot)) else {
            return violated(format!("slot {slot} of s{shard} is not open"));
        };
        self.trace.line(format_args!("{} s{shard} {id:?} is closed with {code}", self.now.0));
        let Some(client) = self.clients.remove(&id) else { return violated("closed while it closed") };
        let kicked = client.socket_id.as_ref().is_some_and(|socket_id| self.kicked.contains(socket_id));
        match code {
            1001 if kicked => Ok(()),
            1011 if client.is_broken => Ok(()),
            _ => violated(format!("{id:?} was closed with {code} for no reason")),
        }
    }

    /// Returns whether a message or a task is still in flight.
    pub(crate) fn is_busy(&self) -> bool {
        !self.tasks.is_empty() || self.shards.iter().any(Shard::has_mail)
    }
}

fn answer_of(task: Task) -> Answer {
    let finished = match task {
        Task::Blocking(work) => catch_unwind(AssertUnwindSafe(work)),
        Task::Future(future) => catch_unwind(AssertUnwindSafe(|| {
            match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(info) => info,
                Poll::Pending => unreachable!("the simulation's tasks wait for nothing"),
            }
        })),
        Task::Called(call) => {
            let (tell, told) = mpsc::sync_channel(1);
            call.begin(move |answer| drop(tell.send(answer)));
            return told.try_recv().expect("who is called in the simulation answers at once");
        }
    };
    finished.map_or(Answer::Panicked, Answer::Finished)
}

/// Shows bytes as text where they are text.
struct Shown<'a>(&'a [u8]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}
