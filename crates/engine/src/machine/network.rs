//! The network as the kernel reports it: addresses, sockets, and what it had to drop.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{page_bytes, read, text_of};

/// What all TCP sockets of the machine's network namespace use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SocketUsage {
    /// TCP sockets allocated, without those in TIME_WAIT.
    pub tcp_sockets: u64,
    /// Sockets in TIME_WAIT.
    pub tcp_time_wait: u64,
    /// Memory of TCP's buffers, in bytes; not that of the sockets themselves.
    pub tcp_buffer_bytes: u64,
}

/// Addresses of this machine: a single one, or a whole network such as 127.0.0.0/8.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct LocalAddress {
    /// The address, or the first of the network.
    pub address: IpAddr,
    /// How many leading bits the addresses have in common: 32 or 128 for a single one.
    pub prefix_bits: u8,
}

impl LocalAddress {
    /// Returns whether `address` is among them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let differs = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let bits = u32::from(own) ^ u32::from(other);
                bits.checked_shr(32_u32.saturating_sub(self.prefix_bits.into())).unwrap_or_default() != 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let bits = u128::from(own) ^ u128::from(other);
                bits.checked_shr(128_u32.saturating_sub(self.prefix_bits.into())).unwrap_or_default() != 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => true,
        };
        !differs
    }
}

/// What the network stack has dropped since the machine started; each drop delays someone by a second or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drops {
    /// Packets for which a processor's backlog (`net.core.netdev_max_backlog`) had no room.
    pub backlog_packets: u64,
    /// Connections that found a listener's queue (`net.core.somaxconn`) full.
    pub listen_overflows: u64,
    /// Connections that a listener dropped, for that or another reason.
    pub listen_drops: u64,
}

/// Reads the sockets' usage from `/proc/net/sockstat`.
///
/// # Errors
/// If it cannot be read or lacks a line.
pub fn socket_usage() -> io::Result<SocketUsage> {
    read("/proc/net/sockstat", |text| parse_sockstat(text, page_bytes()))
}

/// Reads the machine's own addresses, without link-local ones.
///
/// # Errors
/// If `/proc/net/fib_trie` cannot be read. A machine without IPv6 has no IPv6 addresses.
pub fn local_addresses() -> io::Result<Vec<LocalAddress>> {
    let mut addresses = parse_fib_trie(&text_of("/proc/net/fib_trie")?);
    addresses.extend(text_of("/proc/net/if_inet6").map(|text| parse_if_inet6(&text)).unwrap_or_default());
    Ok(addresses)
}

/// Reads what the network stack has dropped.
///
/// # Errors
/// If `/proc/net/softnet_stat` or `/proc/net/netstat` cannot be read or has an unknown format.
pub fn drops() -> io::Result<Drops> {
    let backlog_packets = read("/proc/net/softnet_stat", parse_softnet)?;
    read("/proc/net/netstat", |text| {
        Some(Drops {
            backlog_packets,
            listen_overflows: parse_netstat(text, "ListenOverflows")?,
            listen_drops: parse_netstat(text, "ListenDrops")?,
        })
    })
}

/// Parses the sockets' usage from the text of `/proc/net/sockstat`, which counts memory in pages; `None` if a word is
/// missing.
#[must_use]
pub fn parse_sockstat(text: &str, page_bytes: u64) -> Option<SocketUsage> {
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let value_of = |name: &str| {
        let mut words = tcp.split_ascii_whitespace();
        words.find(|word| *word == name)?;
        words.next()?.parse::<u64>().ok()
    };
    Some(SocketUsage {
        tcp_sockets: value_of("alloc")?,
        tcp_time_wait: value_of("tw")?,
        tcp_buffer_bytes: value_of("mem")?.checked_mul(page_bytes)?,
    })
}

/// Parses the machine's own IPv4 addresses and networks from the text of `/proc/net/fib_trie`, sorted and without
/// duplicates.
#[must_use]
pub fn parse_fib_trie(text: &str) -> Vec<LocalAddress> {
    let mut found = Vec::new();
    let mut leaf: Option<Ipv4Addr> = None;
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
        } else if let (Some(address), Some(bits)) = (leaf, line.strip_suffix(" host LOCAL")) {
            // The leaf's routes follow it, each as "/32 host LOCAL".
            let bits = bits.strip_prefix('/').and_then(|bits| bits.parse().ok());
            found.extend(bits.map(|prefix_bits| LocalAddress { address: address.into(), prefix_bits }));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Parses the machine's own IPv6 addresses from the text of `/proc/net/if_inet6`, without link-local ones.
#[must_use]
pub fn parse_if_inet6(text: &str) -> Vec<LocalAddress> {
    const LINK_SCOPE: &str = "20";
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [address, _interface, _network_bits, scope, ..] = words[..] else { continue };
        if address.len() == 32
            && scope != LINK_SCOPE
            && let Ok(bits) = u128::from_str_radix(address, 16)
        {
            found.push(LocalAddress { address: Ipv6Addr::from(bits).into(), prefix_bits: 128 });
        }
    }
    found
}

