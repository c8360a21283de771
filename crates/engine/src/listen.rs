//! Listening sockets: one per address and shard, which the kernel chooses between (SO_REUSEPORT), and the probe that
//! finds an address in use before any of them exists.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use socket2::{Domain, Protocol, Socket, Type};

use crate::config::BACKLOG;

/// Finds out whether `address` is free, and which port 0 stands for. With SO_REUSEPORT alone, a second server on the
/// same port would quietly share its connections with the first.
pub(crate) fn probe(address: SocketAddr) -> io::Result<SocketAddr> {
    let socket = new_socket(address)?;
    socket.bind(&address.into())?;
    let bound = socket.local_addr()?;
    bound.as_socket().ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))
}

/// A shard's own listening socket. What it accepts inherits TCP_NODELAY from it.
pub(crate) fn listen(address: SocketAddr) -> io::Result<OwnedFd> {
    let socket = new_socket(address)?;
    socket.set_reuse_port(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn new_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier server in TIME_WAIT do not keep the address.
    socket.set_reuse_address(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpStream};

    #[test]
    fn what_a_listener_accepts_does_not_delay() {
        let address = probe((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback has a free port");
        let listener = listen(address).expect("the port is free");
        let _client = TcpStream::connect(address).expect("it listens");
        let (accepted, _) = Socket::from(listener).accept().expect("a client is there");
        assert!(accepted.tcp_nodelay().expect("a TCP option"));
    }

    #[test]
    fn a_shared_port_still_counts_as_in_use() {
        let address = probe((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback has a free port");
        let _first = listen(address).expect("the port is free");
        let _second = listen(address).expect("shards share the port");
        assert_eq!(probe(address).expect_err("someone listens").kind(), io::ErrorKind::AddrInUse);
    }
}
