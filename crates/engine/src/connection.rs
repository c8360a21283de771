//! One connection as its shard stores it: 40 bytes with a peer state of 16, and a box for what only some connections
//! need.

use std::ops::{BitOr, BitOrAssign};
use std::os::fd::OwnedFd;

use rustls::Connection as TlsSession;

use crate::driver::ListenerIndex;
use crate::outbox::Outbox;

/// The value of [`Connection::staged`] when nothing is staged.
pub(crate) const UNTOUCHED: u32 = u32::MAX;

/// State that every connection has.
pub(crate) struct Connection<P> {
    pub(crate) socket: OwnedFd,
    pub(crate) generation: u32,
    /// Index among the connections that this tick's flush will visit, or [`UNTOUCHED`].
    pub(crate) staged: u32,
    pub(crate) listener: ListenerIndex,
    pub(crate) flags: Flags,
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) peer: P,
}

impl<P> Connection<P> {
    /// Returns the box for rarely needed state, allocating it if there is none.
    pub(crate) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// Returns the TLS session and the socket below it, if this connection uses TLS.
    pub(crate) fn tls_mut(&mut self) -> Option<(&mut TlsSession, &OwnedFd)> {
        let session = self.extra.as_mut()?.tls.as_mut()?;
        Some((session, &self.socket))
    }
}

/// State that a connection has only while it needs it.
#[derive(Default)]
pub(crate) struct Extra {
    /// The beginning of a message whose end has not arrived yet.
    pub(crate) leftover: Vec<u8>,
    /// What the kernel has not accepted yet.
    pub(crate) outbox: Outbox,
    pub(crate) tls: Option<Box<TlsSession>>,
}

impl Extra {
    pub(crate) fn is_vacant(&self) -> bool {
        self.leftover.is_empty() && self.outbox.is_empty() && self.tls.is_none()
    }
}

/// The states of a connection; any of them may be set at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const NONE: Self = Self(0);
    /// Something waits in the outbox or in the TLS session for the kernel to accept it, or would have to: nothing can
    /// be written before the connection is established.
    pub(crate) const QUEUED: Self = Self(1);
    /// Reads and writes go through a TLS session.
    pub(crate) const TLS: Self = Self(1 << 1);
    /// Our side is closing: the driver sends nothing more on it and receives nothing more from it.
    pub(crate) const CLOSING: Self = Self(1 << 2);
    /// Everything was sent and our side is shut down.
    pub(crate) const SHUT: Self = Self(1 << 3);
    /// Its end has been decided and is handled before the next driver call that could name it.
    pub(crate) const DOOMED: Self = Self(1 << 4);
    /// The outbox exceeded its limit.
    pub(crate) const OVERFLOWED: Self = Self(1 << 5);
    /// It is on the shard's list of connections with more to read, or in the queue of those whose peers are gone.
    pub(crate) const READY: Self = Self(1 << 6);
    /// The peer's end of stream, or an error, has reached the kernel, so reading goes on until it is found.
    pub(crate) const PEER_DONE: Self = Self(1 << 7);
    /// The socket is registered with the readiness loop.
    pub(crate) const REGISTERED: Self = Self(1 << 8);
    /// The TLS session has been told to send its close_notify.
    pub(crate) const NOTIFIED: Self = Self(1 << 9);
    /// The kernel has not connected the socket yet.
    pub(crate) const CONNECTING: Self = Self(1 << 10);
    /// It is an outgoing connection and not established yet: it is connecting or in its TLS handshake.
    pub(crate) const OPENING: Self = Self(1 << 11);
    /// The driver has paused reading.
    pub(crate) const PAUSED: Self = Self(1 << 12);
    /// It was paused while the TLS session may still have held decrypted bytes.
    pub(crate) const DECRYPTED: Self = Self(1 << 13);
    /// At the last check the kernel held something that the peer had not taken; nothing was added since.
    pub(crate) const UNREAD: Self = Self(1 << 14);

    /// Any of these forbids the driver to send more.
    pub(crate) const MUTE: Self = Self(Self::CLOSING.0 | Self::DOOMED.0 | Self::OVERFLOWED.0);
    /// Any of these forbids writing to the socket directly, past the queues.
    pub(crate) const INDIRECT: Self = Self(Self::MUTE.0 | Self::QUEUED.0 | Self::TLS.0);

    /// Returns whether any of `flags` is set.
    pub(crate) const fn any(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    pub(crate) const fn remove(&mut self, flags: Self) {
        self.0 &= !flags.0;
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
