//! Passes work from the shards to the control plane.
//!
//! A shard with a descriptor table of its own must not wake the control plane's runtime directly: the number of the
//! descriptor that wakes it refers to another file in that table. So the work of such shards goes through a thread in
//! the main table, which they wake without descriptors. If all threads share one table, the work runs at once.

use engine::Tables;
use std::sync::mpsc;
use std::thread;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Runs closures that wake the control plane, those of one shard in order. The closures must not block.
#[derive(Clone)]
pub(crate) enum Relay {
    /// On the calling thread.
    AtOnce,
    /// On a thread in the main descriptor table.
    Thread(mpsc::Sender<Job>),
}

impl Relay {
    /// Starts the thread, if one is needed; it ends when the last relay is dropped.
    pub(crate) fn start(tables: Tables) -> std::io::Result<Relay> {
        if tables == Tables::Shared {
            return Ok(Relay::AtOnce);
        }
        let (jobs, inbox) = mpsc::channel::<Job>();
        thread::Builder::new().name("relay".to_owned()).stack_size(256 << 10).spawn(move || {
            for job in inbox {
                job();
            }
        })?;
        Ok(Relay::Thread(jobs))
    }

    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        match self {
            Relay::AtOnce => job(),
            // Fails only when the thread is gone, which means that the process is ending.
            Relay::Thread(jobs) => drop(jobs.send(Box::new(job))),
        }
    }

    /// Creates the channel on which a shard answers one question of the control plane.
    pub(crate) fn question<T: Send + 'static>(&self) -> (Reply<T>, oneshot::Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (Reply { sender: Some(sender), relay: self.clone() }, receiver)
    }
}

/// The answer to one question. If it is dropped without an answer, the asker is notified.
pub(crate) struct Reply<T: Send + 'static> {
    sender: Option<oneshot::Sender<T>>,
    relay: Relay,
}

impl<T: Send + 'static> Reply<T> {
    /// Returns whether nobody waits for the answer any more.
    pub(crate) fn is_unwanted(&self) -> bool {
        self.sender.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    pub(crate) fn send(mut self, answer: T) {
        if let Some(sender) = self.sender.take() {
            self.relay.run(move || drop(sender.send(answer)));
        }
    }
}

impl<T: Send + 'static> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.relay.run(move || drop(sender));
        }
    }
}
