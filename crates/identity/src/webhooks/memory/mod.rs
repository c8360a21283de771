//! A queue in memory: for tests, and for who can bear to lose what waits when the server ends.

mod limits;
mod lines;

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, Queue, QueueError, UnixMillis, Waiting,
    WhyDead,
};
use crate::authority::Community;
use lines::{Line, Lines};

pub use limits::{MemoryLimits, QueueFull};

/// See the module.
#[derive(Debug, Default)]
pub struct MemoryQueue(Mutex<Lines>);

impl MemoryQueue {
    /// An empty queue.
    pub fn new(limits: MemoryLimits) -> Self {
        MemoryQueue(Mutex::new(Lines::new(limits)))
    }

    /// Makes an endpoint known, or changes where it is and what it is signed with; also after it was gone.
    pub fn configure(&self, endpoint: Endpoint) {
        self.lines().configure(endpoint);
    }

    /// Forgets an endpoint with all that waits for it and all that was given up. Nothing waits for it any more; an attempt that
    /// is under way may still arrive.
    pub fn remove(&self, endpoint: EndpointId) {
        self.lines().remove(endpoint);
    }

    /// Forgets what waits for a community's endpoints and tells of a person, and what was given up of it. An attempt that is
    /// under way may still arrive.
    pub fn forget(&self, community: &Community, person: &str) {
        self.lines().forget_person(community, person);
    }

    /// Puts a message at the end of an endpoint's line.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn push(&self, endpoint: EndpointId, message: Message) -> Result<(), QueueFull> {
        self.lines().push(endpoint, message)
    }

    /// What was given up of an endpoint, the oldest first.
    pub fn dead_letters(&self, endpoint: EndpointId) -> Vec<DeadLetter> {
        self.lines().line(endpoint).map(|line| line.dead().cloned().collect()).unwrap_or_default()
    }

    /// How many that are.
    pub fn dead_count(&self, endpoint: EndpointId) -> usize {
        self.lines().line(endpoint).map_or(0, |line| line.dead().len())
    }

    /// How many messages wait, all together.
    pub fn len(&self) -> usize {
        self.lines().all().map(|line| line.waiting.len()).sum()
    }

    /// Whether none waits.
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
