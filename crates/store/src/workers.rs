//! What serves a store: a writer's thread, readers' threads, and the queues to them.

use crate::group::{self, Database};
use crate::open_error::OpenError;
use crate::queue::Queue;
use chat::{Request, Trouble, TroubleKind};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Takes requests and has them done. Dropping it waits for what was submitted before; but not for the thread that drops it,
/// if an answer held the last of the store.
pub(crate) struct Workers {
    writes: Arc<Queue<Request>>,
    reads: Arc<Queue<Request>>,
    handles: Vec<JoinHandle<()>>,
}

impl Workers {
    /// None yet; up to `queue_max` requests wait for the writer, and as many for the readers.
    pub(crate) fn new(queue_max: usize) -> Self {
        let (writes, reads) = (Arc::new(Queue::new(queue_max)), Arc::new(Queue::new(queue_max)));
        Self { writes, reads, handles: Vec::new() }
    }

    /// Starts the thread that writes to that database: what has queued meanwhile is one transaction.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_writer(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-writer", self.writes.clone(), database, group::WEIGHT_MAX)
    }

    /// Starts a thread that reads from that database, one request after another.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_reader(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-reader", self.reads.clone(), database, 1)
    }

    /// Starts a thread that takes what weighs up to `weight_max` at once from the queue, until it is closed.
    fn start(
        &mut self,
        name: &str,
        queue: Arc<Queue<Request>>,
        mut database: impl Database + Send + 'static,
        weight_max: u32,
    ) -> Result<(), OpenError> {
        let body = move || {
            let _abandoned = Abandoned(&queue);
            while let Some(requests) = queue.take(weight_max) {
                group::run(&mut database, requests);
            }
        };
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        let handle = started.map_err(|error| Trouble::new(TroubleKind::Io, format!("no thread: {error}")))?;
        self.handles.push(handle);
        Ok(())
    }

    /// Queues a request, or refuses it when there is no place.
    pub(crate) fn submit(&self, request: Request) {
        let queue = match request {
            Request::Append(_) | Request::Write(_) => &self.writes,
            Request::Read(_) => &self.reads,
        };
        if let Err((request, trouble)) = queue.push(request) {
            request.refuse(trouble);
        }
    }
}

/// Whoever waits in a queue whose thread has died is told. A thread that ends well leaves a closed queue with nothing in it.
struct Abandoned<'a>(&'a Queue<Request>);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
        let own = std::thread::current().id();
        for handle in self.handles.drain(..).filter(|handle| handle.thread().id() != own) {
            // A thread that has panicked has said so; its queue was abandoned.
            let _ = handle.join();
        }
    }
}
