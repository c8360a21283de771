//! One connection as its shard keeps it: 40 bytes with a peer of 16, and a box for what only some of them need.

use std::ops::{BitOr, BitOrAssign};
use std::os::fd::OwnedFd;

use rustls::Connection as TlsSession;

use crate::driver::ListenerIndex;
use crate::outbox::Outbox;

/// A [`Connection::staged`] that says that nothing is staged.
pub(crate) const UNTOUCHED: u32 = u32::MAX;

/// What every connection has.
pub(crate) struct Connection<P> {
    pub(crate) socket: OwnedFd,
    pub(crate) generation: u32,
    /// Place among the connections that this tick's flush will visit, or [`UNTOUCHED`].
    pub(crate) staged: u32,
    pub(crate) listener: ListenerIndex,
    pub(crate) flags: Flags,
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) peer: P,
}

impl<P> Connection<P> {
    /// The box for rare things, made if there is none.
    pub(crate) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// The TLS session and the socket that it speaks through, if this connection speaks TLS.
    pub(crate) fn tls_mut(&mut self) -> Option<(&mut TlsSession, &OwnedFd)> {
        let session = self.extra.as_mut()?.tls.as_mut()?;
        Some((session, &self.socket))
    }
}

/// What a connection has only while it is needed.
#[derive(Default)]
pub(crate) struct Extra {
    /// The beginning of a message whose end has not come yet.
    pub(crate) leftover: Vec<u8>,
    /// What the kernel would not take yet.
    pub(crate) outbox: Outbox,
    pub(crate) tls: Option<Box<TlsSession>>,
}

impl Extra {
    pub(crate) fn is_vacant(&self) -> bool {
        self.leftover.is_empty() && self.outbox.is_empty() && self.tls.is_none()
    }
}

/// The states that a connection may be in, any of them at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const NONE: Self = Self(0);
    /// Something waits in the outbox or in the TLS session for the kernel to take it, or would have to: nothing can be
    /// written before the connection is made.
    pub(crate) const QUEUED: Self = Self(1);
    /// Reads and writes go through a TLS session.
    pub(crate) const TLS: Self = Self(1 << 1);
    /// Our side is closing: the driver says nothing more on it and hears nothing more from it.
    pub(crate) const CLOSING: Self = Self(1 << 2);
    /// Everything was sent and our side is shut.
    pub(crate) const SHUT: Self = Self(1 << 3);
    /// Its end has been decided and comes before the next driver call that could name it.
    pub(crate) const DOOMED: Self = Self(1 << 4);
    /// The outbox went beyond its limit.
    pub(crate) const OVERFLOWED: Self = Self(1 << 5);
    /// It is on the shard's list of those with more to read, or in the line of those whose peers are gone.
    pub(crate) const READY: Self = Self(1 << 6);
    /// The peer's last byte has reached the kernel, so reading goes on until it is found.
    pub(crate) const PEER_DONE: Self = Self(1 << 7);
    /// The readiness loop knows the socket.
    pub(crate) const REGISTERED: Self = Self(1 << 8);
    /// The TLS session has said that nothing more will be sent.
    pub(crate) const NOTIFIED: Self = Self(1 << 9);
    /// The kernel has not connected the socket yet.
    pub(crate) const CONNECTING: Self = Self(1 << 10);
    /// It goes out from here and is not established yet: it is connecting or in its TLS handshake.
    pub(crate) const OPENING: Self = Self(1 << 11);
    /// The driver does not want to hear of it for a while.
    pub(crate) const PAUSED: Self = Self(1 << 12);
    /// The TLS session may hold decrypted bytes that it was paused before.
    pub(crate) const DECRYPTED: Self = Self(1 << 13);
    /// When it was asked for last, the kernel had something for the peer that it had not taken; nothing was added since.
    pub(crate) const UNREAD: Self = Self(1 << 14);

    /// Any of these forbids that the driver says more.
    pub(crate) const MUTE: Self = Self(Self::CLOSING.0 | Self::DOOMED.0 | Self::OVERFLOWED.0);
    /// Any of these forbids to write to the socket past the queues.
    pub(crate) const INDIRECT: Self = Self(Self::MUTE.0 | Self::QUEUED.0 | Self::TLS.0);

    /// Whether any of `flags` is set.
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
