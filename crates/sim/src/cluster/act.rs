//! What clients do, and what goes wrong.

use super::client::Seat;
use super::ledger::{Message, MessageId};
use super::world::World;
use crate::journal::Mark;
use crate::oracle::Checked;
use hub::{ConnectionKey, Dialect, Event, MountIndex, NewConnection, Ticket, Transport};
use proto::phoenix::{FrameKind, Version};
use serde_json::{Value, json};

/// Text messages without framing.
const DIALECT: Dialect = Dialect { version: Version::V2, transport: Transport::LongPoll };

impl World {
    pub(super) fn client_acts(&mut self) -> Checked {
        let client = self.random.below(self.clients.len());
        let Some(seat) = self.clients[client].seat else { return self.client_comes(client) };
        if self.stands_still(seat.node) {
            return Ok(());
        }
        if self.clients[client].asks_again_at.is_some_and(|at| at <= self.now) {
            return self.client_joins(client, seat);
        }
        match self.random.below(100) {
            0..70 => self.client_speaks(client, seat, false),
            70..85 => self.client_speaks(client, seat, true),
            85..95 => self.client_goes(client),
            _ if self.clients[client].joined => self.client_joins(client, seat),
            _ => Ok(()),
        }
    }

    /// Connects a client to any running node, and joins.
    fn client_comes(&mut self, client: usize) -> Checked {
        let goes_on = |&node: &usize| self.nodes[node].is_some() && !self.stands_still(node);
        let there: Vec<usize> = (0..self.nodes.len()).filter(goes_on).collect();
        if there.is_empty() {
            return Ok(());
        }
        let node = there[self.random.below(there.len())];
        let shard = self.random.below(self.plan.shards);
        self.clients[client].generation += 1;
        let key = ConnectionKey { slot: client as u32, generation: self.clients[client].generation };
        let seat = Seat { node, shard, key };
        self.clients[client].seat = Some(seat);
        self.trace.line(format_args!("{} n{node} s{shard} client {client} comes", self.now.0));
        let (mount, dialect) = (MountIndex(0), DIALECT);
        let new = NewConnection { key, mount, dialect, socket_id: None, assigns: None };
        self.handle(node, shard, Event::Opened(new))?;
        self.client_joins(client, seat)
    }

    /// Most clients that are not connected come at once, as when a node has gone, or is back.
    fn crowd_comes(&mut self) -> Checked {
        for client in 0..self.clients.len() {
            if self.clients[client].seat.is_none() && self.random.percent(80) {
                self.client_comes(client)?;
            }
        }
        Ok(())
    }

    /// Joins with the position that the client knows; occasionally it has forgotten it.
    fn client_joins(&mut self, client: usize, seat: Seat) -> Checked {
        if self.random.percent(5) {
            self.clients[client].position = None;
        }
        let position =
            self.clients[client].position.clone().filter(|_| self.clients[client].is_recoverable());
        let reference = self.number();
        let key = self.random.percent(50).then(|| format!("person {}", self.random.below(3)));
        self.clients[client].ask(reference, None);
        self.clients[client].stays = false;
        self.clients[client].tracks = key.clone().map(|key| (key, Mark(reference)));
        let payload = json!({ "recover": position, "key": key, "mark": reference });
        self.say(client, seat, reference, "phx_join", &payload)
    }

    fn client_speaks(&mut self, client: usize, seat: Seat, from: bool) -> Checked {
        if !self.clients[client].joined {
            return Ok(());
        }
        let (reference, topic) = (self.number(), self.clients[client].topic.clone());
        let id = MessageId(reference);
        let name = self.clients[client].name.clone();
        let message = Message { topic, publisher: client, name, from, acknowledged: false };
        self.ledger.published(id, message);
        self.clients[client].ask(reference, Some(id));
        let event = if from { "say to others" } else { "say" };
        self.say(client, seat, reference, event, &json!({ "message": id.0 }))
    }

    fn say(&mut self, client: usize, seat: Seat, reference: u64, event: &str, payload: &Value) -> Checked {
        let join_ref = (event == "phx_join").then(|| reference.to_string());
        let topic = &self.clients[client].topic;
        let text = json!([join_ref, reference.to_string(), topic, event, payload]).to_string();
        self.trace.line(format_args!("{} client {client} says {text}", self.now.0));
        let (key, bytes) = (seat.key, text.as_bytes());
        let frame = Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE };
        self.handle(seat.node, seat.shard, frame)
    }

    fn client_goes(&mut self, client: usize) -> Checked {
        let Some(seat) = self.clients[client].leave_seat() else { return Ok(()) };
        self.trace.line(format_args!("{} client {client} goes", self.now.0));
        self.handle(seat.node, seat.shard, Event::Closed(seat.key))
    }

    /// Injects a fault, or ends one: a link is cut or restored, a node dies, starts, freezes or resumes, the bus
    /// restarts.
    pub(super) fn danger(&mut self) -> Checked {
        let node = self.random.below(self.nodes.len());
        match (self.random.below(14), self.nodes[node].is_some()) {
            (_, false) => {
                self.start_node(node);
                return self.crowd_comes();
            }
            (0..4, true) => self.cut_bus(node),
            (4..7, true) => self.connect_bus_again(node),
            (7, true) => {
                self.kill(node);
                return self.crowd_comes();
            }
            (8..10, true) => self.expire_leases(),
            (10, true) => return self.restart_bus(false),
            (11, true) => return self.restart_bus(true),
            _ => self.stop_or_go_on(node),
        }
        Ok(())
    }

    /// Reconnects a node to the bus unless its link is up and its lease valid. So a node that was frozen for longer
    /// than its lease notices that, and starts anew.
    pub(super) fn connect_bus_again(&mut self, node: usize) {
        let Some(id) = self.nodes[node].as_ref().filter(|node| !node.is_still).map(|node| node.id) else {
            return;
        };
        if !self.engine.is_with(id) {
            self.cut_bus(node);
            self.connect_bus(node);
        }
    }

    pub(super) fn expire_leases(&mut self) {
        let still = self.nodes.iter().flatten().filter(|node| node.is_still).map(|node| node.id).collect();
        self.engine.expire_leases(&still);
    }

    /// Freezes or resumes a node. A frozen node does nothing: what arrives waits for it, and its lease may end
    /// meanwhile.
    fn stop_or_go_on(&mut self, node: usize) {
        if let Some(place) = self.nodes[node].as_mut().filter(|_| self.plan.bus) {
            place.is_still = !place.is_still;
            self.trace.line(format_args!("{} node {node} stands still: {}", self.now.0, place.is_still));
        }
    }

    fn kill(&mut self, node: usize) {
        self.trace.line(format_args!("{} node {node} is killed", self.now.0));
        if let Some(node) = self.nodes[node].take() {
            self.engine.links.remove(&node.id);
        }
        for client in
            self.clients.iter_mut().filter(|client| client.seat.is_some_and(|seat| seat.node == node))
        {
            client.leave_seat();
        }
    }
}
