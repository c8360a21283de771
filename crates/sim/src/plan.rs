//! The parameters of one seed's node: how many shards and clients, how tight its bounds, which shards are slow.

use crate::random::Random;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// How likely each shard is to run next: some are slow.
    pub(crate) shard_weights: Vec<usize>,
    pub(crate) clients_max: usize,
    /// Topics of each kind.
    pub(crate) topics: usize,
    /// Messages that a mailbox holds before it drops what may be dropped.
    pub(crate) mailbox_max: usize,
    /// Metas beyond which a topic's presence is only counted.
    pub(crate) people_max: usize,
    /// Minimum number of members of a crowd, a topic whose deliveries wait for a turn.
    pub(crate) crowd_members_min: usize,
    pub(crate) steps: usize,
    /// The most that one turn of a shard may deliver.
    pub(crate) budget_max: usize,
    /// How many of a hundred steps clients take; the server takes the rest.
    pub(crate) clients_percent: usize,
}

impl Plan {
    pub(crate) fn draw(random: &mut Random) -> Plan {
        let shards = random.between(1, 4);
        Plan {
            shard_weights: (0..shards).map(|_| random.pick(&[1, 4, 10])).collect(),
            clients_max: random.pick(&[4, 10, 20, 30]),
            topics: random.pick(&[1, 1, 2, 3]),
            mailbox_max: random.pick(&[2, 10, 50, usize::MAX, usize::MAX, usize::MAX]),
            people_max: random.pick(&[3, 6, 500, 500]),
            crowd_members_min: random.pick(&[1, 2, 4, usize::MAX]),
            steps: random.between(200, 1_000),
            budget_max: random.pick(&[1, 3, 10, 30]),
            clients_percent: random.pick(&[30, 50, 70]),
        }
    }

    pub(crate) fn shards(&self) -> usize {
        self.shard_weights.len()
    }
}
