//! What one seed's server and disk are like.

use crate::random::Random;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) shards: usize,
    pub(super) clients: usize,
    pub(super) rooms: usize,
    /// Messages that a mailbox takes before it drops what it may.
    pub(super) mailbox_max: usize,
    /// Requests that wait for the writer, and as many for the readers, before the store is busy.
    pub(super) queue_max: usize,
    /// The most requests in one transaction.
    pub(super) group_max: usize,
    /// Of a hundred transactions, how many fail.
    pub(super) failing_percent: usize,
    /// Of a hundred commits, how many are done while the writer is told that they failed.
    pub(super) unheard_percent: usize,
    /// Of a thousand steps, how many kill the process.
    pub(super) kill_permille: usize,
    /// Whether everybody is in before anything goes wrong.
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

    /// Whether clients may miss what nothing but their own question brings: where mailboxes drop nothing and every commit
    /// is heard of, the server owes them everything unasked.
    pub(super) fn clients_ask(&self) -> bool {
        self.mailbox_max != usize::MAX || self.unheard_percent > 0
    }
}
