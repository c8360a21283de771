//! Mail between threads: a bounded queue per shard and the bell that wakes its owner.
//!
//! A sender never waits for the receiver. The bell is rung only while the shard sleeps, so mail to a busy shard costs
//! no system call.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::counters::ShardCounters;
use crate::driver::ShardIndex;
use crate::together;

/// The mailboxes of all shards, for every thread that sends to them.
#[derive(Debug)]
pub struct Mailboxes<M> {
    boxes: Arc<[Arc<Mailbox<M>>]>,
}

impl<M> Clone for Mailboxes<M> {
    fn clone(&self) -> Self {
        Self { boxes: Arc::clone(&self.boxes) }
    }
}

impl<M> Mailboxes<M> {
    pub(crate) fn new(boxes: Vec<Arc<Mailbox<M>>>) -> Self {
        Self { boxes: boxes.into() }
    }

    /// Returns the number of shards.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always at least one shard")]
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Posts control mail: never refused, never blocks. Mail to a shard that has shut down is dropped.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn post(&self, shard: ShardIndex, mail: M) {
        self.of(shard).put_always(mail);
    }

    /// Posts mail to every shard, as [`Mailboxes::post`] does.
    pub fn post_to_all(&self, mut mail: impl FnMut() -> M) {
        for mailbox in &*self.boxes {
            mailbox.put_always(mail());
        }
    }

    /// Offers ephemeral mail. Returns it, and counts it as dropped, if the mailbox already holds `mailbox_len_max`.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn offer(&self, shard: ShardIndex, mail: M) -> Result<(), M> {
        let mailbox = self.of(shard);
        mailbox.put(mail, mailbox.len_max).inspect_err(|_| {
            mailbox.counters.mailbox_dropped_total.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Returns the mailbox of one shard.
    fn of(&self, shard: ShardIndex) -> &Mailbox<M> {
        &self.boxes[usize::from(shard.0)]
    }
}

/// One shard's mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox<M> {
    queue: Queue<M>,
    bell: Arc<Bell>,
    counters: Arc<ShardCounters>,
    len_max: usize,
}

impl<M> Mailbox<M> {
    pub(crate) fn new(bell: Arc<Bell>, counters: Arc<ShardCounters>, len_max: usize) -> Self {
        Self { queue: Queue::new(), bell, counters, len_max }
    }

    fn put(&self, mail: M, len_max: usize) -> Result<(), M> {
        // Counted first: the shard may have handled the mail before `push` returns, and a count below zero would be
        // read as 2^64.
        self.counters.mailbox_depth.fetch_add(1, Ordering::Relaxed);
        self.queue.push(mail, len_max).inspect_err(|_| {
            self.counters.mailbox_depth.fetch_sub(1, Ordering::Relaxed);
        })?;
        together::ring(&self.bell);
        Ok(())
    }

    fn put_always(&self, mail: M) {
        self.put(mail, usize::MAX).unwrap_or_else(|_| unreachable!("no queue is that long"));
    }

    /// Returns whether mail is waiting, in the queue or in the shard's inbox.
    pub(crate) fn has_mail(&self) -> bool {
        self.queue.waiting() > 0
    }

    /// Appends what was posted to `inbox`.
    pub(crate) fn take_into(&self, inbox: &mut VecDeque<M>) {
        self.queue.take_into(inbox);
    }

    /// Marks `count` items of mail, which counted as waiting until now, as handled.
    pub(crate) fn handled(&self, count: usize) {
        self.queue.handled(count);
        self.counters.mailbox_depth.fetch_sub(count as u64, Ordering::Relaxed);
    }

    /// Drops what is waiting and everything that is posted from now on.
    pub(crate) fn shut(&self) {
        self.queue.shut();
    }
}

/// A multi-producer, single-consumer queue. An item counts as waiting until its reader has handled it.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    items: Mutex<Items<T>>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Items<T> {
    waiting: VecDeque<T>,
    shut: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            items: Mutex::new(Items { waiting: VecDeque::new(), shut: false }),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns the item as an error if `len_max` are already waiting.
    pub(crate) fn push(&self, item: T, len_max: usize) -> Result<(), T> {
        let mut items = self.lock();
        if items.shut {
            return Ok(());
        }
        if self.waiting.load(Ordering::Relaxed) >= len_max {
            return Err(item);
        }
        items.waiting.push_back(item);
        // Sequentially consistent, as is the reader's check between announcing its sleep and sleeping.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    pub(crate) fn take_into(&self, inbox: &mut VecDeque<T>) {
        let mut items = self.lock();
        if inbox.is_empty() {
            std::mem::swap(&mut items.waiting, inbox);
        } else {
            inbox.append(&mut items.waiting);
        }
    }

    pub(crate) fn handled(&self, count: usize) {
        self.waiting.fetch_sub(count, Ordering::SeqCst);
    }

    fn shut(&self) {
        let dropped = {
            let mut items = self.lock();
            items.shut = true;
            std::mem::take(&mut items.waiting)
        };
        drop(dropped);
    }

    fn lock(&self) -> MutexGuard<'_, Items<T>> {
        // A queue is consistent between any two of its operations, so a panic elsewhere does not make it unusable.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the one thread that waits for it in a readiness loop, if it sleeps.
///
/// The descriptor is created before any thread leaves the process's descriptor table and is never closed there, so its
/// number means the same on every thread.
#[derive(Debug)]
pub(crate) struct Bell {
    event: OwnedFd,
    asleep: AtomicBool,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, asleep: AtomicBool::new(false) })
    }

    /// Called by a sender, after its item is in the queue.
    pub(crate) fn ring(&self) {
        if !self.asleep.load(Ordering::SeqCst) || !self.asleep.swap(false, Ordering::SeqCst) {
            return;
        }
        // The loop is edge-triggered and every write is an edge, so nobody reads the count. If it is ever full, after
        // 2^64 rings, it is read once.
        while let Err(errno) = rustix::io::write(&self.event, &1u64.to_ne_bytes()) {
            match errno {
                Errno::INTR => {}
                Errno::AGAIN => drop(rustix::io::read(&self.event, &mut [0u8; 8])),
                _ => return tracing::error!(%errno, "a thread could not be woken up"),
            }
        }
    }

    /// Called by the waiting thread before it checks its queues for the last time and sleeps. Either it sees the item,
    /// or the sender sees this announcement.
    pub(crate) fn announce_sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    #[cfg(test)]
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst)
    }

    /// Called by the waiting thread when it is awake again.
    pub(crate) fn announce_awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }
}

impl AsRawFd for Bell {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Long enough for a busy machine to start a thread.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn mail_counts_as_waiting_before_its_reader_can_take_it() {
        let counters = Arc::new(ShardCounters::default());
        let bell = Arc::new(Bell::new().expect("an event"));
        let mailbox = Arc::new(Mailbox::new(bell, Arc::clone(&counters), 1));
        let depth = || counters.mailbox_depth.load(Ordering::SeqCst);
        let reader_is_excluded = mailbox.queue.lock();
        let writer = std::thread::spawn({
            let mailbox = Arc::clone(&mailbox);
            move || mailbox.put((), 1)
        });
        let begin = Instant::now();
        while depth() == 0 && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(depth(), 1);
        drop(reader_is_excluded);
        assert_eq!(writer.join().expect("no panic"), Ok(()));
        assert_eq!(mailbox.put((), 1), Err(()), "it is full");
        mailbox.handled(1);
        assert_eq!(depth(), 0);
    }
}
