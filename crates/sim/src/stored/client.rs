//! One client in one room: what it was told, what it still wants, and what it has sent, as docs/protocol.md defines it.

use super::ledger::Ledger;
use crate::oracle::{Checked, Violation, violated};
use hub::ConnectionKey;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Events of a room that are neither messages nor edits of messages.
const OTHER_NEWS: [&str; 4] = ["member:in", "presence", "profile", "conversation:changed"];
/// The server's errors when its store is in trouble, or has left too many requests unanswered.
const STORE_TROUBLE: [&str; 4] = ["busy", "unavailable", "internal", "rate_limited"];

/// Where a client is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seat {
    pub(super) shard: usize,
    pub(super) key: ConnectionKey,
}

/// A request that is not answered yet.
#[derive(Debug)]
enum PendingRequest {
    /// To join; with the newest sequence number that was acknowledged in the room by then.
    Join { from: Option<u64>, newest: u64 },
    /// To send the message with this client id.
    Send(String),
    /// To read what came after the last message that it has.
    History,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) index: usize,
    pub(super) room: usize,
    pub(super) seat: Option<Seat>,
    pub(super) generation: u32,
    pub(super) joined: bool,
    /// What makes it the same guest when it comes back.
    pub(super) token: Option<String>,
    epoch: Option<String>,
    /// It has everything up to here, from where it began.
    last: u64,
    /// What it has beyond that, after a gap.
    ahead: BTreeSet<u64>,
    /// The newest sequence number that it was told of.
    head: u64,
    asked: BTreeMap<u64, PendingRequest>,
    /// Messages that were sent and not acknowledged.
    pub(super) unsent: BTreeSet<String>,
    /// For this join, the sequence numbers of messages by the order in which they were sent.
    order: BTreeMap<u64, u64>,
    pub(super) deliveries: u64,
    pub(super) recoveries: u64,
}

impl Client {
    pub(super) fn new(index: usize, room: usize) -> Client {
        Client {
            index,
            room,
            seat: None,
            generation: 0,
            joined: false,
            token: None,
            epoch: None,
            last: 0,
            ahead: BTreeSet::new(),
            head: 0,
            asked: BTreeMap::new(),
            unsent: BTreeSet::new(),
            order: BTreeMap::new(),
            deliveries: 0,
            recoveries: 0,
        }
    }

    pub(super) fn leave_seat(&mut self) -> Option<Seat> {
        self.end();
        self.seat.take()
    }

    /// Ends the join, and drops what it waits for.
    fn end(&mut self) {
        self.joined = false;
        self.asked.clear();
    }

    /// Records a join request and returns its payload.
    pub(super) fn ask_join(&mut self, reference: u64, newest: u64) -> Value {
        let from = self.epoch.is_some().then_some(self.last);
        self.asked.insert(reference, PendingRequest::Join { from, newest });
        json!({ "recover": from.map(|seq| json!({ "epoch": self.epoch, "seq": seq })) })
    }

    pub(super) fn ask_send(&mut self, reference: u64, client_id: &str) -> Value {
        self.unsent.insert(client_id.to_owned());
        self.asked.insert(reference, PendingRequest::Send(client_id.to_owned()));
        json!({ "text": client_id, "client_id": client_id })
    }

    pub(super) fn ask_history(&mut self, reference: u64) -> Value {
        self.asked.insert(reference, PendingRequest::History);
        json!({ "after": self.last })
    }

    pub(super) fn waits_for_join(&self) -> bool {
        self.asked.values().any(|asked| matches!(asked, PendingRequest::Join { .. }))
    }

    /// Returns whether it knows of something that it does not have and has not asked for.
    pub(super) fn has_a_hole(&self) -> bool {
        let asks = self.asked.values().any(|asked| matches!(asked, PendingRequest::History));
        self.joined && !asks && (self.head > self.last || !self.ahead.is_empty())
    }

    /// Returns a message that was not acknowledged and is not in flight.
    pub(super) fn to_retry(&self) -> Option<String> {
        let under_way = |id: &&String| {
            self.asked.values().any(|asked| matches!(asked, PendingRequest::Send(sent) if sent == *id))
        };
        self.unsent.iter().find(|id| !under_way(id)).cloned()
    }

    /// Handles a message from the server: `[join_ref, ref, topic, event, payload]`.
    pub(super) fn receive(&mut self, message: &Value, ledger: &mut Ledger) -> Checked {
        let heard = self.hear(message, ledger);
        heard.map_err(|Violation(what)| Violation(format!("client {}: {what}", self.index)))
    }

    fn hear(&mut self, message: &Value, ledger: &mut Ledger) -> Checked {
        let payload = &message[4];
        match message[3].as_str() {
            Some("phx_reply") => self.reply(message[1].as_str(), payload, ledger),
            Some("msg:new") if self.joined => self.take(payload, ledger),
            Some("head") if self.joined => {
                self.head = self.head.max(payload["seq"].as_u64().unwrap_or_default());
                Ok(())
            }
            // Its channel could not read what it owed the client, which comes back and recovers.
            Some("phx_error") => {
                self.end();
                Ok(())
            }
            Some(other) if self.joined && OTHER_NEWS.contains(&other) => Ok(()),
            _ => violated(format!("was told {} at a wrong time, or of nothing known", message[3])),
        }
    }

