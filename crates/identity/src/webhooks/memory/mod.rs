//! An in-memory queue: for tests, and where losing waiting messages on exit is acceptable.

mod limits;
mod lines;

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, MessageSubject, Queue, QueueError,
    UnixMillis, Waiting, WhyDead,
};
use crate::authority::Community;
use lines::{Line, Lines};

pub use limits::{MemoryLimits, QueueFull};

/// An in-memory queue; see the module.
#[derive(Debug, Default)]
pub struct MemoryQueue(Mutex<Lines>);

impl MemoryQueue {
    /// An empty queue.
    pub fn new(limits: MemoryLimits) -> Self {
        MemoryQueue(Mutex::new(Lines::new(limits)))
    }

    /// Adds an endpoint, or changes its target and secrets; also re-enables one that was gone.
    pub fn configure(&self, endpoint: Endpoint) {
        self.lines().configure(endpoint);
    }

    /// Removes an endpoint with all its waiting messages and dead letters. An attempt that is under way may still
    /// arrive.
    pub fn remove(&self, endpoint: EndpointId) {
        self.lines().remove(endpoint);
    }

    /// Removes waiting messages and dead letters of a community's endpoints that are about this person or conversation. An
    /// attempt that is under way may still arrive.
    pub fn forget(&self, community: &Community, subject: MessageSubject<'_>) {
        self.lines().forget_about(community, subject);
    }

    /// Appends a message to an endpoint's queue.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn push(&self, endpoint: EndpointId, message: Message) -> Result<(), QueueFull> {
        self.lines().push(endpoint, message)
    }

    /// An endpoint's dead letters, oldest first.
    pub fn dead_letters(&self, endpoint: EndpointId) -> Vec<DeadLetter> {
        self.lines().line(endpoint).map(|line| line.dead().cloned().collect()).unwrap_or_default()
    }

    /// The number of an endpoint's dead letters.
    pub fn dead_count(&self, endpoint: EndpointId) -> usize {
        self.lines().line(endpoint).map_or(0, |line| line.dead().len())
    }

    /// The number of waiting messages, in total.
    pub fn len(&self) -> usize {
        self.lines().all().map(|line| line.waiting.len()).sum()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue for MemoryQueue {
    async fn waiting(&self) -> Result<Vec<Waiting>, QueueError> {
        let lines = self.lines();
        let with_something = lines.all().filter(|line| !line.gone && !line.waiting.is_empty());
        let waiting = |line: &Line| Waiting {
            endpoint: line.endpoint.id,
            community: line.endpoint.community.clone(),
            not_before: line.not_before,
            failures: line.failures,
        };
        Ok(with_something.map(waiting).collect())
    }

    async fn head(&self, endpoint: EndpointId) -> Result<Option<Head>, QueueError> {
        let lines = self.lines();
        let line = lines.line(endpoint).filter(|line| !line.gone);
        Ok(line.and_then(|line| {
            let message = line.waiting.front()?.clone();
            Some(Head { endpoint: line.endpoint.clone(), message })
        }))
    }

    async fn delivered(&self, endpoint: EndpointId, message: &MessageId) -> Result<(), QueueError> {
        let mut lines = self.lines();
        if let Some(line) = lines.headed_by(endpoint, message)? {
            line.failures = 0;
            lines.take(endpoint);
        }
        Ok(())
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        attempts: u32,
        failures: u32,
        not_before: UnixMillis,
    ) -> Result<(), QueueError> {
        let mut lines = self.lines();
        if let Some(line) = lines.headed_by(endpoint, message)? {
            (line.failures, line.not_before) = (failures, not_before);
            if let Some(head) = line.waiting.front_mut() {
                head.attempts = attempts;
            }
        }
        Ok(())
    }

    async fn dead(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        why: WhyDead,
        at: UnixMillis,
    ) -> Result<(), QueueError> {
        let mut lines = self.lines();
        if let Some(line) = lines.headed_by(endpoint, message)? {
            line.gone = why == WhyDead::Gone;
            let given_up = if line.gone { line.waiting.len() } else { 1 };
            lines.give_up(endpoint, given_up, &why, at);
        }
        Ok(())
    }
}
