//! Publications with several receivers: the times until the first and the last receiver had them.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use serde::{Deserialize, Serialize};

use super::limits::OPEN_PUBLICATIONS_MAX;
use super::population::elapsed_us;
use super::{FanOut, Population};
use crate::observe::{Nanos, Observation};

/// Open publications by message id, each kept until all its receivers are accounted for.
///
/// Send and receipts may arrive in any order. The open publications are kept in two generations: when the younger is
/// full, the older is settled as it is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Publications {
    younger: HashMap<u64, Publication, MessageHash>,
    older: HashMap<u64, Publication, MessageHash>,
    settled: Settled,
    /// Whether receipts on other machines may be merged after all those on the sender's machine.
    #[serde(default)]
    spans_machines: bool,
}

/// One publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Publication {
    intended: Nanos,
    /// `None` until the send is seen.
    expected: Option<u32>,
    received: u32,
    /// Receipts on machines other than the sender's; how many there should be is unknown.
    #[serde(default)]
    received_elsewhere: u32,
    first: Nanos,
    last: Nanos,
}

/// Totals of the settled publications.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Settled {
    publications: u64,
    complete: u64,
    /// Publications settled for lack of room before all their receivers were accounted for.
    early: u64,
    first_receiver: Population,
    last_receiver: Population,
}

impl Publications {
    /// Records that a message was sent to a room.
    pub(super) fn sent(&mut self, send: &Observation) {
        let of_send = Publication { expected: Some(send.count), ..Publication::unheard(send.intended) };
        self.note(send.message, of_send);
    }

    /// Records that a message in a room was delivered to an expected receiver.
    pub(super) fn received(&mut self, receive: &Observation) {
        let at = receive.at;
        // A message from another machine counts as expected because it arrived.
        let received_elsewhere = receive.count.min(1);
        let received = 1 - received_elsewhere;
        let unheard = Publication::unheard(receive.intended);
        self.note(
            receive.message,
            Publication { received, received_elsewhere, first: at, last: at, ..unheard },
        );
    }

    /// Keeps publications open for receipts on other machines: see [`Statistics::of_several_machines`].
    ///
    /// [`Statistics::of_several_machines`]: super::Statistics::of_several_machines
    pub(super) fn span_machines(&mut self) {
        self.spans_machines = true;
    }

    /// Adds the publications of a later part of the run, or of another machine.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.spans_machines |= other.spans_machines;
        for (&message, publication) in other.older.iter().chain(&other.younger) {
            self.note(message, *publication);
        }
        self.settled.merge(&other.settled);
    }

    /// Returns what is known so far, and begins anew.
    pub(super) fn take(&mut self) -> Self {
        let next = Self { spans_machines: self.spans_machines, ..Self::default() };
        std::mem::replace(self, next)
    }

    /// Returns the totals, in which publications still open count as they are, and the times to the first and to the
    /// last receiver.
    pub(super) fn so_far(&self) -> (FanOut, [Population; 2]) {
        let mut settled = self.settled.clone();
        for publication in self.older.values().chain(self.younger.values()) {
            settled.settle(publication);
        }
        let fan_out = FanOut {
            publications: settled.publications,
            complete: settled.complete,
            first_receiver: settled.first_receiver.spread(),
            last_receiver: settled.last_receiver.spread(),
        };
        (fan_out, [settled.first_receiver, settled.last_receiver])
    }

    /// Returns how many publications were settled before all their receivers were accounted for because more than
    /// [`OPEN_PUBLICATIONS_MAX`] were open.
    pub(super) fn settled_early(&self) -> u64 {
        self.settled.early
    }

    fn note(&mut self, message: u64, news: Publication) {
        let half = if self.older.contains_key(&message) { &mut self.older } else { &mut self.younger };
        let publication = half.entry(message).or_insert_with(|| Publication::unheard(news.intended));
        publication.merge(&news);
        if publication.is_complete() && !self.spans_machines {
            self.settled.settle(publication);
            half.remove(&message);
        } else if self.younger.len() >= OPEN_PUBLICATIONS_MAX / 2 {
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        for (_, publication) in self.older.drain() {
            self.settled.settle(&publication);
            self.settled.early += u64::from(publication.expected.is_some() && !publication.is_complete());
        }
        std::mem::swap(&mut self.younger, &mut self.older);
    }
}

impl Publication {
    fn unheard(intended: Nanos) -> Self {
        Self { intended, expected: None, received: 0, received_elsewhere: 0, first: Nanos::MAX, last: 0 }
    }

