//! A queue in memory: for tests, and for who can bear to lose what waits when the server ends.

mod lines;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, Queue, QueueError, UnixMillis, Waiting,
    WhyDead,
};
use crate::authority::Community;
use lines::{Line, Lines};

/// Bounds of a [`MemoryQueue`].
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    /// Messages that may wait for one endpoint. Past it a new one is refused.
    pub waiting_per_endpoint_max: usize,
    /// Bytes of all bodies, those of dead letters included. Past it the oldest dead letters are forgotten; what does not fit
    /// then is refused.
    pub bytes_max: usize,
    /// The same of one community, so that none takes the others' room.
    pub bytes_per_community_max: usize,
    /// Dead letters that are kept for each endpoint. Past it the oldest is forgotten.
    pub dead_per_endpoint_max: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        MemoryLimits {
            waiting_per_endpoint_max: 10_000,
            bytes_max: 64 << 20,
            bytes_per_community_max: 8 << 20,
            dead_per_endpoint_max: 100,
        }
    }
}

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

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFull {
    /// As many wait for the endpoint as may.
    Messages,
    /// What waits has as many bytes as it may.
    Bytes,
    /// What waits for its community's endpoints has.
    BytesOfCommunity,
    /// There is no such endpoint, or it is gone.
    NoEndpoint,
}

impl fmt::Display for QueueFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            QueueFull::Messages => "too many webhooks wait for this endpoint",
            QueueFull::Bytes => "too many bytes of webhooks wait",
            QueueFull::BytesOfCommunity => "too many bytes of webhooks wait for this community's endpoints",
            QueueFull::NoEndpoint => "there is no such endpoint, or it said that it is gone",
        })
    }
}

impl std::error::Error for QueueFull {}
