//! What serves a store: a writer's thread, and perhaps one beside it, readers' threads, and the queues to them.

use crate::group::{self, Database};
use crate::halves::divide;
use crate::open_error::OpenError;
use crate::queue::Queue;
use chat::{Request, Trouble, TroubleKind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// What a read weighs, at least, that may take long: a search, a page of an export. Such ones have a thread of their own, so
/// that no number of them keeps anybody from reading a page.
const LONG_READ_WEIGHT: u32 = 10;

/// Takes requests and has them done. Dropping it waits for what was submitted before; but not where one of its own threads
/// drops it, if an answer held the last of the store.
pub(crate) struct Workers {
    writes: Arc<Queue<Request>>,
    reads: Arc<Queue<Request>>,
    long_reads: Arc<Queue<Request>>,
    handles: Vec<JoinHandle<()>>,
}

impl Workers {
    /// None yet; up to `queue_max` requests wait for the writer, as many for the readers, and as many for the one of long reads.
    pub(crate) fn new(queue_max: usize) -> Self {
        let queue = || Arc::new(Queue::new(queue_max));
        Self { writes: queue(), reads: queue(), long_reads: queue(), handles: Vec::new() }
    }

    /// Starts the thread that writes to that database: what has queued meanwhile is one transaction.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_writer(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-writer", self.writes.clone(), group::WEIGHT_MAX, run_on(database))
    }

    /// The same over two connections: where nothing but messages has queued, each stores those of some of the conversations
    /// at the same time. What comes after them waits for both, so that everything is done in the order in which it came.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_writers<D: Database + Send + 'static>(
        &mut self,
        [database, other]: [D; 2],
    ) -> Result<(), OpenError> {
        let beside = self.start_beside(other)?;
        let mut run = run_on(database);
        self.start("store-writer", self.writes.clone(), group::WEIGHT_MAX, move |requests| {
            match divide(requests) {
                Err(all) => run(all),
                Ok([own, others]) => match beside.requests.send(others) {
                    Ok(()) => {
                        run(own);
                        // It fails where that thread has died, and has dropped what it had.
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
    /// The system has no thread left.
    pub(crate) fn start_reader(&mut self, database: impl Database + Send + 'static) -> Result<(), OpenError> {
        self.start("store-reader", self.reads.clone(), 1, run_on(database))
    }

    /// The same for reads that may take long.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start_long_reader(
        &mut self,
        database: impl Database + Send + 'static,
    ) -> Result<(), OpenError> {
        self.start("store-long", self.long_reads.clone(), 1, run_on(database))
    }

    /// Starts a thread that takes what weighs up to `weight_max` at once from the queue and does it, until it is closed.
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
        let handle = started.map_err(|error| Trouble::new(TroubleKind::Io, format!("no thread: {error}")))?;
        self.handles.push(handle);
        Ok(())
    }

    /// Queues a request, or refuses it when there is no place.
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

/// A thread that does a part of what the writer has taken.
struct Beside {
    requests: SyncSender<Vec<Request>>,
    ended: Receiver<()>,
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
        self.long_reads.close();
        let own = std::thread::current().id();
        if self.handles.iter().any(|handle| handle.thread().id() == own) {
            return;
        }
        for handle in self.handles.drain(..) {
            // A thread that has panicked has said so; its queue was abandoned.
            let _ = handle.join();
        }
    }
}