    fn reply(&mut self, reference: Option<&str>, payload: &Value, ledger: &mut Ledger) -> Checked {
        let reference = reference.and_then(|reference| reference.parse().ok()).unwrap_or_default();
        let Some(asked) = self.asked.remove(&reference) else {
            return violated(format!("was answered without a question: {}", payload["status"]));
        };
        let response = &payload["response"];
        if payload["status"] != "ok" {
            let code = response["code"].as_str().unwrap_or_default();
            return match STORE_TROUBLE.contains(&code) {
                true => Ok(()),
                false => violated(format!("{asked:?} was refused: {response}")),
            };
        }
        match asked {
            PendingRequest::Join { from, newest } => self.stands(response, from, newest, ledger),
            PendingRequest::Send(client_id) => self.acknowledged(reference, &client_id, response, ledger),
            PendingRequest::History => self.page(&response["messages"], ledger),
        }
    }

    /// A join was accepted, with the newest page or with exactly what was missed.
    fn stands(&mut self, response: &Value, from: Option<u64>, newest: u64, ledger: &Ledger) -> Checked {
        self.joined = true;
        self.order.clear();
        self.token = response["me"]["token"].as_str().map(str::to_owned);
        self.epoch = response["epoch"].as_str().map(str::to_owned);
        let page = response["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = response["conversation"]["last"].as_u64().unwrap_or_default();
        let first = last + 1 - (page.len() as u64).min(last);
        match (from, response["recovered"].as_bool()) {
            (Some(from), Some(true)) => {
                self.recoveries += 1;
                if first != from + 1 {
                    return violated(format!("recovered from {from}, and was given {first} to {last}"));
                }
            }
            (Some(from), recovered) => {
                let why = &response["reason"];
                return violated(format!("did not recover from {from} ({recovered:?}, {why})"));
            }
            (None, None) => self.last = first - 1,
            (None, Some(_)) => return violated("recovered from nowhere"),
        }
        if last < newest {
            return violated(format!("joined at {last}, when {newest} had been acknowledged"));
        }
        self.ahead.retain(|seq| *seq > self.last);
        for (message, seq) in page.iter().zip(first..) {
            if message["seq"] != seq {
                return violated(format!("was given {} with a join, where {seq} belongs", message["seq"]));
            }
            self.take(message, ledger)?;
        }
        match self.last >= last {
            true => Ok(()),
            false => violated(format!("joined at {last}, and was given what is up to {}", self.last)),
        }
    }

    fn acknowledged(&mut self, reference: u64, id: &str, response: &Value, ledger: &mut Ledger) -> Checked {
        let seq = response["seq"].as_u64().unwrap_or_default();
        self.unsent.remove(id);
        ledger.acknowledged(self.room, id, seq)?;
        if response["repeated"] == true {
            return Ok(());
        }
        self.order.insert(reference, seq);
        let before = self.order.range(..reference).next_back().is_none_or(|(_, before)| *before < seq);
        let after = self.order.range(reference + 1..).next().is_none_or(|(_, after)| *after > seq);
        match before && after {
            true => Ok(()),
            false => violated(format!("{id} was stored out of the order of its sending: {:?}", self.order)),
        }
    }

    fn page(&mut self, messages: &Value, ledger: &Ledger) -> Checked {
        let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
        messages.iter().try_for_each(|message| self.take(message, ledger))
    }

    /// Takes a message that was pushed or read. Twice is harmless: a sequence number is one message.
    fn take(&mut self, message: &Value, ledger: &Ledger) -> Checked {
        self.deliveries += 1;
        let seq = ledger.told(self.room, message)?;
        self.head = self.head.max(seq);
        if seq > self.last {
            self.ahead.insert(seq);
        }
        while self.ahead.remove(&(self.last + 1)) {
            self.last += 1;
        }
        Ok(())
    }

    /// Checks the state at rest, when nothing is in flight any more and the disk works.
    pub(super) fn at_rest(&self, ledger: &Ledger) -> Checked {
        let stored = ledger.disk.last(ledger.rooms[self.room]);
        let what = if !self.joined {
            "could not join".to_owned()
        } else if let Some((reference, asked)) = self.asked.first_key_value() {
            format!("was never answered {reference}: {asked:?}")
        } else if let Some(id) = self.unsent.first() {
            format!("could not send {id}")
        } else if self.last != stored || !self.ahead.is_empty() {
            format!("was never given {} of room {}, where {stored} are stored", self.last + 1, self.room)
        } else {
            return Ok(());
        };
        violated(format!("client {}: {what}", self.index))
    }
}
