//! A store's threads (one or two that write, and readers) and the queues to them.

use crate::group::{self, Database};
use crate::halves::divide;
use crate::open_error::OpenError;
use crate::queue::Queue;
use chat::{Request, StoreError, StoreErrorKind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Weight from which a read counts as long: a search, a page of an export. Long reads have a thread of their own, so
/// that however many there are, they do not delay the reading of pages.
const LONG_READ_WEIGHT: u32 = 10;

/// Accepts requests and runs them on its threads. Dropping it waits for requests that were submitted before, unless one
/// of its own threads drops it, because an answer held the last reference to the store.
pub(crate) struct Workers {
    writes: Arc<Queue<Request>>,
    reads: Arc<Queue<Request>>,
    long_reads: Arc<Queue<Request>>,
    handles: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts without threads; up to `queue_max` requests wait in each of the three queues: writes, reads and long
    /// reads.
    pub(crate) fn new(queue_max: usize) -> Self {
        let queue = || Arc::new(Queue::new(queue_max));
        Self { writes: queue(), reads: queue(), long_reads: queue(), handles: Vec::new() }
    }

    /// Starts the thread that writes to that database: what queued up in the meantime is one transaction.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start_writer(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-writer", self.writes.clone(), group::WEIGHT_MAX, run_on(database))
    }

    /// Like [`start_writer`](Self::start_writer) over two connections: if only messages have queued up, each stores
    /// those of some of the conversations, concurrently. Later requests wait for both, so that the order of arrival is
    /// kept.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start_writers<D: Database + Send + 'static>(
        &mut self,
        [database, other]: [D; 2],
    ) -> Result<(), OpenError> {
        let beside = self.start_beside(other)?;
        let mut run = run_on(database);
        self.start("store-writer", self.writes.clone(), 2 * group::WEIGHT_MAX, move |requests| {
            match divide(requests) {
                Err(all) => run(all),
                Ok([own, others]) => match beside.requests.send(others) {
                    Ok(()) => {
                        run(own);
                        // Fails if that thread has died; then its requests were dropped.
                        let _ = beside.ended.recv();
                    }
                    Err(SendError(others)) => {
                        run(own);
                        run(others);
                    }
                },
            }
        })
    }

    fn start_beside(&mut self, database: impl Database + Send + 'static) -> Result<Beside, OpenError> {
        let (requests, work) = sync_channel::<Vec<Request>>(1);
        let (end, ended) = sync_channel(1);
        let mut run = run_on(database);
        self.spawn("store-beside", move || {
            while let Ok(requests) = work.recv() {
                run(requests);
                if end.send(()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Beside { requests, ended })
    }

    /// Starts a thread that reads from that database, one request after another.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start_reader(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-reader", self.reads.clone(), 1, run_on(database))
    }

    /// Like [`start_reader`](Self::start_reader), for long reads.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start_long_reader(
        &mut self,
        database: impl Database + Send + 'static,
    ) -> Result<(), OpenError> {
        self.start("store-long", self.long_reads.clone(), 1, run_on(database))
    }

    /// Starts a thread that runs batches of up to `weight_max` from the queue, until it is closed.
    fn start(
        &mut self,
        name: &str,
        queue: Arc<Queue<Request>>,
        weight_max: u32,
        mut run: impl FnMut(Vec<Request>) + Send + 'static,
    ) -> Result<(), OpenError> {
        self.spawn(name, move || {
            let _abandoned = Abandoned(&queue);
            while let Some(requests) = queue.take(weight_max) {
                run(requests);
            }
        })
    }

    fn spawn(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        let handle = started.map_err(|error| {
            StoreError::new(
                StoreErrorKind::Io,
                format!(
                    "a thread cannot be started: \
             {error}"
                ),
            )
        })?;
        self.handles.push(handle);
        Ok(())
    }

    /// Queues a request, or refuses it if there is no place.
    pub(crate) fn submit(&self, request: Request) {
        let queue = match request {
            Request::Append(_) | Request::Write(_) => &self.writes,
            Request::Read(_) if request.weight() >= LONG_READ_WEIGHT => &self.long_reads,
            Request::Read(_) => &self.reads,
        };
        if let Err((request, trouble)) = queue.push(request) {
            request.refuse(trouble);
        }
    }
}

fn run_on(mut database: impl Database) -> impl FnMut(Vec<Request>) {
    move |requests| group::run(&mut database, requests)
}

/// A second thread that runs part of what the writer has taken.
struct Beside {
    requests: SyncSender<Vec<Request>>,
    ended: Receiver<()>,
}

/// Abandons the queue if its thread panics, so that waiting callers get an answer. A thread that ends normally leaves a
/// closed, empty queue.
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
        self.long_reads.close();
        let own = std::thread::current().id();
        if self.handles.iter().any(|handle| handle.thread().id() == own) {
            return;
        }
        for handle in self.handles.drain(..) {
            // A panic was already reported, and its queue was abandoned.
            let _ = handle.join();
        }
    }
}
