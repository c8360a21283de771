//! One client: its position according to the server, and what it has been given since.

use super::ledger::{Ledger, MessageId};
use super::room::SAID;
use crate::journal::Mark;
use crate::oracle::{Checked, violated};
use crate::presence::View;
use hub::{ConnectionKey, Micros};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Where a client is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seat {
    pub(super) node: usize,
    pub(super) shard: usize,
    pub(super) key: ConnectionKey,
}

/// What was delivered without a gap, starting at a position that the server gave.
#[derive(Debug)]
struct Stretch {
    epoch: String,
    /// The publisher names that the client had: one that it does not hand back is replaced.
    names: BTreeSet<String>,
    from: u64,
    offsets: BTreeSet<u64>,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) index: usize,
    pub(super) topic: String,
    pub(super) seat: Option<Seat>,
    pub(super) joined: bool,
    /// How long it was told to stay away, until the world has read that.
    pub(super) turned_away_us: Option<u64>,
    /// When it may ask again for a join that was refused because the queue was full.
    pub(super) asks_again_at: Option<Micros>,
    pub(super) generation: u32,
    /// The position that it hands back when it joins again.
    pub(super) position: Option<Value>,
    /// Its name as a publisher.
    pub(super) name: Option<String>,
    stretches: Vec<Stretch>,
    /// Requests that are not answered yet, by ref; `None` for joins.
    asked: BTreeMap<u64, Option<MessageId>>,
    pub(super) recoveries: u64,
    /// How often it was told that the bus of its node or of another had been away, since the last rest or since it
    /// connected.
    outages: u64,
    /// When it was last told.
    told_outage_at: Option<Micros>,
    /// Whether it has been a member, by one join, since the last rest.
    pub(super) stays: bool,
    /// The presence that its join tracks.
    pub(super) tracks: Option<(String, Mark)>,
    pub(super) view: View,
    /// Presence diffs for it were dropped.
    pub(super) presence_is_stale: bool,
}

impl Client {
    pub(super) fn new(index: usize, topic: String) -> Client {
        Client {
            index,
            topic,
            seat: None,
            joined: false,
            turned_away_us: None,
            asks_again_at: None,
            generation: 0,
            position: None,
            name: None,
            stretches: Vec::new(),
            asked: BTreeMap::new(),
            recoveries: 0,
            outages: 0,
            told_outage_at: None,
            stays: false,
            tracks: None,
            view: View::default(),
            presence_is_stale: false,
        }
    }

    pub(super) fn is_recoverable(&self) -> bool {
        self.topic.starts_with("kept:")
    }

    pub(super) fn ask(&mut self, reference: u64, message: Option<MessageId>) {
        self.asks_again_at = self.asks_again_at.filter(|_| message.is_some());
        self.asked.insert(reference, message);
    }

    pub(super) fn leave_seat(&mut self) -> Option<Seat> {
        (self.joined, self.stays, self.outages, self.asks_again_at) = (false, false, 0, None);
        self.asked.clear();
        self.seat.take()
    }

    /// Handles a message from the server: `[join_ref, ref, topic, event, payload]`.
    pub(super) fn receive(&mut self, message: &Value, now: Micros, ledger: &mut Ledger) -> Checked {
        let payload = &message[4];
        match message[3].as_str() {
            Some("phx_reply") => self.reply(message[1].as_str(), payload, ledger),
            Some(SAID) => self.said(payload, ledger),
            Some("gap") => self.gap(payload, now),
            Some(event @ ("presence_state" | "presence_diff" | "presence_count")) => {
                match self.view.take(event, payload) {
                    Some(()) => Ok(()),
                    None => self.violated(format!("was told {message}")),
                }
            }
            Some("phx_close") => {
                self.joined = false;
                Ok(())
            }
            _ => self.violated(format!("was told {message}")),
        }
    }

