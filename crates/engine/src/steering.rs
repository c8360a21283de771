//! Chooses the shards that new connections go to.
//!
//! By itself, the kernel chooses among all listeners of an address by a hash. With many more shards than processors, a
//! crowd that arrives then wakes a shard for each connection, and once more for the upgrade and the join that follow. So
//! the kernel is told to choose among a few shards, and when these have accepted their part, among the few that have the
//! fewest connections then.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::BACKLOG;
use crate::counters::ShardCounters;
use crate::{machine, sys};

/// Shards that are chosen from at a time, for each processor.
const CHOSEN_PER_PROCESSOR: usize = 1;
/// Connections for each of them before the next are chosen, on average.
const CONNECTIONS_EACH: u64 = 128;
/// Connections that may come to those chosen before they are changed, because they wait for a processor. A shard that is
/// full refuses, so as many are chosen as have room for so many between them.
const BURST: u64 = 2 * BACKLOG as u64;

/// The choice among one address's listeners, of which each shard has one.
pub(crate) struct Steering {
    shards: usize,
    /// Connections that fit into a shard's table.
    table_max: u64,
    /// How many are chosen from at a time, if they have room.
    chosen: usize,
    connections_each: u64,
    /// Of the shards that listen, in the order in which they began to: the kernel numbers their listeners by it.
    listening: Mutex<Vec<Arc<ShardCounters>>>,
    /// Connections accepted by all shards.
    accepted: AtomicU64,
    /// Whether it has been logged that the kernel refuses to be told.
    told: AtomicBool,
}

impl Steering {
    /// Returns the choice for this number of shards; `None` if each has a processor, and the kernel's hash serves best.
    pub(crate) fn new(shards: usize, table_max: usize) -> Option<Arc<Self>> {
        let processors = machine::cores().unwrap_or(1);
        Self::with(shards, table_max, processors * CHOSEN_PER_PROCESSOR, CONNECTIONS_EACH).map(Arc::new)
    }

    fn with(shards: usize, table_max: usize, chosen: usize, connections_each: u64) -> Option<Self> {
        (shards > chosen).then(|| Self {
            shards,
            table_max: table_max as u64,
            chosen,
            connections_each,
            listening: Mutex::default(),
            accepted: AtomicU64::new(0),
            told: AtomicBool::new(false),
        })
    }

    /// Notes that the shard with these counters listens since before any other.
    pub(crate) fn note_first(&self, counters: Arc<ShardCounters>) {
        self.listening().push(counters);
    }

    /// Has the shard with these counters listen.
    pub(crate) fn listen(
        &self,
        counters: &Arc<ShardCounters>,
        listen: impl FnOnce() -> io::Result<OwnedFd>,
    ) -> io::Result<OwnedFd> {
        // Under the lock, so that both orders are the same.
        let mut listening = self.listening();
        let listener = listen()?;
        listening.push(Arc::clone(counters));
        Ok(listener)
    }

    /// Counts connections that this listener's shard has accepted, and chooses anew if those chosen have had their part.
    /// Two shards that do so at once leave either choice, and each is as good.
    pub(crate) fn count(&self, listener: impl AsFd, accepted: u64) {
        let part = self.chosen as u64 * self.connections_each;
        let before = self.accepted.fetch_add(accepted, Relaxed);
        let round = before.wrapping_add(accepted) / part;
        if round == before / part {
            return;
        }
        let open: Vec<u64> = self.listening().iter().map(|counters| counters.open.load(Relaxed)).collect();
        if open.len() < self.shards {
            return;
        }
        let next = (round as usize).wrapping_mul(self.chosen) % self.shards;
        let outcome = match self.choose(&open, next) {
            Some(chosen) => sys::choose_listeners(listener, &chosen),
            None => sys::choose_no_listeners(listener),
        };
        if let Err(errno) = outcome
            && !self.told.swap(true, Relaxed)
        {
            tracing::info!(%errno, "the kernel distributes connections among all shards by itself");
        }
    }

    /// Returns which listeners to choose from, where the shards have `open` connections: those with the fewest, of equals
    /// the `next` and those after it. `None` if all are needed.
    fn choose(&self, open: &[u64], next: usize) -> Option<Vec<u32>> {
        let mut fewest: Vec<usize> = (next..open.len()).chain(0..next).collect();
        fewest.sort_by_key(|&place| open[place]);
        let has_room = |count: usize| {
            let room = self.table_max.saturating_sub(open[fewest[count - 1]]);
            room.saturating_mul(count as u64) >= BURST
        };
        let count = (self.chosen..open.len()).find(|&count| has_room(count))?;
        Some(fewest[..count].iter().map(|&place| place as u32).collect())
    }

    /// What a panic leaves is a list that is too short: nothing is chosen then.
    fn listening(&self) -> MutexGuard<'_, Vec<Arc<ShardCounters>>> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, TcpStream};

