//! Client addresses as the limits per address count them.

use std::net::{IpAddr, Ipv6Addr};

/// Maps an address to the network that is counted. The owner of an IPv6 address has a whole 64-bit network (RFC 4291,
/// section 2.5.4), so all its addresses count as one. So do an IPv4 address and its IPv4-mapped IPv6 address.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = u128::from(address) >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from(bits))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_one_and_so_is_ipv4_in_ipv6() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
