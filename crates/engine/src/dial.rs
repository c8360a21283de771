//! The destination of an outgoing connection, the socket for it and its TLS session.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection as TlsSession};

use crate::sys;

/// A connection to make: see [`Io::connect`](crate::Io::connect).
#[derive(Clone, Debug)]
pub struct Dial<'a> {
    /// The peer to connect to.
    pub remote: SocketAddr,
    /// The address to connect from, of the same IP version; `None` leaves it to routing. Port 0 is any port that is
    /// free towards this peer, so that an address has all its ports for each of its peers. Another port may be one that
    /// an earlier connection left in TIME_WAIT.
    pub local: Option<SocketAddr>,
    /// How to use TLS, and the name that the peer's certificate must match.
    pub tls: Option<(&'a Arc<ClientConfig>, ServerName<'static>)>,
    /// Bound of the kernel's receive buffer (SO_RCVBUF, which the kernel doubles for its own needs), in bytes; `None`
    /// leaves it to the kernel.
    pub receive_buffer_bytes: Option<u32>,
}

impl Dial<'_> {
    /// Describes a plain connection to `remote`, with the kernel's defaults.
    #[must_use]
    pub fn new(remote: SocketAddr) -> Self {
        Self { remote, local: None, tls: None, receive_buffer_bytes: None }
    }

    /// Creates the socket and begins to connect it. Meanwhile creates the TLS session, if there is one.
    pub(crate) fn begin(&self) -> io::Result<(OwnedFd, Option<Box<TlsSession>>)> {
        let socket = self.begin_socket()?;
        Ok((socket, self.session()?))
    }

    /// Creates the socket and begins to connect it. The readiness loop reports whether that succeeds, unless it fails
    /// at once.
    fn begin_socket(&self) -> Result<OwnedFd, Errno> {
        let family = match self.remote {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        if let Some(bytes) = self.receive_buffer_bytes {
            // Set before the handshake, which tells the peer how far the window may grow (window scaling).
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
            // An interrupted connect continues (connect(2)).
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }

    fn session(&self) -> io::Result<Option<Box<TlsSession>>> {
        let Some((config, name)) = &self.tls else { return Ok(None) };
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let session = ClientConnection::new(Arc::clone(config), name.clone()).map_err(invalid)?;
        Ok(Some(Box::new(session.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    use socket2::SockRef;

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        (listener, address)
    }

    #[test]
    fn a_socket_does_not_delay_and_does_not_block() {
        let (_listener, remote) = listener();
        let socket = Dial::new(remote).begin_socket().expect("it listens");
        let socket = SockRef::from(&socket);
        assert!(socket.tcp_nodelay().expect("a TCP option"));
        assert!(socket.nonblocking().expect("a flag"));
    }

    #[test]
    fn the_kernel_keeps_no_more_unread_than_it_is_told() {
        let (_listener, remote) = listener();
        let dial = Dial { receive_buffer_bytes: Some(8192), ..Dial::new(remote) };
        let socket = dial.begin_socket().expect("it listens");
        // socket(7): the kernel doubles the value, and reports the doubled one.
        assert_eq!(SockRef::from(&socket).recv_buffer_size().expect("an option"), 2 * 8192);
    }

    #[test]
    fn a_port_is_chosen_when_the_peer_is_known() {
        let (_listener, remote) = listener();
        let local = (Ipv4Addr::new(127, 0, 0, 7), 0).into();
        let dial = Dial { local: Some(local), ..Dial::new(remote) };
        let socket = dial.begin_socket().expect("it listens");
        let bound = SockRef::from(&socket).local_addr().expect("it is bound");
        let bound = bound.as_socket().expect("an internet address");
        assert_eq!(bound.ip(), local.ip());
        assert_ne!(bound.port(), 0);

        let unconnected =
            rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        sys::leave_port_to_connect(&unconnected).expect("the kernel knows the option");
        rustix::net::bind(&unconnected, &local).expect("a loopback address");
        let bound = SockRef::from(&unconnected).local_addr().expect("it is bound");
        assert_eq!(bound.as_socket(), Some(local), "bind took no port");
    }
}
