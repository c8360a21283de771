//! After a driver call: reports overflows and ends that were decided during it, and passes on sockets that leave the
//! shard.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;

use crate::accept::canonical;
use crate::books::Fate;
use crate::config::{LAST_WORDS_BYTES_MAX, STAGED_BYTES_MAX};
use crate::connection::{Connection, Flags};
use crate::counters::add;
use crate::driver::{ConnectionId, Driver, EndCause, ListenerIndex};
use crate::handoff::HandedOff;
use crate::io::Io;
use crate::shard::Shard;
use crate::sockets::Sockets;
use crate::sys;

impl<D: Driver> Shard<D> {
    /// Handles what every driver call may leave behind: ends to report, and more staged than the shard wants to hold.
    pub(crate) fn after_callback(&mut self) {
        if self.sockets.staging.bytes() > STAGED_BYTES_MAX {
            self.sockets.flush();
        }
        self.settle();
    }

    /// Flushes, settles and registers outgoing connections until nothing is left to do.
    pub(crate) fn come_to_rest(&mut self) {
        self.settle();
        while !self.sockets.staging.is_empty() || !self.sockets.dialed.is_empty() {
            self.sockets.flush();
            self.await_dialed();
            self.settle();
        }
    }

    /// Reports to the driver the overflows and ends decided since the last call.
    pub(crate) fn settle(&mut self) {
        loop {
            if let Some(id) = self.sockets.books.overflowing.pop() {
                self.overflow(id);
            } else if let Some(fate) = self.sockets.books.fates.pop() {
                self.end(fate);
            } else {
                return;
            }
        }
    }

    fn overflow(&mut self, id: ConnectionId) {
        let is_open = |sockets: &Sockets<D::Peer>| {
            let connection = sockets.slab.live(id);
            connection.is_some_and(|connection| !connection.flags.any(Flags::CLOSING | Flags::DOOMED))
        };
        if is_open(&self.sockets) {
            self.driver.overflowed(&mut Io::new(&mut self.sockets), id);
        }
        if is_open(&self.sockets) {
            self.sockets.doom(id, EndCause::Overflow);
        }
    }

    fn end(&mut self, fate: Fate) {
        let Fate { id, mut cause, unread, tls_error } = fate;
        let Some(connection) = self.sockets.remove(id) else { return };
        self.sockets.capacity.leave();
        let Connection { socket, listener, flags, peer, .. } = connection;
        let mut leaving = None;
        match cause {
            EndCause::HandedOff => match self.detach(socket, flags, listener, unread) {
                Ok(connection) => leaving = Some(connection),
                Err(error) => cause = EndCause::Reset(error.kind()),
            },
            EndCause::Aborted | EndCause::Overflow | EndCause::Lingered | EndCause::Unconsumed => cut(socket),
            EndCause::PeerClosed | EndCause::Reset(_) | EndCause::Tls | EndCause::Local => {
                self.let_go(socket)
            }
            // The process ends, and its memory budget with it, so the kernel may still send what it holds.
            EndCause::Shutdown => drop(socket),
        }
        if flags.any(Flags::OVERFLOWED) && cause != EndCause::Shutdown {
            cause = EndCause::Overflow;
        }
        self.sockets.tls_error = tls_error;
        self.driver.ended(&mut Io::new(&mut self.sockets), id, peer, cause);
        self.sockets.tls_error = None;
        // Only now, or whoever takes it over might count it while the driver still does: an address at its limit would be
        // refused a connection that it may have.
        if let Some(leaving) = leaving {
            self.passage.depart(leaving);
            add(&self.sockets.books.counters.handed_off_total, 1);
        }
        self.listeners.resume();
    }

    /// Closes a socket whose peer may still take what the kernel holds for it. Where the send queues are bounded, a
    /// socket with more than [`LAST_WORDS_BYTES_MAX`] is cut instead, because nothing watches it any more.
    fn let_go(&self, socket: OwnedFd) {
        if self.sockets.books.send_room.is_bounded() && sys::send_queue_bytes(&socket) > LAST_WORDS_BYTES_MAX
        {
            cut(socket);
        }
    }

    fn detach(
        &mut self,
        socket: OwnedFd,
        flags: Flags,
        listener: ListenerIndex,
        unread: Vec<u8>,
    ) -> io::Result<HandedOff> {
        if flags.any(Flags::REGISTERED) {
            // The file lives on elsewhere, so closing the descriptor here would not remove it from the readiness loop.
            self.poll.registry().deregister(&mut SourceFd(&socket.as_raw_fd()))?;
        }
        let stream = TcpStream::from(socket);
        let remote = canonical(stream.peer_addr()?);
        Ok(HandedOff { stream, remote, listener, unread })
    }

    /// Ends every connection.
    pub(crate) fn shut_down(mut self) {
        self.post.mailbox.shut();
        self.sockets.capacity.shut();
        for slot in 0..self.sockets.slab.slots() {
            if let Some(id) = self.sockets.slab.id_of(slot) {
                self.sockets.doom(id, EndCause::Shutdown);
            }
        }
        self.answer_all_turned_away();
        self.come_to_rest();
        self.passage.flush();
    }
}

/// Closes a socket and drops what the kernel still holds for a peer that does not take it: with a linger time of zero
/// the peer gets a reset and no memory stays behind.
fn cut(socket: OwnedFd) {
    if let Err(errno) = rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO)) {
        tracing::debug!(%errno, "a socket could not be set to discard its unsent data");
    }
}
