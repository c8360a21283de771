//! Chooses the shards that new connections go to.
//!
//! By itself, the kernel chooses among all listeners of an address by a hash. With many more shards than processors, a
//! crowd that arrives then wakes a shard for each connection, and once more for the upgrade and the join that follow. So
//! the kernel is told to choose among a few shards, and when these have accepted their part, among the next few. In the
//! long run all get as many.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::config::BACKLOG;
use crate::{machine, sys};

/// Shards that are chosen from at a time, for each processor.
const CHOSEN_PER_PROCESSOR: usize = 1;
/// Connections for each of them before the next are chosen, on average.
const CONNECTIONS_EACH: u64 = 128;
/// Room for connections that a shard must have for a choice to be made. While those chosen wait for a processor, more come
/// than their part, as many as their backlogs hold, and a shard that is full refuses.
const ROOM_MIN: usize = BACKLOG as usize;

/// The choice among one address's listeners, of which each shard has one.
pub(crate) struct Steering {
    shards: u32,
    /// How many are chosen from at a time.
    chosen: u32,
    connections_each: u64,
    /// Connections accepted by all shards.
    accepted: AtomicU64,
    /// Whether it has been logged that the kernel refuses to be told.
    told: AtomicBool,
}

impl Steering {
    /// Returns the choice for this number of shards; `None` if each has a processor, and the kernel's hash serves best.
    pub(crate) fn new(shards: usize) -> Option<Arc<Self>> {
        let processors = machine::cores().unwrap_or(1);
        Self::with(shards, processors * CHOSEN_PER_PROCESSOR, CONNECTIONS_EACH).map(Arc::new)
    }

    fn with(shards: usize, chosen: usize, connections_each: u64) -> Option<Self> {
        let (shards, chosen) = (u32::try_from(shards).ok()?, u32::try_from(chosen).ok()?);
        (shards > chosen).then(|| Self {
            shards,
            chosen,
            connections_each,
            accepted: AtomicU64::new(0),
            told: AtomicBool::new(false),
        })
    }

    /// Counts connections that this listener's shard has accepted, and chooses the next shards if the present ones have
    /// had their part. If this one has little `room` for more, all shards have, and the choice is left to the kernel's hash.
    /// Two shards that do so at once leave either choice, and each is as good.
    pub(crate) fn count(&self, listener: impl AsFd, accepted: u64, room: usize) {
        let part = u64::from(self.chosen) * self.connections_each;
        let before = self.accepted.fetch_add(accepted, Relaxed);
        let round = before.wrapping_add(accepted) / part;
        if round == before / part {
            return;
        }
        let first = round.wrapping_mul(u64::from(self.chosen)) % u64::from(self.shards);
        let outcome = if room < ROOM_MIN {
            sys::choose_no_listeners(listener)
        } else {
            sys::choose_listeners(listener, first as u32, self.chosen, self.shards)
        };
        if let Err(errno) = outcome
            && !self.told.swap(true, Relaxed)
        {
            tracing::info!(%errno, "the kernel distributes connections among all shards by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, TcpStream};
    use std::os::fd::OwnedFd;

    use socket2::Socket;

    use super::*;
    use crate::listen::{listen_beside, listen_first, local_address};

    fn listeners(count: usize) -> (SocketAddr, Vec<Socket>) {
        let first = listen_first((Ipv4Addr::LOCALHOST, 0).into(), None).expect("loopback has a free port");
        let address = local_address(&first).expect("it is bound");
        let beside = |_| listen_beside(address, None).expect("shards share the port");
        let all: Vec<OwnedFd> = std::iter::once(first).chain((1..count).map(beside)).collect();
        (address, all.into_iter().map(Socket::from).collect())
    }

    /// Connects once, and returns the listener that has got the connection.
    fn comes_to(address: SocketAddr, listeners: &[Socket]) -> usize {
        let _client = TcpStream::connect(address).expect("it listens");
        listeners.iter().position(|listener| listener.accept().is_ok()).expect("a connection waits")
    }

    #[test]
    fn connections_go_to_those_chosen_and_on_from_the_last_to_the_first() {
        let (address, listeners) = listeners(7);
        sys::choose_listeners(&listeners[0], 5, 3, 7).expect("the kernel knows the option");
        let mut got = [0; 7];
        for _ in 0..90 {
            got[comes_to(address, &listeners)] += 1;
        }
        assert_eq!(got[1..5], [0; 4], "{got:?}");
        assert!([got[5], got[6], got[0]].iter().all(|&connections| connections > 0), "{got:?}");
    }

    #[test]
    fn all_get_their_part_one_few_after_the_other() {
        let (address, listeners) = listeners(6);
        let steering = Steering::with(6, 2, 10).expect("more shards than are chosen");
        // Nobody is chosen at first.
        for _ in 0..20 {
            steering.count(&listeners[comes_to(address, &listeners)], 1, ROOM_MIN);
        }
        let mut got = [0; 6];
        for round in 1..=6 {
            let first = round * 2 % 6;
            for _ in 0..20 {
                let listener = comes_to(address, &listeners);
                assert!(listener == first || listener == first + 1, "{listener} in round {round}");
                got[listener] += 1;
                steering.count(&listeners[listener], 1, ROOM_MIN);
            }
        }
        assert_eq!([got[0] + got[1], got[2] + got[3], got[4] + got[5]], [40; 3]);
    }

    #[test]
    fn nobody_is_chosen_when_there_is_little_room() {
        let (address, listeners) = listeners(6);
        let steering = Steering::with(6, 1, 1).expect("more shards than are chosen");
        steering.count(&listeners[0], 1, ROOM_MIN);
        assert_eq!([(); 20].map(|()| comes_to(address, &listeners)), [1; 20]);
        for _ in 0..2 {
            steering.count(&listeners[0], 1, ROOM_MIN - 1);
        }
        let mut got = [0; 6];
        for _ in 0..300 {
            got[comes_to(address, &listeners)] += 1;
        }
        assert!(got.iter().all(|&connections| connections > 0), "{got:?}");
    }

    #[test]
    fn none_are_chosen_where_each_shard_has_a_processor() {
        assert!(Steering::with(4, 4, 1).is_none());
        assert!(Steering::with(5, 4, 1).is_some());
    }
}
