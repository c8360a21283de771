//! Takes what waits for one instance, sends it together, and takes the answers: what comes meanwhile goes next.

use super::answers;
use super::commands::{Question, encode, lease};
use super::instance::Instance;
use super::leases::Leases;
use crate::failure::Failure;
use crate::limits::{BATCH_BYTES_MAX, BATCH_WEIGHT_MAX, LEASE_INTERVAL, QUESTION_WEIGHT};
use crate::session::Desk;
use hub::{BusEffect, ShardIndex};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};

/// A wish with the bytes that it was counted with.
pub(crate) type Waiting = (ShardIndex, BusEffect, usize);

pub(crate) struct Pump {
    pub(crate) index: usize,
    pub(crate) instance: Instance,
    pub(crate) queue: UnboundedReceiver<Waiting>,
    pub(crate) queued: Arc<Queued>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) desk: Desk,
}

/// What waits for one instance.
#[derive(Default)]
pub(crate) struct Queued {
    pub(crate) len: AtomicUsize,
    pub(crate) bytes: AtomicUsize,
}

impl Pump {
    /// Goes on until something is wrong.
    pub(crate) async fn run(mut self) -> Failure {
        let inbox = self.instance.inbox.clone();
        let mut renewal = interval(LEASE_INTERVAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(BATCH_WEIGHT_MAX);
        loop {
            let mut is_renewal = false;
            tokio::select! {
                biased;
                () = inbox.lost.notified() => return Failure::Unreachable("the connection was closed".to_owned()),
                _ = renewal.tick() => is_renewal = true,
                () = inbox.nodes_changed.notified() => is_renewal = true,
                first = self.queue.recv() => match first {
                    Some(first) => self.gather(first, &mut batch),
                    // The session is over.
                    None => return std::future::pending().await,
                },
            }
            if let Err(failure) = self.exchange(&mut batch, is_renewal).await {
                return failure;
            }
        }
    }

    /// Adds what goes out together with the first: what waits already, in its order, within the bounds.
    fn gather(&mut self, first: Waiting, batch: &mut Vec<Waiting>) {
        let (mut weight, mut bytes) = (weight(&first.1), first.2);
        batch.push(first);
        while weight < BATCH_WEIGHT_MAX && bytes < BATCH_BYTES_MAX {
            let Ok(next) = self.queue.try_recv() else { return };
            weight += self::weight(&next.1);
            bytes += next.2;
            batch.push(next);
        }
    }

    async fn exchange(&mut self, batch: &mut Vec<Waiting>, is_renewal: bool) -> Result<(), Failure> {
        let (mut commands, mut questions) =
            (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        if is_renewal {
            commands.push(lease(&self.instance, self.desk.node, "renew"));
            questions.push(Question::Lease);
        }
        let (count, bytes) = (batch.len(), batch.iter().map(|(_, _, bytes)| bytes).sum());
        for (shard, effect, _) in batch.drain(..) {
            encode(&self.instance, &self.desk, (shard, effect), &mut commands, &mut questions);
        }
        let answers = self.instance.exchange(commands).await;
        self.queued.len.fetch_sub(count, Relaxed);
        self.queued.bytes.fetch_sub(bytes, Relaxed);
        self.desk.numbers.queued.fetch_sub(count as u64, Relaxed);
        let mut answers = answers?.into_iter();
        for question in questions {
            if let Some(standing) = answers::tell(&self.desk, &self.instance.inbox, question, &mut answers)? {
                self.leases.stand(self.index, standing);
                self.leases.tell(&self.desk);
            }
        }
        Ok(())
    }
}

fn weight(effect: &BusEffect) -> usize {
    match effect {
        BusEffect::ReadHistory { .. } | BusEffect::ReadPeople { .. } => QUESTION_WEIGHT,
        BusEffect::Heads(heads) => heads.len(),
        BusEffect::PresenceHeads(heads) => heads.len(),
        BusEffect::People { people, .. } => 1 + people.len(),
        BusEffect::Publish(_)
        | BusEffect::Append { .. }
        | BusEffect::Interest { .. }
        | BusEffect::Present { .. } => 1,
    }
}
