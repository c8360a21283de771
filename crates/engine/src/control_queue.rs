//! Requests to the control thread, and the queue that holds them.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use crate::driver::ShardIndex;
use crate::handoff::HandedOff;
use crate::mailbox::{Bell, Queue};
use crate::transfer::Token as TransferId;

/// A request to the control thread.
pub(crate) enum ControlRequest {
    /// Pass this socket to a shard with its own table.
    Carry {
        shard: ShardIndex,
        ticket: TransferId,
        socket: OwnedFd,
    },
    /// A connection has left a shard that shares the table.
    Welcome(HandedOff),
    Stop,
}

/// The queue of requests to the control thread.
pub(crate) struct ControlQueue {
    requests: Queue<ControlRequest>,
    bell: Bell,
}

impl ControlQueue {
    /// Creates the queue. The control thread waits for `bell`.
    pub(crate) fn new(bell: Bell) -> Self {
        Self { requests: Queue::new(), bell }
    }

    pub(crate) fn put(&self, request: ControlRequest) {
        if self.requests.push(request, usize::MAX).is_ok() {
            self.bell.ring();
        }
    }

    /// Appends all queued requests to `requests`.
    pub(crate) fn take_into(&self, requests: &mut VecDeque<ControlRequest>) {
        self.requests.take_into(requests);
        self.requests.handled(requests.len());
    }

    /// Announces that the control thread is about to wait for the bell. Returns whether there is something to do first.
    pub(crate) fn announce_sleep(&self) -> bool {
        self.bell.announce_sleep();
        self.requests.waiting() > 0
    }

    pub(crate) fn announce_awake(&self) {
        self.bell.announce_awake();
    }
}
