//! Listening sockets: one per address and shard, among which the kernel distributes connections (SO_REUSEPORT).

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::config::{BACKLOG, SocketBuffers};

/// Creates the first listening socket of an address. It is exclusive until it listens: with SO_REUSEPORT from the
/// beginning, a second server on the same port would silently share its connections with the first.
pub(crate) fn listen_first(address: SocketAddr, buffers: Option<SocketBuffers>) -> io::Result<OwnedFd> {
    let socket = new_socket(address, buffers)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_reuse_port(true)?;
    Ok(socket.into())
}

/// Creates another listening socket for an address on which [`listen_first`] listens.
pub(crate) fn listen_beside(address: SocketAddr, buffers: Option<SocketBuffers>) -> io::Result<OwnedFd> {
    let socket = new_socket(address, buffers)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Returns the address that a socket listens on, with the actual port in place of port 0.
pub(crate) fn local_address(socket: impl AsFd) -> io::Result<SocketAddr> {
    let address = SockRef::from(&socket).local_addr()?;
    address.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

/// The sockets that it accepts inherit TCP_NODELAY and the bounds of its buffers.
fn new_socket(address: SocketAddr, buffers: Option<SocketBuffers>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier server in TIME_WAIT must not block the address.
    socket.set_reuse_address(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    if let Some(buffers) = buffers {
        buffers.apply(&socket)?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpStream};

    const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

    #[test]
    fn what_a_listener_accepts_does_not_delay() {
        let listener = listen_first(ANY.into(), None).expect("loopback has a free port");
        let address = local_address(&listener).expect("it is bound");
        let _client = TcpStream::connect(address).expect("it listens");
        let (accepted, _) = Socket::from(listener).accept().expect("a client is there");
        assert!(accepted.tcp_nodelay().expect("a TCP option"));
    }

    #[test]
    fn what_a_listener_accepts_has_its_bounds_of_what_the_kernel_keeps() {
        let accepted = |buffers| {
            let listener = listen_first(ANY.into(), buffers).expect("loopback has a free port");
            let address = local_address(&listener).expect("it is bound");
            let _client = TcpStream::connect(address).expect("it listens");
            let (accepted, _) = Socket::from(listener).accept().expect("a client is there");
            let bytes = (accepted.send_buffer_size(), accepted.recv_buffer_size());
            (bytes.0.expect("a socket option"), bytes.1.expect("a socket option"))
        };
        let bounded = accepted(Some(SocketBuffers { send_bytes: 10_000, receive_bytes: 20_000 }));
        assert_eq!(bounded, (20_000, 40_000), "twice, as socket(7) says");
        assert!(accepted(None).0 > 20_000);
    }

    #[test]
    fn the_port_is_shared_beside_the_first_but_there_is_one_first() {
        let first = listen_first(ANY.into(), None).expect("loopback has a free port");
        let address = local_address(&first).expect("it is bound");
        let in_use = |address| listen_first(address, None).expect_err("someone listens").kind();
        assert_eq!(in_use(address), io::ErrorKind::AddrInUse);
        let second = listen_beside(address, None).expect("shards share the port");
        assert_eq!(in_use(address), io::ErrorKind::AddrInUse);

        let clients: Vec<_> = (0..200).map(|_| TcpStream::connect(address).expect("they listen")).collect();
        let accepted = |listener: OwnedFd| {
            let listener = Socket::from(listener);
            std::iter::from_fn(|| listener.accept().ok()).count()
        };
        let (by_first, by_second) = (accepted(first), accepted(second));
        assert_eq!(by_first + by_second, clients.len());
        assert!(by_first > 0 && by_second > 0, "the kernel chooses between both");
    }
}
