//! What serves a store: a writer's thread, readers' threads, and the queues to them.

use crate::group::{self, Database};
use crate::opening::OpenError;
use crate::queue::Queue;
use crate::threads::Threads;
use chat::Request;
use std::sync::Arc;

/// Takes requests and has them done. Dropping it waits for what was submitted before.
pub(crate) struct Workers {
    writes: Arc<Queue<Request>>,
    reads: Arc<Queue<Request>>,
    threads: Threads<Request>,
}

impl Workers {
    /// None yet; up to `queue_max` requests wait for the writer, and as many for the readers.
    pub(crate) fn new(queue_max: usize) -> Self {
        let writes = Arc::new(Queue::new(queue_max));
        let reads = Arc::new(Queue::new(queue_max));
        let threads = Threads::new([writes.clone(), reads.clone()]);
        Self { writes, reads, threads }
    }

    /// Starts the thread that writes to that database: what has queued meanwhile is one transaction.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_writer(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.threads.start("store-writer", &self.writes, serve(database, group::REQUESTS_MAX))
    }

    /// Starts a thread that reads from that database, one request after another.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_reader(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.threads.start("store-reader", &self.reads, serve(database, 1))
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

fn serve(mut database: impl Database, requests_max: usize) -> impl FnOnce(&Queue<Request>) {
    move |queue| {
        while let Some(requests) = queue.take(requests_max) {
            group::run(&mut database, requests);
        }
    }
}
