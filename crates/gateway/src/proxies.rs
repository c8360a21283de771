//! Trusted load balancers: their addresses, and the client whose request they pass on.
//!
//! Only headers from a trusted address are believed. From everyone else `X-Forwarded-For` is an ordinary header, and a
//! PROXY protocol header is not read.

use crate::handshake::Head;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A range of IP addresses: `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// The error for text that is not a [`Network`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadNetwork {
    text: String,
    /// The network that was probably meant, if that can be determined.
    meant: Option<Network>,
}

impl Network {
    /// Returns whether an address is in the network. An IPv4-mapped IPv6 address counts as the IPv4 address (RFC 4291
    /// section 2.5.5.2).
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.address.is_ipv4() && masked(ip, self.bits) == self.address
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Network, BadNetwork> {
        let bad = |meant| BadNetwork { text: text.to_owned(), meant };
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| bad(None))?;
        let all: u8 = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits.map(str::parse::<u8>) {
            None => all,
            Some(Ok(bits)) if bits <= all => bits,
            Some(_) => return Err(bad(None)),
        };
        let network = Network { address: masked(address, bits), bits };
        if network.address == address { Ok(network) } else { Err(bad(Some(network))) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl fmt::Display for BadNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a valid network: write ", self.text)?;
        match self.meant {
            Some(meant) => write!(f, "\"{meant}\""),
            None => f.write_str("an address and a prefix length, such as \"10.0.0.0/8\""),
        }
    }
}

impl std::error::Error for BadNetwork {}

fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match ip {
        IpAddr::V4(ip) => IpAddr::V4((ip.to_bits() & u32::MAX.checked_shl(32 - bits).unwrap_or(0)).into()),
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() & u128::MAX.checked_shl(128 - bits).unwrap_or(0)).into()),
    }
}

/// The trusted proxies, and where they connect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) trusted: Vec<Network>,
    /// By the engine's listener: whether connections there begin with a PROXY protocol header.
    pub(crate) announced: Vec<bool>,
}

/// The origin of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// The client's address; its port is 0 if a proxy did not pass it on.
    pub(crate) address: SocketAddr,
    /// Whether the client used TLS, to us or to the proxy.
    pub(crate) secure: bool,
}

impl Proxies {
    pub(crate) fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(ip))
    }

    /// Returns whether connections of this listener begin with a PROXY protocol header.
    pub(crate) fn are_announced_at(&self, listener: engine::ListenerIndex) -> bool {
        self.announced.get(usize::from(listener.0)).copied().unwrap_or(false)
    }

    /// Returns the origin of a request on a connection from `remote`: the last address in `X-Forwarded-For` that is not
    /// a trusted proxy itself. Everything before that one may have been made up by the client.
    pub(crate) fn origin(&self, remote: SocketAddr, secure: bool, head: &Head<'_>) -> Origin {
        if !self.trusts(remote.ip()) {
            return Origin { address: remote, secure };
        }
        let mut address = remote;
        let values: Vec<&[u8]> = head.values("x-forwarded-for").collect();
        let entries = values.iter().rev().flat_map(|value| value.rsplit(|&byte| byte == b','));
        for entry in entries {
            // If a proxy does not know or say whose request it was, nothing before it can be trusted.
            let Some(told) = forwarded_address(entry) else { break };
            address = told;
            if !self.trusts(told.ip()) {
                break;
            }
        }
        let scheme = head.first("x-forwarded-proto").map(str::trim);
        Origin { address, secure: scheme.map_or(secure, |scheme| scheme.eq_ignore_ascii_case("https")) }
    }
}

/// Parses an address, which some proxies write with its port.
fn forwarded_address(entry: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = match bare.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, 0),
        Err(_) => text.parse().ok()?,
    };
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(networks: &[&str]) -> Proxies {
        let trusted = networks.iter().map(|network| network.parse().expect("a network")).collect();
        Proxies { trusted, announced: Vec::new() }
    }

    fn origin(proxies: &Proxies, remote: &str, headers: &[(&str, &[u8])]) -> Origin {
        let head = Head { method: "GET", target: "/", is_http11: true, headers, secure: false, remote: None };
        proxies.origin(remote.parse().expect("an address"), false, &head)
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let table = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "a00::1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("0.0.0.0/0", "203.0.113.7", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
            ("fd00::/8", "fdab::1", true),
            ("fd00::/8", "fe80::1", false),
            ("192.0.2.128/25", "192.0.2.127", false),
        ];
        for (network, ip, expected) in table {
            let network: Network = network.parse().expect("a network");
            assert_eq!(network.contains(ip.parse().expect("an address")), expected, "{network} {ip}");
        }
    }

    #[test]
    fn what_is_no_network_is_told_with_what_was_meant() {
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "example.com", "10.0.0.0/8/8"] {
            assert!(text.parse::<Network>().is_err(), "{text:?}");
        }
        let error = "10.0.0.1/8".parse::<Network>().expect_err("its host's bits are set");
        assert_eq!(error.to_string(), "\"10.0.0.1/8\" is not a valid network: write \"10.0.0.0/8\"");
    }

    #[test]
    fn the_last_who_is_no_proxy_is_the_client() {
        let proxies = proxies(&["10.0.0.0/8", "fd00::1"]);
        let table: [(&str, &[&[u8]], &str); 12] = [
            ("203.0.113.7:5", &[b"198.51.100.1"], "203.0.113.7:5"),
            ("10.0.0.1:5", &[], "10.0.0.1:5"),
            ("10.0.0.1:5", &[b"198.51.100.1"], "198.51.100.1:0"),
            ("[::ffff:10.0.0.1]:5", &[b"198.51.100.1"], "198.51.100.1:0"),
            ("[fd00::1]:5", &[b"2001:db8::1"], "[2001:db8::1]:0"),
            ("10.0.0.1:5", &[b"1.2.3.4, 198.51.100.1 ,10.9.9.9"], "198.51.100.1:0"),
            ("10.0.0.1:5", &[b"1.2.3.4", b"198.51.100.1", b"10.9.9.9"], "198.51.100.1:0"),
            ("10.0.0.1:5", &[b"10.1.1.1, 10.9.9.9"], "10.1.1.1:0"),
            ("10.0.0.1:5", &[b"198.51.100.1:777"], "198.51.100.1:777"),
            ("10.0.0.1:5", &[b"[2001:db8::1]:777"], "[2001:db8::1]:777"),
            ("10.0.0.1:5", &[b"198.51.100.1, unknown, 10.9.9.9"], "10.9.9.9:0"),
            ("10.0.0.1:5", &[b"\xff, 198.51.100.1"], "198.51.100.1:0"),
        ];
        for (remote, values, expected) in table {
            let headers: Vec<_> = values.iter().map(|value| ("X-Forwarded-For", *value)).collect();
            let address = origin(&proxies, remote, &headers).address;
            assert_eq!(address.to_string(), expected, "{remote} {values:?}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_how_the_client_came() {
        let proxies = proxies(&["10.0.0.0/8"]);
        let headers: [(&str, &[u8]); 1] = [("x-forwarded-proto", b"HTTPS")];
        assert!(origin(&proxies, "10.0.0.1:5", &headers).secure);
        assert!(!origin(&proxies, "203.0.113.7:5", &headers).secure);
    }
}
