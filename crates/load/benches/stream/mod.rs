//! A run's observations without a run: sends with their receipts, in the order of their times, as many as one asks for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use load::observe::{Kind, NO_LABEL, NO_ROOM, Observation, Outcome};
use load::record::Names;

/// Sends and receipts together.
pub(crate) const MESSAGES_PER_SECOND: u64 = 100_000;
/// Users, each of whom speaks in turn.
pub(crate) const USERS: u32 = 10_000;
/// Rooms, if there are any.
const ROOMS: u32 = 625;

/// Without end, until it is stopped. What is begun and not yet told is a few hundred receipts.
pub(crate) struct Stream {
    in_rooms: bool,
    receivers: u32,
    message: u64,
    /// Receipts that are to come, by their time and their place below.
    order: BinaryHeap<Reverse<(u64, u64)>>,
    /// Receipts by the number in which they were made, from `first` on.
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
    /// Messages to so many receivers each, who are in rooms or get their echoes.
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

    /// Nobody sends any more; what was sent is still to come.
    pub(crate) fn stop(&mut self) {
        self.next_send = None;
    }

    /// Latencies as scattered as real ones, without a generator of random numbers.
    fn noise(&self, n: u64) -> u64 {
        (self.message + n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44
    }

    fn send(&self) -> Observation {
        let messages_per_second = MESSAGES_PER_SECOND / u64::from(self.receivers + 1);
        let intended = self.message * 1_000_000_000 / messages_per_second;
        // Sends are in order as they are: what is drawn is less than the gap between two.
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
