//! A queue in memory: for tests, and for who can bear to lose what waits when the server ends.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::queue::{
    DeadLetter, Endpoint, EndpointId, Head, Message, MessageId, Queue, QueueError, UnixMillis, Waiting,
    WhyDead,
};

/// Bounds of a [`MemoryQueue`].
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    /// Messages that may wait for one endpoint. Past it a new one is refused.
    pub waiting_per_endpoint_max: usize,
    /// Bytes of all bodies that wait. Past it a new one is refused.
    pub bytes_max: usize,
    /// Dead letters that are kept for each endpoint. Past it the oldest is forgotten.
    pub dead_per_endpoint_max: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        MemoryLimits { waiting_per_endpoint_max: 10_000, bytes_max: 64 << 20, dead_per_endpoint_max: 100 }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct MemoryQueue {
    limits: MemoryLimits,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    by_endpoint: HashMap<EndpointId, Line>,
    bytes: usize,
}

#[derive(Debug)]
struct Line {
    endpoint: Endpoint,
    gone: bool,
    waiting: VecDeque<Message>,
    dead: VecDeque<DeadLetter>,
    not_before: UnixMillis,
    failures: u32,
}

impl MemoryQueue {
    /// An empty queue.
    pub fn new(limits: MemoryLimits) -> Self {
        MemoryQueue { limits, lines: Mutex::default() }
    }

    /// Makes an endpoint known, or changes where it is and what it is signed with; also after it was gone.
    pub fn configure(&self, endpoint: Endpoint) {
        let mut lines = self.lines();
        if let Some(line) = lines.by_endpoint.get_mut(&endpoint.id) {
            (line.endpoint, line.gone) = (endpoint, false);
            return;
        }
        let line = Line {
            endpoint: endpoint.clone(),
            gone: false,
            waiting: VecDeque::new(),
            dead: VecDeque::new(),
            not_before: UnixMillis(0),
            failures: 0,
        };
        lines.by_endpoint.insert(endpoint.id, line);
    }

    /// Forgets an endpoint with all that waits for it and all that was given up. Nothing waits for it any more; an attempt that
    /// is under way may still arrive.
    pub fn remove(&self, endpoint: EndpointId) {
        let mut lines = self.lines();
        let Some(line) = lines.by_endpoint.remove(&endpoint) else { return };
        lines.bytes -= line.waiting.iter().map(|message| message.body.len()).sum::<usize>();
    }

    /// Puts a message at the end of an endpoint's line.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn push(&self, endpoint: EndpointId, message: Message) -> Result<(), QueueFull> {
        let mut lines = self.lines();
        if lines.bytes + message.body.len() > self.limits.bytes_max {
            return Err(QueueFull::Bytes);
        }
        let line =
            lines.by_endpoint.get_mut(&endpoint).filter(|line| !line.gone).ok_or(QueueFull::NoEndpoint)?;
        if line.waiting.len() >= self.limits.waiting_per_endpoint_max {
            return Err(QueueFull::Messages);
        }
        let bytes = message.body.len();
        line.waiting.push_back(message);
        lines.bytes += bytes;
        Ok(())
    }

    /// What was given up of an endpoint, the oldest first.
    pub fn dead_letters(&self, endpoint: EndpointId) -> Vec<DeadLetter> {
        let lines = self.lines();
        lines.by_endpoint.get(&endpoint).map(|line| line.dead.iter().cloned().collect()).unwrap_or_default()
    }

    /// How many messages wait, all together.
    pub fn len(&self) -> usize {
        self.lines().by_endpoint.values().map(|line| line.waiting.len()).sum()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a line whose oldest message is the one that is meant; with any other the attempt was
    /// somebody else's. What is done says how many bytes of bodies it has taken out. Of an endpoint that was removed
    /// meanwhile there is nothing left to do.
    fn with_head(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        act: impl FnOnce(&mut Line) -> usize,
    ) -> Result<(), QueueError> {
        let mut lines = self.lines();
        let Lines { by_endpoint, bytes } = &mut *lines;
        let Some(line) = by_endpoint.get_mut(&endpoint) else { return Ok(()) };
        if line.waiting.front().is_none_or(|head| head.id != *message) {
            return Err(QueueError(format!("{} is not the oldest of its endpoint", message.0)));
        }
        *bytes -= act(line);
        Ok(())
    }
}

impl Queue for MemoryQueue {
    async fn waiting(&self) -> Result<Vec<Waiting>, QueueError> {
        let lines = self.lines();
        let with_something = lines.by_endpoint.values().filter(|line| !line.gone && !line.waiting.is_empty());
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
        let line = lines.by_endpoint.get(&endpoint).filter(|line| !line.gone);
        Ok(line.and_then(|line| {
            let message = line.waiting.front()?.clone();
            Some(Head { endpoint: line.endpoint.clone(), message })
        }))
    }

    async fn delivered(&self, endpoint: EndpointId, message: &MessageId) -> Result<(), QueueError> {
        self.with_head(endpoint, message, |line| {
            line.failures = 0;
            line.waiting.pop_front().map_or(0, |message| message.body.len())
        })
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        attempts: u32,
        failures: u32,
        not_before: UnixMillis,
    ) -> Result<(), QueueError> {
        self.with_head(endpoint, message, |line| {
            (line.failures, line.not_before) = (failures, not_before);
            if let Some(head) = line.waiting.front_mut() {
                head.attempts = attempts;
            }
            0
        })
    }

    async fn dead(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        why: WhyDead,
        at: UnixMillis,
    ) -> Result<(), QueueError> {
        let dead_max = self.limits.dead_per_endpoint_max;
        self.with_head(endpoint, message, |line| {
            line.gone = why == WhyDead::Gone;
            let given_up = if line.gone { line.waiting.len() } else { 1 };
            let mut bytes = 0;
            for message in line.waiting.drain(..given_up) {
                bytes += message.body.len();
                line.dead.push_back(DeadLetter { message, why: why.clone(), at });
            }
            let surplus = line.dead.len().saturating_sub(dead_max);
            line.dead.drain(..surplus);
            bytes
        })
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFull {
    /// As many wait for the endpoint as may.
    Messages,
    /// The bodies that wait have as many bytes as they may.
    Bytes,
    /// There is no such endpoint, or it is gone.
    NoEndpoint,
}

impl fmt::Display for QueueFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            QueueFull::Messages => "too many webhooks wait for this endpoint",
            QueueFull::Bytes => "too many bytes of webhooks wait",
            QueueFull::NoEndpoint => "there is no such endpoint, or it said that it is gone",
        })
    }
}

impl std::error::Error for QueueFull {}