    fn reply(&mut self, reference: Option<&str>, payload: &Value, ledger: &mut Ledger) -> Checked {
        let reference = reference.and_then(|reference| reference.parse().ok());
        let Some(asked) = reference.and_then(|reference: u64| self.asked.remove(&reference)) else {
            return self.violated(format!("was answered without a question: {payload}"));
        };
        let response = &payload["response"];
        match (asked, payload["status"] == "ok") {
            (None, true) => self.stands(&response["recover"]),
            (None, false) if response["reason"] == "overloaded" => {
                match response["retry_after_ms"].as_u64() {
                    Some(retry_after_ms) => {
                        self.turned_away_us = Some(retry_after_ms.saturating_mul(1000));
                        Ok(())
                    }
                    None => self.violated(format!("was turned away for no time: {payload}")),
                }
            }
            (Some(id), true) if self.is_recoverable() => match (&response["epoch"], &response["offset"]) {
                (Value::String(epoch), Value::Number(offset)) => {
                    ledger.acknowledged(&self.topic, epoch, offset.as_u64().unwrap_or(0), id)
                }
                _ => self.violated(format!("acknowledged without a place: {payload}")),
            },
            (Some(_), true) => Ok(()),
            (Some(_), false)
                if ["overloaded", "unavailable"].contains(&response["reason"].as_str().unwrap_or("")) =>
            {
                Ok(())
            }
            (_, false) => self.violated(format!("was refused: {payload}")),
        }
    }

    /// A join was accepted.
    fn stands(&mut self, recover: &Value) -> Checked {
        self.joined = true;
        (self.view, self.presence_is_stale) = (View::default(), false);
        if !self.is_recoverable() {
            return Ok(());
        }
        self.name = recover["publisher"].as_str().map(str::to_owned);
        let (epoch, offset) = (recover["epoch"].as_str(), recover["offset"].as_u64());
        let recovered = recover["recovered"] == true;
        match (epoch.zip(offset), &self.position) {
            (Some((epoch, offset)), Some(position)) if recovered => {
                self.recoveries += 1;
                if let Some(stretch) = self.stretches.last_mut() {
                    stretch.names.extend(self.name.clone());
                }
                if position["epoch"] != epoch || position["offset"] != offset {
                    return self.violated(format!("recovered {recover} from {position}"));
                }
            }
            (None, _) | (_, None) if recovered => {
                return self.violated(format!("recovered from nowhere: {recover}"));
            }
            (Some((epoch, offset)), _) => self.begin(epoch, offset),
            // The server does not know; the next gap event tells.
            (None, _) => self.position = None,
        }
        if let Some(position) = &mut self.position {
            position["publisher"] = recover["publisher"].clone();
        }
        Ok(())
    }

    fn begin(&mut self, epoch: &str, from: u64) {
        let publisher = self.position.take().map(|position| position["publisher"].clone());
        self.position = Some(json!({ "epoch": epoch, "offset": from, "publisher": publisher }));
        let names = self.name.iter().cloned().collect();
        self.stretches.push(Stretch { epoch: epoch.into(), names, from, offsets: BTreeSet::new() });
    }