/// Returns the packets that the processors' backlogs dropped, from the text of `/proc/net/softnet_stat`: the second
/// column of each processor, in hexadecimal. `None` if it has an unknown format.
#[must_use]
pub fn parse_softnet(text: &str) -> Option<u64> {
    let dropped = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    text.lines().map(dropped).sum()
}

/// Returns the TCP counter with this name from the text of `/proc/net/netstat`, which has a line of names above a line
/// of values; `None` if there is none.
#[must_use]
pub fn parse_netstat(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_ascii_whitespace().position(|word| word == name)?;
    values.split_ascii_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str, prefix_bits: u8) -> LocalAddress {
        LocalAddress { address: text.parse().expect("an address"), prefix_bits }
    }

    #[test]
    fn the_socket_statistics_count_pages() {
        let text = "sockets: used 28\nTCP: inuse 5 orphan 0 tw 3 alloc 7 mem 2\nUDP: inuse 0 mem 0\n";
        let expected = SocketUsage { tcp_sockets: 7, tcp_time_wait: 3, tcp_buffer_bytes: 8192 };
        assert_eq!(parse_sockstat(text, 4096), Some(expected));
        assert_eq!(parse_sockstat("TCP: inuse 5 alloc", 4096), None);
        assert_eq!(parse_sockstat("", 4096), None);
    }

    #[test]
    fn own_addresses_and_networks_are_found_in_the_routes() {
        let text = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     \
                    +-- 127.0.0.0/8 2 0 2\n        +-- 127.0.0.0/31 1 0 0\n           |-- 127.0.0.0\n              \
                    /8 host LOCAL\n           |-- 127.0.0.1\n              /32 host LOCAL\n        \
                    |-- 127.255.255.255\n           /32 link BROADCAST\n     |-- 192.0.2.2\n        /32 host LOCAL\n";
        let expected = [address("127.0.0.0", 8), address("127.0.0.1", 32), address("192.0.2.2", 32)];
        assert_eq!(parse_fib_trie(&text.repeat(2)), expected);
        assert_eq!(parse_fib_trie("/32 host LOCAL\n|-- x\n/8 host LOCAL\n"), []);
    }

    #[test]
    fn link_local_addresses_are_left_out() {
        let text = "00000000000000000000000000000001 01 80 10 80       lo\n\
                    fd000000000000000000000000000002 04 40 00 82     eth0\n\
                    fe8000000000000000fc00fffe000001 04 40 20 80     eth0\nshort\nzz 1 2 3\n";
        assert_eq!(parse_if_inet6(text), [address("::1", 128), address("fd00::2", 128)]);
    }

    #[test]
    fn a_network_contains_its_addresses() {
        for (own, other, expected) in [
            (address("127.0.0.0", 8), "127.3.2.1", true),
            (address("127.0.0.0", 8), "128.0.0.1", false),
            (address("192.0.2.2", 32), "192.0.2.2", true),
            (address("192.0.2.2", 32), "192.0.2.3", false),
            (address("0.0.0.0", 0), "9.9.9.9", true),
            (address("::1", 128), "::1", true),
            (address("::1", 128), "::2", false),
            (address("fd00::", 16), "fd00:1::2", true),
            (address("::1", 128), "127.0.0.1", false),
        ] {
            assert_eq!(own.contains(other.parse().expect("an address")), expected, "{own:?} {other}");
        }
    }

    #[test]
    fn drops_are_summed_over_the_processors() {
        let text = "08a826bc 0000028c 0000000a 00000000\n07f3700a 00000001 00000007 00000000\n";
        assert_eq!(parse_softnet(text), Some(0x28d));
        assert_eq!(parse_softnet("08a826bc\n"), None);
        assert_eq!(parse_softnet("1 zz\n"), None);
    }

    #[test]
    fn a_counter_stands_below_its_name() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 12 13\nIpExt: A\nIpExt: 1\n";
        assert_eq!(parse_netstat(text, "ListenDrops"), Some(13));
        assert_eq!(parse_netstat(text, "ListenNothing"), None);
        assert_eq!(parse_netstat("TcpExt: ListenDrops\n", "ListenDrops"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        let loopback = "127.0.0.1".parse().expect("an address");
        let own = local_addresses().expect("Linux shows its routes");
        assert!(own.iter().any(|own| own.contains(loopback)), "{own:?}");
        drops().expect("Linux counts its drops");
    }
}
