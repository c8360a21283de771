//! The parameters of one seed's server and disk.

use crate::random::Random;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) shards: usize,
    pub(super) clients: usize,
    pub(super) rooms: usize,
    /// Messages that a mailbox holds before it drops what it may.
    pub(super) mailbox_max: usize,
    /// Requests that may wait for the writer, and as many for the readers, before the store is busy.
    pub(super) queue_max: usize,
    /// The most requests in one transaction.
    pub(super) group_max: usize,
    /// How many of a hundred transactions fail.
    pub(super) failing_percent: usize,
    /// How many of a hundred commits succeed while the writer is told that they failed.
    pub(super) unheard_percent: usize,
    /// How many of a thousand steps kill the process.
    pub(super) kill_permille: usize,
    /// Whether everybody has joined before anything goes wrong.
    pub(super) begins_at_rest: bool,
    pub(super) steps: usize,
}

impl Plan {
    pub(super) fn draw(random: &mut Random) -> Plan {
        Plan {
            shards: random.between(1, 3),
            clients: random.pick(&[2, 3, 5]),
            rooms: random.pick(&[1, 1, 2]),
            mailbox_max: random.pick(&[2, 5, usize::MAX, usize::MAX]),
            queue_max: random.pick(&[2, 8, 100, 100]),
            group_max: random.pick(&[1, 3, 10]),
            failing_percent: random.pick(&[0, 0, 5, 20]),
            unheard_percent: random.pick(&[0, 0, 5, 20]),
            kill_permille: random.pick(&[0, 5, 15]),
            begins_at_rest: random.percent(70),
            steps: random.between(120, 320),
        }
    }

    /// Returns whether clients may miss what only a request of theirs can bring: if mailboxes drop nothing and every
    /// commit is reported, the server owes them everything unasked.
    pub(super) fn clients_ask(&self) -> bool {
        self.mailbox_max != usize::MAX || self.unheard_percent > 0
    }
}
