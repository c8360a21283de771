//! Where other nodes reach this one.

use ::redis::ConnectionAddr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::UdpSocket;

/// Where the node listens; of the unspecified address, the one by which this machine reaches the engine, as the others do.
pub(crate) async fn announced(listening: SocketAddr, engine: &ConnectionAddr) -> io::Result<SocketAddr> {
    if !listening.ip().is_unspecified() {
        return Ok(listening);
    }
    let (host, port) = match engine {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => (&**host, *port),
        // By a socket of this machine: then all nodes are on it.
        _ => return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listening.port())),
    };
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for there in tokio::net::lookup_host((host, port)).await? {
        match local_address_towards(there).await {
            Ok(here) => return Ok(SocketAddr::new(here, listening.port())),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// A datagram's socket is connected without a packet: the kernel only says by which address it would go.
async fn local_address_towards(there: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr =
        if there.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(there).await?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unspecified_address_is_announced_as_the_one_that_leads_to_the_engine() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let engine = ConnectionAddr::Tcp("127.0.0.1".into(), 6379);
        for (listening, expected) in
            [("0.0.0.0:4002", "127.0.0.1:4002"), ("10.0.0.11:4002", "10.0.0.11:4002")]
        {
            let listening = listening.parse().expect("an address");
            let found = runtime.block_on(announced(listening, &engine)).expect("there is a way");
            assert_eq!(found.to_string(), expected);
        }
    }
}
