//! Finds a shard's largest topics and slowest readers, a bounded part of them per turn, so that looking at a crowd does
//! not delay it.

use super::driver::{ShardDriver, ShardIo, key};
use crate::relay::Reply;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

/// Number of topics or connections that are checked per turn.
const LOOKS_PER_TURN: usize = 4096;
/// Number of censuses that may wait for a shard; a further one is not answered.
const WAITING_MAX: usize = 16;

/// The request to each shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Question {
    pub(crate) topics_max: usize,
    pub(crate) readers_max: usize,
}

/// One shard's answer.
#[derive(Debug, Default)]
pub(crate) struct ShardCensus {
    /// The largest topics with their number of members on this shard.
    pub(crate) topics: Vec<(Arc<str>, usize)>,
    /// The slowest readers.
    pub(crate) readers: Vec<SlowReader>,
}

/// A client that reads more slowly than the server sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlowReader {
    /// The shard that serves it.
    pub shard: u16,
    /// Its address, if it is still connected.
    pub remote: Option<SocketAddr>,
    /// Its socket id, if it has one.
    pub socket_id: Option<Box<str>>,
    /// Bytes that wait for it, unsent.
    pub waiting_bytes: usize,
}

/// The pending censuses; the first one is in progress.
#[derive(Default)]
pub(crate) struct Censuses {
    waiting: VecDeque<(Question, Reply<ShardCensus>)>,
    topics: Largest<usize>,
    readers: Largest<u32>,
    /// Number of topic places, and then of connection slots, that have been checked.
    topics_seen: usize,
    slots_seen: u32,
}

impl ShardDriver {
    pub(crate) fn ask_for_census(&mut self, question: Question, reply: Reply<ShardCensus>) {
        if self.censuses.waiting.len() < WAITING_MAX {
            self.censuses.waiting.push_back((question, reply));
        }
    }

    /// Continues the first census. Returns `true` when there is more to do.
    pub(crate) fn go_on_counting(&mut self, io: &mut ShardIo<'_>) -> bool {
        let Some((question, _)) = self.censuses.waiting.front() else { return false };
        let question = *question;
        let mut left = LOOKS_PER_TURN;
        let Censuses { topics, readers, topics_seen, slots_seen, .. } = &mut self.censuses;
        if question.topics_max > 0 {
            let end = self.hub.topic_places().min(*topics_seen + left);
            left -= end.saturating_sub(*topics_seen);
            for (members, place) in self.hub.topic_sizes(*topics_seen..end) {
                topics.offer(members, place, question.topics_max);
            }
            *topics_seen = (*topics_seen).max(end);
        }
        if question.readers_max > 0 {
            let end = io.slots().min(*slots_seen + left as u32);
            left -= end.saturating_sub(*slots_seen) as usize;
            for slot in *slots_seen..end {
                let waiting = io.id_of(slot).map_or(0, |id| io.waiting_bytes(id));
                if waiting > 0 {
                    readers.offer(waiting, slot, question.readers_max);
                }
            }
            *slots_seen = (*slots_seen).max(end);
        }
        if left > 0 {
            self.answer_census(io);
        }
        !self.censuses.waiting.is_empty()
    }

    /// Completes the first census and sends its answer.
    fn answer_census(&mut self, io: &mut ShardIo<'_>) {
        let Censuses { waiting, topics, readers, .. } = std::mem::take(&mut self.censuses);
        self.censuses.waiting = waiting;
        let Some((_, reply)) = self.censuses.waiting.pop_front() else { return };
        let topics = topics.into_sorted().into_iter();
        // A topic may have been removed since it was checked, and another may have taken its place.
        let topics = topics.filter_map(|(_, place)| self.hub.topic_at(place));
        let topics = topics.map(|(name, members)| (name.clone(), members)).collect();
        let readers = readers.into_sorted().into_iter().filter_map(|(waiting_bytes, slot)| {
            let id = io.id_of(slot)?;
            let socket_id = self.hub.socket_id(key(id)).map(Into::into);
            Some(SlowReader { shard: self.shard.0, remote: self.client(io, id), socket_id, waiting_bytes })
        });
        reply.send(ShardCensus { topics, readers: readers.collect() });
    }
}

/// Collects the largest values with their places.
struct Largest<P> {
    heap: BinaryHeap<Reverse<(usize, P)>>,
}

impl<P: Ord> Default for Largest<P> {
    fn default() -> Self {
        Largest { heap: BinaryHeap::new() }
    }
}

impl<P: Ord + Copy> Largest<P> {
    fn offer(&mut self, size: usize, place: P, count_max: usize) {
        let is_full = self.heap.len() >= count_max;
        if is_full && self.heap.peek().is_some_and(|Reverse((least, _))| size <= *least) {
            return;
        }
        if is_full {
            self.heap.pop();
        }
        self.heap.push(Reverse((size, place)));
    }

    /// Returns them, largest first.
    fn into_sorted(self) -> Vec<(usize, P)> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_those_that_sorting_all_would_find() {
        // A full cycle of a small generator: every size occurs several times, in no particular order.
        let sizes: Vec<usize> = (0..200)
            .scan(7, |state, _| {
                *state = (*state * 37 + 11) % 101;
                Some(*state)
            })
            .collect();
        for count_max in [1, 2, 19, 200, 300] {
            let mut largest = Largest::default();
            for (place, size) in sizes.iter().enumerate() {
                largest.offer(*size, place, count_max);
            }
            let mut expected = sizes.clone();
            expected.sort_unstable_by_key(|size| Reverse(*size));
            expected.truncate(count_max);
            let found = largest.into_sorted();
            assert!(found.iter().all(|(size, place)| sizes[*place] == *size));
            assert_eq!(found.into_iter().map(|(size, _)| size).collect::<Vec<_>>(), expected);
        }
    }
}
