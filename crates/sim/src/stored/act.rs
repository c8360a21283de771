//! What clients do.

use super::client::Seat;
use super::disk::{community, room_name};
use super::world::World;
use crate::oracle::Checked;
use hub::{ConnectionKey, Dialect, Event, MountIndex, NewConnection, Ticket, Transport};
use proto::phoenix::{FrameKind, Version};
use serde_json::{Value, json};

/// Text messages without framing.
const DIALECT: Dialect = Dialect { version: Version::V2, transport: Transport::LongPoll };

impl World {
    pub(super) fn client_acts(&mut self) -> Checked {
        let client = self.random.below(self.clients.len());
        if self.goes_on(client)? {
            return Ok(());
        }
        match self.random.below(100) {
            0..85 if self.clients[client].joined => self.client_speaks(client),
            95.. => self.client_goes(client),
            _ => Ok(()),
        }
    }

    /// Lets a client do what it wants in any case: join, fill its gaps, have its messages acknowledged. Returns `false`
    /// if there is nothing to do, or it cannot do it yet.
    pub(super) fn goes_on(&mut self, client: usize) -> Checked<bool> {
        let state = &self.clients[client];
        let Some(seat) = state.seat else { return self.client_comes(client).map(|()| true) };
        if !state.joined {
            if state.waits_for_join() {
                return Ok(false);
            }
            return self.client_joins(client, seat).map(|()| true);
        }
        if state.has_a_hole() && self.plan.clients_ask() {
            let reference = self.number();
            let payload = self.clients[client].ask_history(reference);
            return self.say(client, seat, reference, "history", &payload).map(|()| true);
        }
        match state.to_retry() {
            Some(client_id) => self.send(client, seat, &client_id).map(|()| true),
            None => Ok(false),
        }
    }

    /// Connects a client, as the same guest as before, and joins.
    fn client_comes(&mut self, client: usize) -> Checked {
        let shard = self.random.below(self.plan.shards);
        let state = &mut self.clients[client];
        state.generation += 1;
        let key = ConnectionKey { slot: client as u32, generation: state.generation };
        let seat = Seat { shard, key };
        state.seat = Some(seat);
        let token = state.token.clone();
        self.trace.line(format_args!("{} client {client} comes to s{shard}", self.now.0));
        let (socket_id, assigns) = self.process.messenger.connect(community(), token.as_deref());
        let (socket_id, assigns) = (Some(socket_id.into_boxed_str()), Some(assigns));
        let (mount, dialect) = (MountIndex(0), DIALECT);
        self.handle(shard, Event::Opened(NewConnection { key, mount, dialect, socket_id, assigns }))?;
        self.client_joins(client, seat)
    }

    fn client_joins(&mut self, client: usize, seat: Seat) -> Checked {
        let reference = self.number();
        let newest = self.ledger.newest_acknowledged(self.clients[client].room);
        let payload = self.clients[client].ask_join(reference, newest);
        self.say(client, seat, reference, "phx_join", &payload)
    }

    fn client_speaks(&mut self, client: usize) -> Checked {
        let Some(seat) = self.clients[client].seat else { return Ok(()) };
        let client_id = format!("c{client}-{}", self.number());
        self.ledger.sent(self.clients[client].room, &client_id);
        self.send(client, seat, &client_id)
    }

    fn send(&mut self, client: usize, seat: Seat, client_id: &str) -> Checked {
        let reference = self.number();
        let payload = self.clients[client].ask_send(reference, client_id);
        self.say(client, seat, reference, "msg:new", &payload)
    }

    fn say(&mut self, client: usize, seat: Seat, reference: u64, event: &str, payload: &Value) -> Checked {
        let join_ref = (event == "phx_join").then(|| reference.to_string());
        let topic = format!("room:{}/{}", community(), room_name(self.clients[client].room));
        let text = json!([join_ref, reference.to_string(), topic, event, payload]).to_string();
        self.trace.line(format_args!("{} client {client} says {text}", self.now.0));
        let (key, bytes) = (seat.key, text.as_bytes());
        self.handle(seat.shard, Event::Frame { key, kind: FrameKind::Text, bytes, ticket: Ticket::NONE })
    }

    fn client_goes(&mut self, client: usize) -> Checked {
        let Some(seat) = self.clients[client].leave_seat() else { return Ok(()) };
        self.trace.line(format_args!("{} client {client} goes", self.now.0));
        self.handle(seat.shard, Event::Closed(seat.key))
    }
}
