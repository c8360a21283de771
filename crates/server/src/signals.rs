//! Delivers signals as messages. They are blocked in every thread and waited for in one, so that no handler ever runs:
//! a handler could notify a thread only by writing to a descriptor, and where shards have descriptor tables of their
//! own, the same number may be somebody's socket.

use nix::sys::signal::{SigSet, Signal};
use std::io;
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A request by the user to a running server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Request {
    /// SIGTERM or SIGINT: end; a second one means end at once.
    End,
    /// SIGHUP: reload the certificate.
    Reload,
}

/// The signals that the server waits for, blocked. Threads inherit the mask, so this must come before any other thread.
pub(crate) struct BlockedSignals {
    set: SigSet,
}

impl BlockedSignals {
    /// Blocks the signals in this thread and those that it starts.
    pub(crate) fn new() -> io::Result<BlockedSignals> {
        let set = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
        set.thread_block()?;
        Ok(BlockedSignals { set })
    }

    /// Starts the thread that waits. A signal that arrived earlier is not lost.
    pub(crate) fn listen(self) -> io::Result<UnboundedReceiver<Request>> {
        let (sender, receiver) = unbounded_channel();
        thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = self.set.wait() {
                let request = if signal == Signal::SIGHUP { Request::Reload } else { Request::End };
                if sender.send(request).is_err() {
                    return;
                }
            }
        })?;
        Ok(receiver)
    }
}
