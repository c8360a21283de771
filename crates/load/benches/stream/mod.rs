//! Generates the observations of a run: sends with their receipts, ordered by time, as many as needed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use load::observe::{Kind, NO_LABEL, NO_ROOM, Observation, Outcome};
use load::record::Names;

/// Sends and receipts together.
pub(crate) const MESSAGES_PER_SECOND: u64 = 100_000;
/// Number of users, who send in turn.
pub(crate) const USERS: u32 = 10_000;
/// Rooms, if there are any.
const ROOMS: u32 = 625;

/// An endless stream until it is stopped. At any time, a few hundred receipts are outstanding.
pub(crate) struct Stream {
    in_rooms: bool,
    receivers: u32,
    message: u64,
    /// Outstanding receipts, by time and by number in `receipts`.
    order: BinaryHeap<Reverse<(u64, u64)>>,
    /// Receipts by number, starting with `first`.
    receipts: VecDeque<Option<Observation>>,
    first: u64,
    next_send: Option<Observation>,
}

/// Names of the stream's rooms and source addresses.
pub(crate) struct Named;

impl Names for Named {
    fn room(&self, room: u32) -> Option<String> {
        Some(format!("room:{room}"))
    }
    fn label(&self, _: u16) -> Option<String> {
        None
    }
    fn source(&self, source: u16) -> Option<String> {
        Some(format!("127.0.0.{}", source + 1))
    }
}

impl Stream {
    /// Creates a stream of messages to this many receivers each, either in rooms or as echoes.
    pub(crate) fn new(in_rooms: bool, receivers: u32) -> Self {
        let empty = Self {
            in_rooms,
            receivers,
            message: 0,
            order: BinaryHeap::new(),
            receipts: VecDeque::new(),
            first: 0,
            next_send: None,
        };
        let first = empty.send();
        Self { next_send: Some(first), ..empty }
    }

    /// Stops sending; the outstanding receipts still follow.
    pub(crate) fn stop(&mut self) {
        self.next_send = None;
    }

    /// Returns deterministic noise that scatters latencies realistically.
    fn noise(&self, n: u64) -> u64 {
        (self.message + n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44
    }

    fn send(&self) -> Observation {
        let messages_per_second = MESSAGES_PER_SECOND / u64::from(self.receivers + 1);
        let intended = self.message * 1_000_000_000 / messages_per_second;
        // Sends stay in order, because the noise is smaller than the gap between two sends.
        let began = intended + self.noise(1) % 4_000;
        let user = (self.message % u64::from(USERS)) as u32;
        Observation {
            at: began + self.noise(2) % 4_000,
            intended,
            began,
            message: u64::from(user) << 32 | (self.message / u64::from(USERS) + 1),
            user,
            room: if self.in_rooms { user % ROOMS } else { NO_ROOM },
            bytes: 64,
            count: self.receivers,
            label: NO_LABEL,
            source: (user % 4) as u16,
            code: 0,
            kind: Kind::Send,
            outcome: Outcome::Ok,
        }
    }

    fn expect_receipts(&mut self, send: &Observation) {
        for receiver in 0..self.receivers {
            let receipt = Observation {
                at: send.at + 50_000 + self.noise(u64::from(receiver) + 3),
                began: send.at,
                user: (send.user + receiver * ROOMS) % USERS,
                count: 0,
                kind: Kind::Receive,
                ..*send
            };
            let number = self.first + self.receipts.len() as u64;
            self.order.push(Reverse((receipt.at, number)));
            self.receipts.push_back(Some(receipt));
        }
    }

    fn next_receipt(&mut self) -> Option<Observation> {
        let Reverse((_, number)) = self.order.pop()?;
        let receipt = self.receipts.get_mut((number - self.first) as usize)?.take();
        while self.receipts.front().is_some_and(Option::is_none) {
            self.receipts.pop_front();
            self.first += 1;
        }
        receipt
    }
}

impl Iterator for Stream {
    type Item = Observation;

    fn next(&mut self) -> Option<Observation> {
        let due = self.order.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let Some(send) = self.next_send.filter(|send| send.at <= due) else { return self.next_receipt() };
        self.expect_receipts(&send);
        self.message += 1;
        self.next_send = Some(self.send());
        Some(send)
    }
}
