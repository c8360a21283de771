//! The store of the process: requests wait until the simulation executes them, with the real group commit.

use super::disk::Disk;
use crate::random::Random;
use chat::{Request, Store, StoreError, StoreErrorKind};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::group;

/// See the module's documentation.
pub(super) struct Queued {
    waiting: Mutex<Waiting>,
    queue_max: usize,
}

#[derive(Default)]
struct Waiting {
    writes: VecDeque<Request>,
    reads: Vec<Request>,
}

impl Queued {
    pub(super) fn new(queue_max: usize) -> Queued {
        Queued { waiting: Mutex::default(), queue_max }
    }

    /// Executes what waits for the writer, up to `group_max` requests, in one transaction. Returns how many there were.
    pub(super) fn write(&self, disk: &mut Disk, group_max: usize) -> usize {
        let requests: Vec<Request> = {
            let mut waiting = self.lock();
            let count = waiting.writes.len().min(group_max);
            waiting.writes.drain(..count).collect()
        };
        let count = requests.len();
        if count > 0 {
            group::run(disk, requests);
        }
        count
    }

    /// Executes any one read: there are several readers, and each takes its time. Returns `false` if none waits.
    pub(super) fn read(&self, disk: &mut Disk, random: &mut Random) -> bool {
        let request = {
            let mut waiting = self.lock();
            match waiting.reads.len() {
                0 => return false,
                count => waiting.reads.swap_remove(random.below(count)),
            }
        };
        group::run(disk, vec![request]);
        true
    }

    /// Returns whether something waits for the writer, and for a reader.
    pub(super) fn waiting(&self) -> (bool, bool) {
        let waiting = self.lock();
        (!waiting.writes.is_empty(), !waiting.reads.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Queued {
    fn epoch(&self) -> &str {
        "simulated"
    }

    fn submit(&self, request: Request) {
        let mut waiting = self.lock();
        let length = match &request {
            Request::Append(_) | Request::Write(_) => waiting.writes.len(),
            Request::Read(_) => waiting.reads.len(),
        };
        if length >= self.queue_max {
            // A client that is refused may ask again.
            drop(waiting);
            return request.refuse(StoreError::new(StoreErrorKind::Busy, "planned by the simulation"));
        }
        match request {
            Request::Append(_) | Request::Write(_) => waiting.writes.push_back(request),
            Request::Read(_) => waiting.reads.push(request),
        }
    }
}