    use socket2::Socket;

    use super::*;
    use crate::counters::add;
    use crate::listen::{listen_beside, listen_first, local_address};

    const TABLE: usize = 20_000;

    /// Shards that listen at one address.
    struct Shards {
        address: SocketAddr,
        listeners: Vec<Socket>,
        counters: Vec<Arc<ShardCounters>>,
    }

    impl Shards {
        fn listening(count: usize, steering: &Steering) -> Self {
            let first =
                listen_first((Ipv4Addr::LOCALHOST, 0).into(), None).expect("loopback has a free port");
            let address = local_address(&first).expect("it is bound");
            let counters: Vec<Arc<ShardCounters>> =
                std::iter::repeat_with(Arc::default).take(count).collect();
            steering.note_first(Arc::clone(&counters[0]));
            let beside = |counters| steering.listen(counters, || listen_beside(address, None));
            let beside = counters[1..].iter().map(beside);
            let all =
                std::iter::once(Ok(first)).chain(beside).map(|socket| socket.expect("shards share the port"));
            Self { address, listeners: all.map(Socket::from).collect(), counters }
        }

        /// Connects once, and returns the shard that has got the connection.
        fn comes_to(&self) -> usize {
            let _client = TcpStream::connect(self.address).expect("it listens");
            self.listeners.iter().position(|listener| listener.accept().is_ok()).expect("a connection waits")
        }

        /// Connects once, and has the shard that has got the connection count it.
        fn connect(&self, steering: &Steering) -> usize {
            let shard = self.comes_to();
            add(&self.counters[shard].open, 1);
            steering.count(&self.listeners[shard], 1);
            shard
        }
    }

    fn steering(shards: usize, chosen: usize, connections_each: u64) -> Steering {
        Steering::with(shards, TABLE, chosen, connections_each).expect("more shards than are chosen")
    }

    #[test]
    fn connections_go_to_those_chosen() {
        let shards = Shards::listening(7, &steering(7, 3, 1));
        sys::choose_listeners(&shards.listeners[0], &[5, 2, 6]).expect("the kernel knows the option");
        let mut got = [0; 7];
        for _ in 0..90 {
            got[shards.comes_to()] += 1;
        }
        assert_eq!([got[0], got[1], got[3], got[4]], [0; 4], "{got:?}");
        assert!([got[2], got[5], got[6]].iter().all(|&connections| connections > 0), "{got:?}");
    }

    #[test]
    fn those_with_the_fewest_connections_get_the_next() {
        let steering = steering(6, 2, 10);
        let shards = Shards::listening(6, &steering);
        // Nobody is chosen at first.
        for _ in 0..20 {
            shards.connect(&steering);
        }
        add(&shards.counters[3].open, 200);
        for _ in 0..400 {
            shards.connect(&steering);
        }
        let open: Vec<u64> = shards.counters.iter().map(|counters| counters.open.load(Relaxed)).collect();
        assert_eq!(open.iter().sum::<u64>(), 620);
        assert!(open.iter().all(|&connections| connections < 250 && connections > 70), "{open:?}");
    }

    #[test]
    fn nobody_is_chosen_before_all_listen() {
        let steering = steering(6, 1, 1);
        let shards = Shards::listening(5, &steering);
        let mut got = [0; 5];
        for _ in 0..300 {
            got[shards.connect(&steering)] += 1;
        }
        assert!(got.iter().all(|&connections| connections > 0), "{got:?}");
    }

    #[test]
    fn equals_have_their_turn_and_the_fullest_waits() {
        let of = steering(6, 2, 10);
        assert_eq!(of.choose(&[7; 6], 4), Some(vec![4, 5]));
        assert_eq!(of.choose(&[7, 7, 7, 7, 7, 8], 4), Some(vec![4, 0]));
        assert_eq!(of.choose(&[9, 5, 9, 7, 9, 9], 0), Some(vec![1, 3]));
    }

    #[test]
    fn more_are_chosen_where_there_is_less_room_and_none_where_all_are_needed() {
        let of = steering(6, 2, 10);
        let table = TABLE as u64;
        for (room, count) in
            [(table, Some(2)), (BURST / 2, Some(2)), (BURST / 4, Some(4)), (BURST / 6, None), (0, None)]
        {
            let chosen = of.choose(&[table - room; 6], 0);
            assert_eq!(chosen.map(|chosen| chosen.len()), count, "{room}");
        }
        assert_eq!(of.choose(&[table, 100, table, 100, table, 200], 0), Some(vec![1, 3]));
    }

    #[test]
    fn none_are_chosen_where_each_shard_has_a_processor() {
        assert!(Steering::with(4, TABLE, 4, 1).is_none());
        assert!(Steering::with(5, TABLE, 4, 1).is_some());
    }
}
