//! The parameters of one seed's cluster.

use crate::random::Random;
use hub::Retention;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) nodes: usize,
    pub(super) shards: usize,
    pub(super) bus: bool,
    pub(super) clients: usize,
    /// Topics of each kind.
    pub(super) topics: usize,
    /// Messages that a mailbox holds before it refuses or drops what it may.
    pub(super) mailbox_max: usize,
    pub(super) retention: Retention,
    pub(super) history_bytes_max: usize,
    pub(super) recovery_messages_max: usize,
    /// Time between two joins that a shard begins; 0 does not pace them.
    pub(super) join_interval_us: u64,
    pub(super) join_wait_us_max: u64,
    pub(super) steps: usize,
    /// How many of a hundred messages of the bus's pub/sub are lost silently.
    pub(super) loss_percent: usize,
    /// How many of a thousand steps inject a fault.
    pub(super) danger_permille: usize,
}

impl Plan {
    pub(super) fn draw(random: &mut Random) -> Plan {
        let bus = random.percent(70);
        let join_interval_us = random.pick(&[0, 0, 1_000, 50_000, 400_000]);
        Plan {
            nodes: if bus { random.between(1, 3) } else { 1 },
            shards: random.between(1, 3),
            bus,
            clients: random.pick(&[3, 6, 12]),
            topics: random.pick(&[1, 1, 2]),
            mailbox_max: random.pick(&[1, 3, 10, usize::MAX, usize::MAX]),
            retention: Retention {
                messages_max: random.pick(&[3, 10, 50, 1000]),
                age_us_max: random.pick(&[2_000_000, 20_000_000, 3_600_000_000, 3_600_000_000]),
                bytes_max: random.pick(&[2_000, 1 << 20, 1 << 20]),
            },
            history_bytes_max: random.pick(&[3_000, 1 << 20, 1 << 20]),
            recovery_messages_max: random.pick(&[4, 100, 1000]),
            join_interval_us,
            join_wait_us_max: join_interval_us * random.pick(&[1, 3, 100]),
            steps: random.between(300, 1_500),
            loss_percent: random.pick(&[0, 0, 5, 20]),
            danger_permille: random.pick(&[0, 5, 15, 30]),
        }
    }
}
