//! How sockets move between a shard and the control plane: as plain moves if both share a descriptor table, else
//! through the kernel.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConnection;

use crate::control_queue::{ControlQueue, ControlRequest};
use crate::driver::ListenerIndex;
use crate::handoff::HandedOff;
use crate::transfer::{Link, PendingTransfers};

/// How long to wait before retrying sockets that the kernel did not accept, in case no edge comes.
pub(crate) const LINK_RETRY: Duration = Duration::from_millis(10);

/// An order from the control plane to a shard.
pub(crate) enum ShardCommand<S> {
    Adopt(Arrival<S>, OwnedFd),
    StopAccepting,
    ShutDown,
}

/// What accompanies a socket that a shard is to adopt.
pub(crate) struct Arrival<S> {
    pub(crate) tls: Option<Box<ServerConnection>>,
    pub(crate) remote: SocketAddr,
    pub(crate) unread: Vec<u8>,
    pub(crate) seed: S,
}

/// What accompanies a socket that leaves its shard.
pub(crate) struct Departure {
    remote: SocketAddr,
    listener: ListenerIndex,
    unread: Vec<u8>,
}

impl Departure {
    /// Reunites the state with its socket.
    pub(crate) fn complete(self, socket: OwnedFd) -> HandedOff {
        let Self { remote, listener, unread } = self;
        HandedOff { stream: TcpStream::from(socket), remote, listener, unread }
    }
}

/// The shard's end of the path to and from the control plane.
pub(crate) enum ControlPath<S> {
    /// A shared descriptor table: arrivals come as [`ShardCommand::Adopt`].
    Open(Arc<ControlQueue>),
    /// Separate tables.
    Guarded {
        link: Link,
        arrivals: Arc<PendingTransfers<Arrival<S>>>,
        departures: Arc<PendingTransfers<Departure>>,
    },
}

impl<S> ControlPath<S> {
    pub(crate) fn depart(&mut self, leaving: HandedOff) {
        match self {
            Self::Open(control_queue) => control_queue.put(ControlRequest::Welcome(leaving)),
            Self::Guarded { link, departures, .. } => {
                let HandedOff { stream, remote, listener, unread } = leaving;
                let token = departures.enter(Departure { remote, listener, unread });
                link.push(token, stream.into());
            }
        }
    }

    /// Returns everything that came through the kernel since the last call.
    pub(crate) fn arrivals(&mut self) -> Vec<(Arrival<S>, Option<OwnedFd>)> {
        let Self::Guarded { link, arrivals, .. } = self else { return Vec::new() };
        let mut arrived = Vec::new();
        report(link.receive(&mut arrived));
        arrived.into_iter().filter_map(|(token, socket)| Some((arrivals.claim(token)?, socket))).collect()
    }

    pub(crate) fn flush(&mut self) {
        if let Self::Guarded { link, .. } = self
            && link.is_waiting()
        {
            report(link.flush());
        }
    }

    /// Returns how soon to call [`ControlPath::flush`] again.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Guarded { link, .. } if link.is_waiting() => Some(LINK_RETRY),
            Self::Guarded { .. } | Self::Open(_) => None,
        }
    }
}

/// Logs a failure. A link fails only when the kernel is out of memory or the other end is gone; either way the sockets
/// stay queued.
pub(crate) fn report(outcome: io::Result<()>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "sockets could not be passed between a shard and the control plane");
    }
}
