//! Where a connection goes out to, and the socket for it.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::sys;

/// A connection to make: see [`Io::connect`](crate::Io::connect).
#[derive(Clone, Debug)]
pub struct Dial<'a> {
    /// Whom to connect to.
    pub remote: SocketAddr,
    /// The address to connect from, of the same IP version; `None` leaves it to the routes. Port 0 is any port that is
    /// free towards this peer, so that an address has all its ports for each of its peers. Another port may be one that
    /// an earlier connection left in TIME_WAIT.
    pub local: Option<SocketAddr>,
    /// How to speak TLS, and the name that the peer's certificate must have.
    pub tls: Option<(&'a Arc<ClientConfig>, ServerName<'static>)>,
    /// Bound of what the kernel keeps unread (SO_RCVBUF, which the kernel doubles for its own needs), in bytes; `None`
    /// leaves it to the kernel.
    pub receive_buffer_bytes: Option<u32>,
}

impl Dial<'_> {
    /// A plain connection to `remote`, as the kernel likes it.
    #[must_use]
    pub fn new(remote: SocketAddr) -> Self {
        Self { remote, local: None, tls: None, receive_buffer_bytes: None }
    }

    /// Makes the socket and begins to connect it. Whether that has succeeded, failed or goes on, the readiness loop
    /// tells.
    pub(crate) fn begin(&self) -> Result<OwnedFd, Errno> {
        let family = match self.remote {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        if let Some(bytes) = self.receive_buffer_bytes {
            // Before the handshake, which tells the peer how far the window may grow.
            sockopt::set_socket_recv_buffer_size(&socket, bytes as usize)?;
        }
        if let Some(local) = self.local {
            match local.port() {
                0 => sys::leave_port_to_connect(&socket)?,
                _ => sockopt::set_socket_reuseaddr(&socket, true)?,
            }
            rustix::net::bind(&socket, &local)?;
        }
        match rustix::net::connect(&socket, &self.remote) {
            // An interrupted connect goes on (connect(2)).
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }
}