    fn said(&mut self, payload: &Value, ledger: &mut Ledger) -> Checked {
        let id = MessageId(payload["message"].as_u64().unwrap_or_default());
        let Some(message) = ledger.messages.get(&id) else {
            return self.violated(format!("heard {payload}"));
        };
        if message.topic != self.topic {
            return self.violated(format!("heard {payload} of {}", message.topic));
        }
        if !self.joined {
            return self.violated(format!("heard {payload} without having joined"));
        }
        if !self.is_recoverable() {
            return Ok(());
        }
        if message.from && message.name == self.name {
            return self.violated(format!("heard its own {payload}"));
        }
        let (Some(offset), Some(position)) = (payload["phx_offset"].as_u64(), self.position.as_mut()) else {
            return self.violated(format!("heard {payload} without knowing where it stands"));
        };
        let before = position["offset"].as_u64().unwrap_or_default();
        position["offset"] = json!(offset);
        if offset <= before {
            return self.violated(format!("heard {payload} after {before}: twice, or out of order"));
        }
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.offsets.insert(offset);
            let epoch = stretch.epoch.clone();
            return ledger.stands(&self.topic, &epoch, offset, id);
        }
        Ok(())
    }

    fn gap(&mut self, gap: &Value, now: Micros) -> Checked {
        if !self.is_recoverable() {
            if *gap != json!({ "reason": "bus" }) {
                return self.violated(format!("was told {gap}"));
            }
            self.outages += 1;
            self.told_outage_at = Some(now);
            return Ok(());
        }
        let (Some(epoch), Some(from), Some(to)) =
            (gap["epoch"].as_str(), gap["from"].as_u64(), gap["to"].as_u64())
        else {
            return self.violated(format!("was told {gap}"));
        };
        let stood = self.position.as_ref().map(|position| (&position["epoch"], position["offset"].as_u64()));
        if stood.is_some_and(|(stood, offset)| {
            *stood == epoch && gap["reason"] == "too_old" && offset > Some(from)
        }) {
            return self.violated(format!("was told {gap} of what it had, at {:?}", self.position));
        }
        self.begin(epoch, to);
        Ok(())
    }

    /// Checks the state at rest: everything since each position was delivered, up to `head` if there is one.
    pub(super) fn at_rest(&self, ledger: &Ledger, head: Option<(String, u64)>) -> Checked {
        let own = |id: MessageId, names: &BTreeSet<String>| {
            let message = ledger.messages.get(&id).filter(|message| message.from);
            message.and_then(|message| message.name.as_ref()).is_some_and(|name| names.contains(name))
        };
        let last = self.stretches.len().saturating_sub(1);
        for (at, stretch) in self.stretches.iter().enumerate() {
            let given = stretch.offsets.last().copied().unwrap_or(stretch.from);
            let to = match &head {
                Some((epoch, _)) if self.joined && at == last && *epoch != stretch.epoch => {
                    return self
                        .violated(format!("stands in {} while the topic is in {epoch}", stretch.epoch));
                }
                Some((_, head)) if self.joined && at == last => *head,
                None if self.joined && at == last => {
                    ledger.newest(&self.topic, &stretch.epoch).unwrap_or(given)
                }
                _ => given,
            };
            for (offset, id) in ledger.between(&self.topic, &stretch.epoch, stretch.from, to) {
                if !stretch.offsets.contains(&offset) && !own(id, &stretch.names) {
                    return self.violated(format!("was never given {id:?} at {offset} of {}", stretch.epoch));
                }
            }
        }
        match self.joined && self.is_recoverable() && self.position.is_none() {
            true => self.violated("was never told where it stands".into()),
            false => Ok(()),
        }
    }

    /// Checks that offsets are dense, as they are without a bus: every one between those delivered must be known.
    pub(super) fn check_density(&self, ledger: &Ledger) -> Checked {
        for stretch in &self.stretches {
            let to = stretch.offsets.last().copied().unwrap_or(stretch.from);
            let known = ledger.between(&self.topic, &stretch.epoch, stretch.from, to).count() as u64;
            if known < to - stretch.from && !ledger.has_unheard(&self.topic, self.index) {
                return self
                    .violated(format!("passed over something above {} of {}", stretch.from, stretch.epoch));
            }
        }
        Ok(())
    }

    /// Checks the state at rest. Since the last rest the bus of its node connected `connects` times, and other nodes
    /// reported losses on its topic, at these times: it was told at most once for each. If it was a member all the
    /// time, it was told at least once, and not before the last loss.
    pub(super) fn check_outages(&mut self, connects: u64, losses: &[Micros]) -> Checked {
        let (outages, told_at) = (std::mem::take(&mut self.outages), self.told_outage_at.take());
        let was_there = std::mem::replace(&mut self.stays, self.joined);
        let at_least = u64::from(was_there && (connects > 0 || !losses.is_empty()));
        let at_most = connects + losses.len() as u64;
        if !(at_least..=at_most).contains(&outages) {
            let what =
                format!("was told {outages} times of {connects} outages here and {} elsewhere", losses.len());
            return self.violated(what);
        }
        match losses.iter().max().filter(|_| was_there) {
            Some(last) if told_at < Some(*last) => {
                self.violated(format!("was told at {told_at:?}, and not of what was lost at {last:?}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn violated(&self, what: String) -> Checked {
        violated(format!("client {} on {}: {what}", self.index, self.topic))
    }
}
