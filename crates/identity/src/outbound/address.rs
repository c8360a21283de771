//! Which addresses may be connected to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Permits public addresses, and networks that the operator names. A host site that could make the server send requests
/// to private addresses would reach what is behind the server's firewall: databases, other machines' administration,
/// the cloud's metadata (server-side request forgery).
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    allowed: Vec<Network>,
}

impl AddressPolicy {
    /// Permits public addresses only.
    pub fn public() -> Self {
        Self::default()
    }

    /// Permits public addresses and these networks.
    pub fn public_and(allowed: Vec<Network>) -> Self {
        AddressPolicy { allowed }
    }

    /// Whether a connection to that address is permitted.
    pub fn permits(&self, address: IpAddr) -> bool {
        // An IPv4-mapped IPv6 address is judged by the IPv4 address that the kernel connects to.
        let address = address.to_canonical();
        self.allowed.iter().any(|network| network.contains(address)) || is_public(address)
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !PRIVATE_V4.iter().any(|(first, bits)| in_v4(address, *first, *bits)),
        IpAddr::V6(address) => {
            in_v6(address, Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
                && !PRIVATE_V6.iter().any(|(first, bits)| in_v6(address, *first, *bits))
        }
    }
}

/// The entries of the IANA IPv4 Special-Purpose Address Registry that are not globally reachable, and multicast.
const PRIVATE_V4: &[(Ipv4Addr, u8)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The same for IPv6 within 2000::/3, outside of which nothing is global unicast. 2001::/23 contains Teredo, and
/// 2002::/16 is 6to4: both embed an IPv4 address of anybody's choice.
const PRIVATE_V6: &[(Ipv6Addr, u8)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn in_v4(address: Ipv4Addr, first: Ipv4Addr, bits: u8) -> bool {
    let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
    (address.to_bits() ^ first.to_bits()) & mask == 0
}

fn in_v6(address: Ipv6Addr, first: Ipv6Addr, bits: u8) -> bool {
    let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
    (address.to_bits() ^ first.to_bits()) & mask == 0
}

/// A network, written as `10.1.0.0/16`, `fd00::/8` or a single address. Bits beyond the prefix must be 0: `10.1.2.3/16`
/// may be meant as one address, and would allow 65,536.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u8,
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => in_v4(address, first, self.bits),
            (IpAddr::V6(first), IpAddr::V6(address)) => in_v6(address, first, self.bits),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| BadNetwork)?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| BadNetwork))?;
        if bits > most || !is_first(first, bits) { Err(BadNetwork) } else { Ok(Network { first, bits }) }
    }
}

/// Whether an address is the first of a network with that prefix length.
fn is_first(address: IpAddr, bits: u8) -> bool {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(address) => address.to_bits() & u32::MAX.checked_shr(bits).unwrap_or(0) == 0,
        IpAddr::V6(address) => address.to_bits() & u128::MAX.checked_shr(bits).unwrap_or(0) == 0,
    }
}

/// The text is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadNetwork;

impl fmt::Display for BadNetwork {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("not a network such as 10.1.0.0/16, fd00::/8 or 192.0.2.7, with all host bits 0")
    }
}

impl std::error::Error for BadNetwork {}

#[cfg(test)]
mod tests {
    use super::{AddressPolicy, BadNetwork, Network};

    #[test]
    fn only_public_addresses_are_permitted() {
        let policy = AddressPolicy::public();
        for public in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "198.20.0.0",
            "2606:4700::1111",
        ] {
            assert!(policy.permits(public.parse().expect("an address")), "{public}");
        }
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "100::1",
            "4000::1",
        ] {
            assert!(!policy.permits(private.parse().expect("an address")), "{private}");
        }
    }

    #[test]
    fn an_operator_may_allow_networks() {
        let networks =
            ["10.1.0.0/16", "fd00::/8", "192.168.7.7"].map(|text| text.parse().expect("a network"));
        let policy = AddressPolicy::public_and(networks.to_vec());
        for (address, permitted) in [
            ("10.1.255.1", true),
            ("10.2.0.1", false),
            ("::ffff:10.1.0.1", true),
            ("fd99::1", true),
            ("fe80::1", false),
            ("192.168.7.7", true),
            ("192.168.7.8", false),
            ("1.1.1.1", true),
        ] {
            assert_eq!(policy.permits(address.parse().expect("an address")), permitted, "{address}");
        }
        for bad in ["10.0.0.0/33", "fd00::/129", "10.0.0/8", "host/8", "10.0.0.0/", ""] {
            assert_eq!(bad.parse::<Network>(), Err(BadNetwork), "{bad}");
        }
        for host in ["10.1.2.3/16", "10.0.0.1/31", "128.0.0.0/0", "fd00::1/8", "fd00::1/127"] {
            assert_eq!(host.parse::<Network>(), Err(BadNetwork), "{host}");
        }
        for whole in ["10.1.2.3/32", "10.1.2.2/31", "0.0.0.0/0", "::/0", "::1/128", "fd00::/8"] {
            assert!(whole.parse::<Network>().is_ok(), "{whole}");
        }
    }

    #[test]
    fn a_network_of_no_bits_is_everything() {
        let policy = AddressPolicy::public_and(vec!["0.0.0.0/0".parse().expect("a network")]);
        assert!(policy.permits("10.0.0.1".parse().expect("an address")));
        assert!(!policy.permits("fe80::1".parse().expect("an address")));
    }
}
