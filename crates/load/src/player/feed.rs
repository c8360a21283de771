//! The path of observations out of a shard: batching, blocking when the collector is slow, and accounting of that time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

use super::gauges::Gauges;
use crate::observe::{Batch, Nanos, Observation};

/// Maximum time for which an observation waits for its batch to fill.
const BATCH_AGE_MAX: Nanos = 50_000_000;
/// Number of batches that may wait for a full sink before the shard blocks.
const WAITING_MAX: usize = 16;
/// Interval at which a full sink is retried.
const RETRY_AFTER: Duration = Duration::from_millis(2);

/// Observations of one shard that have not been passed on yet.
#[derive(Debug)]
pub(crate) struct Feed {
    shard: u16,
    sink: SyncSender<Batch>,
    gauges: Arc<Gauges>,
    open: Vec<Observation>,
    opened_at: Nanos,
    waiting: VecDeque<Batch>,
}

impl Feed {
    pub(crate) fn new(shard: u16, sink: SyncSender<Batch>, gauges: Arc<Gauges>) -> Self {
        Self { shard, sink, gauges, open: Vec::new(), opened_at: 0, waiting: VecDeque::new() }
    }

    /// Adds an observation. Blocks when [`WAITING_MAX`] batches are waiting: observations are never dropped.
    pub(crate) fn push(&mut self, observation: Observation) {
        if self.open.is_empty() {
            self.opened_at = observation.at;
        }
        self.open.push(observation);
        if self.open.len() >= Batch::LEN_MAX {
            self.hand_over();
        }
    }

    /// Passes on batches that are old enough; returns after how long this must be called again.
    pub(crate) fn tend(&mut self, now: Nanos) -> Option<Duration> {
        if !self.open.is_empty() && now >= self.opened_at.saturating_add(BATCH_AGE_MAX) {
            self.hand_over();
        }
        self.offer_waiting();
        if !self.waiting.is_empty() {
            return Some(RETRY_AFTER);
        }
        let due = self.opened_at.saturating_add(BATCH_AGE_MAX);
        (!self.open.is_empty()).then(|| Duration::from_nanos(due.saturating_sub(now)))
    }

    /// Passes on everything, blocking as long as necessary.
    pub(crate) fn close(&mut self) {
        self.hand_over();
        while let Some(batch) = self.waiting.pop_front() {
            self.send(batch);
        }
    }

    fn hand_over(&mut self) {
        if !self.open.is_empty() {
            let observations = std::mem::take(&mut self.open);
            self.waiting.push_back(Batch { shard: self.shard, observations });
        }
        self.offer_waiting();
        while self.waiting.len() > WAITING_MAX {
            let Some(batch) = self.waiting.pop_front() else { return };
            self.send(batch);
        }
    }

    fn offer_waiting(&mut self) {
        while let Some(batch) = self.waiting.pop_front() {
            match self.sink.try_send(batch) {
                Ok(()) => {}
                Err(TrySendError::Full(batch)) => return self.waiting.push_front(batch),
                // The collector is gone, and with it the run's result.
                Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }

    /// Blocks until the sink accepts the batch, and counts the time.
    fn send(&self, batch: Batch) {
        let began = Instant::now();
        drop(self.sink.send(batch));
        let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.gauges.stalled_ns.fetch_add(nanos, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::observe::{Kind, NO_LABEL, NO_ROOM, Outcome};

    fn observation(at: Nanos) -> Observation {
        Observation {
            at,
            intended: 0,
            began: 0,
            message: 0,
            user: 0,
            room: NO_ROOM,
            bytes: 0,
            count: 0,
            label: NO_LABEL,
            source: 0,
            code: 0,
            kind: Kind::Arrival,
            outcome: Outcome::Ok,
        }
    }

    #[test]
    fn a_batch_leaves_when_it_is_full_or_old() {
        let (sink, source) = sync_channel(8);
        let mut feed = Feed::new(3, sink, Arc::default());
        for at in 0..Batch::LEN_MAX as u64 + 1 {
            feed.push(observation(at));
        }
        assert_eq!(
            source.try_iter().map(|batch| batch.observations.len()).collect::<Vec<_>>(),
            [Batch::LEN_MAX]
        );
        let opened = Batch::LEN_MAX as u64;
        assert_eq!(feed.tend(opened), Some(Duration::from_nanos(BATCH_AGE_MAX)));
        assert_eq!(feed.tend(opened + BATCH_AGE_MAX), None);
        assert_eq!(source.try_recv().map(|batch| (batch.shard, batch.observations.len())), Ok((3, 1)));
    }

    #[test]
    fn a_full_sink_is_waited_for_and_nothing_is_lost() {
        let (sink, source) = sync_channel(1);
        let gauges = Arc::<Gauges>::default();
        let mut feed = Feed::new(0, sink, Arc::clone(&gauges));
        let total = (WAITING_MAX + 4) * Batch::LEN_MAX;
        let reader =
            std::thread::spawn(move || source.iter().map(|batch| batch.observations.len()).sum::<usize>());
        for at in 0..total as u64 {
            feed.push(observation(at));
        }
        feed.close();
        drop(feed);
        assert_eq!(reader.join().ok(), Some(total));
    }
}
