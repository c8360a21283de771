//! The threads of a store.

use crate::opening::OpenError;
use crate::queue::Queue;
use chat::{Trouble, TroubleKind};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Threads that take from queues. Dropping them closes the queues and waits until what was in them is done; but for the
/// thread that drops them, if an answer held the last of the store.
pub(crate) struct Threads<T> {
    queues: Vec<Arc<Queue<T>>>,
    handles: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static> Threads<T> {
    /// None yet, for these queues.
    pub(crate) fn new(queues: impl IntoIterator<Item = Arc<Queue<T>>>) -> Self {
        Self { queues: queues.into_iter().collect(), handles: Vec::new() }
    }

    /// Starts one that takes from `queue` until it is closed.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start(
        &mut self,
        name: &str,
        queue: &Arc<Queue<T>>,
        work: impl FnOnce(&Queue<T>) + Send + 'static,
    ) -> Result<(), OpenError> {
        let queue = queue.clone();
        let body = move || {
            let abandoned = Abandoned(&queue);
            work(&queue);
            // A queue that is closed has nothing left.
            drop(abandoned);
        };
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        let handle = started.map_err(|error| Trouble::new(TroubleKind::Io, format!("no thread: {error}")))?;
        self.handles.push(handle);
        Ok(())
    }
}

/// Whoever waits in a queue whose thread has died is told.
struct Abandoned<'a, T>(&'a Queue<T>);

impl<T> Drop for Abandoned<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

impl<T> Drop for Threads<T> {
    fn drop(&mut self) {
        for queue in &self.queues {
            queue.close();
        }
        let own = std::thread::current().id();
        for handle in self.handles.drain(..).filter(|handle| handle.thread().id() != own) {
            // A thread that has panicked has said so; its queue was abandoned.
            let _ = handle.join();
        }
    }
}