    fn merge(&mut self, other: &Self) {
        self.intended = self.intended.min(other.intended);
        self.expected = self.expected.or(other.expected);
        self.received = self.received.saturating_add(other.received);
        self.received_elsewhere = self.received_elsewhere.saturating_add(other.received_elsewhere);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    fn is_complete(&self) -> bool {
        self.expected.is_some_and(|expected| self.received >= expected)
    }
}

impl Settled {
    fn settle(&mut self, publication: &Publication) {
        // A single receiver is no fan-out, and without the send the number of receivers is unknown.
        let receivers = |expected: u32| expected.saturating_add(publication.received_elsewhere);
        if publication.expected.is_none_or(|expected| receivers(expected) < 2) {
            return;
        }
        self.publications += 1;
        if publication.received > 0 || publication.received_elsewhere > 0 {
            self.first_receiver.record(elapsed_us(publication.intended, publication.first));
        }
        if publication.is_complete() {
            self.complete += 1;
            self.last_receiver.record(elapsed_us(publication.intended, publication.last));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.publications = self.publications.saturating_add(other.publications);
        self.complete = self.complete.saturating_add(other.complete);
        self.early = self.early.saturating_add(other.early);
        self.first_receiver.merge(&other.first_receiver);
        self.last_receiver.merge(&other.last_receiver);
    }
}

/// Hashes message ids. The generator assigns them itself, and a receipt with a foreign stamp is counted separately, so
/// no outsider chooses keys of this table and a multiplication spreads them well enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct MessageHash(u64);

impl BuildHasher for MessageHash {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for MessageHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The table takes the bucket from the low bits and the tag from the high bits, so both halves of the product
        // are folded together.
        let product = u128::from(self.0 ^ number) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::example::observation;

    const MILLISECOND: Nanos = 1_000_000;

    fn send(message: u64, receivers: u32) -> Observation {
        Observation { message, count: receivers, ..observation() }
    }

    fn receipt(message: u64, at: Nanos) -> Observation {
        Observation { message, at, ..observation() }
    }

    #[test]
    fn a_publication_is_measured_to_its_first_and_its_last_receiver() {
        let mut publications = Publications::default();
        // One receipt precedes the send.
        publications.received(&receipt(7, 30 * MILLISECOND));
        publications.sent(&send(7, 3));
        publications.received(&receipt(7, 10 * MILLISECOND));
        publications.received(&receipt(7, 20 * MILLISECOND));
        let (fan_out, _) = publications.so_far();
        assert_eq!((fan_out.publications, fan_out.complete), (1, 1));
        assert_eq!(fan_out.first_receiver.max_us, 10_000);
        assert_eq!(fan_out.last_receiver.max_us, 30_000);
        assert!(publications.younger.is_empty(), "a complete publication is not kept");
    }

    #[test]
    fn a_publication_that_one_receiver_never_got_is_not_complete() {
        let mut publications = Publications::default();
        publications.sent(&send(7, 2));
        publications.received(&receipt(7, 10 * MILLISECOND));
        let (fan_out, [first_receiver, last_receiver]) = publications.so_far();
        assert_eq!((fan_out.publications, fan_out.complete), (1, 0));
        assert_eq!(fan_out.first_receiver.count, 1);
        assert_eq!((first_receiver.count(), last_receiver.count()), (1, 0));
    }

    #[test]
    fn one_receiver_is_no_fan_out() {
        let mut publications = Publications::default();
        for receivers in [0, 1] {
            publications.sent(&send(u64::from(receivers), receivers));
        }
        publications.received(&receipt(1, MILLISECOND));
        assert_eq!(publications.so_far().0, FanOut::default());
        assert!(publications.younger.is_empty());
    }

    #[test]
    fn open_publications_are_bounded_and_the_oldest_are_settled_as_they_stand() {
        let mut publications = Publications::default();
        let sent = OPEN_PUBLICATIONS_MAX as u64 * 2;
        for message in 0..sent {
            publications.sent(&send(message, 2));
        }
        assert!(publications.younger.len() + publications.older.len() <= OPEN_PUBLICATIONS_MAX);
        assert!(publications.settled_early() >= sent - OPEN_PUBLICATIONS_MAX as u64);
        assert_eq!(publications.so_far().0.publications, sent);
    }

    #[test]
    fn receivers_on_other_machines_come_first_or_last_as_well() {
        let elsewhere = |at| Observation { count: 1, ..receipt(7, at) };
        let (mut senders, mut others) = (Publications::default(), Publications::default());
        [&mut senders, &mut others].into_iter().for_each(Publications::span_machines);
        senders.sent(&send(7, 1));
        senders.received(&receipt(7, 20 * MILLISECOND));
        others.received(&elsewhere(10 * MILLISECOND));
        others.received(&elsewhere(30 * MILLISECOND));
        for order in [[&senders, &others], [&others, &senders]] {
            let mut all = Publications::default();
            order.into_iter().for_each(|part| all.merge(part));
            let (fan_out, _) = all.so_far();
            assert_eq!((fan_out.publications, fan_out.complete), (1, 1));
            assert_eq!((fan_out.first_receiver.max_us, fan_out.last_receiver.max_us), (10_000, 30_000));
        }
    }
}
