//! The address at which other nodes reach this one, and its encoding for an engine: the address, a space, and the
//! secret.

use crate::port::NodeAddress;
use crate::session::SessionContext;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;

/// Returns the address to announce. If the node listens at the unspecified address, it is the local address from which
/// this machine reaches a server of the engine, as the other nodes do. `servers` are hosts and ports; none if the
/// engine is reached by a Unix socket. Returns `None` on failure: no address is better than a wrong one.
pub(crate) async fn announced(context: &SessionContext, servers: &[(&str, u16)]) -> Option<NodeAddress> {
    let NodeAddress { address, secret } = context.listening.clone()?;
    let found = timeout(context.times.connect_max, reached_at(address, servers)).await;
    match found.unwrap_or_else(|late| Err(late.into())) {
        Ok(address) => Some(NodeAddress { address, secret }),
        Err(error) => {
            tracing::warn!(%error, "the address where other nodes reach this one could not be determined: set \
                 `bus.announce`");
            None
        }
    }
}

pub(crate) fn write(listening: &NodeAddress) -> String {
    let NodeAddress { address, secret } = listening;
    format!("{address} {secret}")
}

/// Returns `None` for anything that [`write()`] does not produce; an empty text means that nothing is announced.
pub(crate) fn read(text: &str) -> Option<NodeAddress> {
    let (address, secret) = text.split_once(' ')?;
    Some(NodeAddress { address: address.parse().ok()?, secret: secret.into() })
}

async fn reached_at(listening: SocketAddr, servers: &[(&str, u16)]) -> io::Result<SocketAddr> {
    if !listening.ip().is_unspecified() {
        return Ok(listening);
    }
    if servers.is_empty() {
        // All nodes are on this machine.
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listening.port()));
    }
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for server in servers {
        match local_address_towards(*server).await {
            Ok(here) => return Ok(SocketAddr::new(here, listening.port())),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn local_address_towards(server: (&str, u16)) -> io::Result<IpAddr> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for there in lookup_host(server).await? {
        match way_to(there).await {
            Ok(here) => return Ok(here),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Connecting a UDP socket sends no packet: the kernel only selects the local address.
async fn way_to(there: SocketAddr) -> io::Result<IpAddr> {
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
        for (listening, servers, expected) in [
            ("0.0.0.0:4002", &[("127.0.0.1", 6379)][..], "127.0.0.1:4002"),
            ("[::]:4002", &[], "127.0.0.1:4002"),
            ("10.0.0.11:4002", &[("127.0.0.1", 6379)], "10.0.0.11:4002"),
        ] {
            let listening = listening.parse().expect("an address");
            let reached = runtime.block_on(reached_at(listening, servers)).expect("there is a way");
            assert_eq!(reached.to_string(), expected);
        }
    }

    #[test]
    fn what_is_announced_is_read_as_it_was_written() {
        let address = "[fd00::1]:4002".parse().expect("an address");
        let listening = NodeAddress { address, secret: "s3cret".into() };
        assert_eq!(read(&write(&listening)), Some(listening));
        for text in ["", " ", "10.0.0.11:4002", "host:4002 s3cret"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
