//! The queue of requests to an engine, and the handling of overflow.

use crate::failure::Failure;
use crate::limits::{
    BATCH_BYTES_MAX, BATCH_WEIGHT_MAX, QUESTION_WEIGHT, QUEUE_BYTES_SOFT_MAX, QUEUE_LEN_MAX,
    QUEUE_LEN_SOFT_MAX,
};
use crate::requests::Request;
use crate::session::SessionContext;
use hub::{AppendError, BusEffect, BusEvent};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The sending end.
pub(crate) struct QueueSender {
    queue: UnboundedSender<Waiting>,
    waiting: Arc<Amount>,
}

/// The receiving end, which returns several requests at a time.
pub(crate) struct QueueReceiver {
    queue: UnboundedReceiver<Waiting>,
    waiting: Arc<Amount>,
}

/// A request with the size of its payload.
struct Waiting {
    request: Request,
    bytes: usize,
}

/// The total of the requests that are not done yet.
#[derive(Default)]
struct Amount {
    len: AtomicUsize,
    bytes: AtomicUsize,
}

/// Requests that are sent together. They count as waiting until they are done.
pub(crate) struct Batch {
    pub(crate) requests: Vec<Request>,
    bytes: usize,
}

pub(crate) fn queue() -> (QueueSender, QueueReceiver) {
    let (sender, receiver) = unbounded_channel();
    let waiting = Arc::new(Amount::default());
    (QueueSender { queue: sender, waiting: waiting.clone() }, QueueReceiver { queue: receiver, waiting })
}

impl QueueSender {
    /// Queues a request, or refuses it at once if there is no room.
    pub(crate) fn offer(&self, context: &SessionContext, request: Request) -> Result<(), Failure> {
        let (len, waiting) = (self.waiting.len.load(Relaxed), self.waiting.bytes.load(Relaxed));
        let is_full = len >= QUEUE_LEN_SOFT_MAX || waiting >= QUEUE_BYTES_SOFT_MAX;
        let payload = payload_bytes(&request);
        let bytes = payload.unwrap_or_default();
        if is_full && matches!(request, Request::Lost(_)) {
            // It is reported a little later, and must not take a publication's place.
            return Ok(());
        }
        if payload.is_some() && is_full {
            context.numbers.dropped.fetch_add(1, Relaxed);
            if let Request::Effect { shard, effect: BusEffect::Append { token, .. }, .. } = request {
                let result = Err(AppendError::Overloaded);
                context.answer(shard, BusEvent::Appended { token, result });
            }
            return Ok(());
        }
        if len >= QUEUE_LEN_MAX {
            return Err(Failure::Overrun);
        }
        let is_publication = matches!(
            &request,
            Request::Effect { effect: BusEffect::Publish(_) | BusEffect::Append { .. }, .. }
        );
        context.numbers.published.fetch_add(u64::from(is_publication), Relaxed);
        context.numbers.queued.fetch_add(1, Relaxed);
        self.waiting.len.fetch_add(1, Relaxed);
        self.waiting.bytes.fetch_add(bytes, Relaxed);
        // Fails only when the receiver is gone, which ends the session.
        let _ = self.queue.send(Waiting { request, bytes });
        Ok(())
    }
}

impl QueueReceiver {
    /// Returns the next batch: waiting requests in order, within the bounds. `None` when no more will come.
    pub(crate) async fn next(&mut self) -> Option<Batch> {
        let mut batch = Batch::empty();
        let mut weight = batch.add(self.queue.recv().await?);
        while weight < BATCH_WEIGHT_MAX && batch.bytes < BATCH_BYTES_MAX {
            let Ok(next) = self.queue.try_recv() else { break };
            weight += batch.add(next);
        }
        Some(batch)
    }

    /// Removes completed requests from the count.
    pub(crate) fn done(&self, context: &SessionContext, (len, bytes): (usize, usize)) {
        self.waiting.len.fetch_sub(len, Relaxed);
        self.waiting.bytes.fetch_sub(bytes, Relaxed);
        context.numbers.queued.fetch_sub(len as u64, Relaxed);
    }
}

impl Batch {
    /// Returns an empty batch.
    pub(crate) fn empty() -> Batch {
        Batch { requests: Vec::new(), bytes: 0 }
    }

    /// Returns its number of requests and bytes.
    pub(crate) fn amount(&self) -> (usize, usize) {
        (self.requests.len(), self.bytes)
    }

    /// Adds a request and returns its weight.
    fn add(&mut self, Waiting { request, bytes }: Waiting) -> usize {
        let weight = weight(&request);
        self.bytes += bytes;
        self.requests.push(request);
        weight
    }
}

/// Returns the payload size of requests that may be refused for lack of room.
fn payload_bytes(request: &Request) -> Option<usize> {
    let Request::Effect { effect, .. } = request else { return None };
    match effect {
        BusEffect::Publish(publication) => Some(publication.payload.as_bytes().len()),
        BusEffect::Append { draft, .. } => Some(draft.payload.as_bytes().len()),
        // A receiver notices that one is missing when the next one arrives.
        BusEffect::Tell(words) => Some(words.len()),
        BusEffect::Interest { .. }
        | BusEffect::ReadHistory { .. }
        | BusEffect::Heads(_)
        | BusEffect::Present { .. }
        | BusEffect::People { .. }
        | BusEffect::ReadPeople { .. }
        | BusEffect::PresenceHeads(_)
        | BusEffect::Dismiss(_) => None,
    }
}

fn weight(request: &Request) -> usize {
    let Request::Effect { effect, .. } = request else { return 1 };
    match effect {
        BusEffect::ReadHistory { .. } | BusEffect::ReadPeople { .. } => QUESTION_WEIGHT,
        BusEffect::Heads(heads) => heads.len(),
        BusEffect::PresenceHeads(heads) => heads.len(),
        BusEffect::People { people, .. } => 1 + people.len(),
        BusEffect::Publish(_)
        | BusEffect::Append { .. }
        | BusEffect::Interest { .. }
        | BusEffect::Present { .. }
        | BusEffect::Dismiss(_)
        | BusEffect::Tell(_) => 1,
    }
}
