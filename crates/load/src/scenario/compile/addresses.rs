//! Source addresses and ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::super::plan::{Sources, Target};
use super::Compiler;

/// Maximum number of source addresses in one scenario: the range of the address index in an observation.
const SOURCE_ADDRESSES_MAX: usize = 65_535;

const ALLOWED: &str =
    "write an address, a range `127.0.0.1-127.0.0.20`, a network `10.0.0.0/28`, or `machine`";

impl Compiler<'_> {
    pub(super) fn sources(&mut self, targets: &[Target]) -> Sources {
        let scenario = self.scenario;
        let mut addresses: Vec<IpAddr> = Vec::new();
        self.within("source_addresses", |compiler| {
            for (index, text) in scenario.source_addresses.0.iter().enumerate() {
                compiler.within_item(index, |compiler| {
                    let room = SOURCE_ADDRESSES_MAX - addresses.len();
                    let found = match text.trim() {
                        "machine" => machine_addresses(targets),
                        text => parse_addresses(text, room),
                    };
                    match found {
                        Ok(found) => addresses.extend(found.into_iter().take(room)),
                        Err(message) => compiler.complain_with(message, Some(ALLOWED.to_owned())),
                    }
                });
            }
        });
        Sources { addresses, ports: self.ports() }
    }

    fn ports(&mut self) -> Option<(u16, u16)> {
        let text = self.scenario.ports.as_ref()?;
        let ports = text.split_once('-').and_then(|(first, last)| {
            Some((first.trim().parse::<u16>().ok()?, last.trim().parse::<u16>().ok()?))
        });
        match ports {
            Some((first, last)) if first > 0 && first <= last => Some((first, last)),
            Some(_) | None => {
                self.complain_at("ports", format!("`{text}` is not a range of ports such as `1025-65535`"));
                None
            }
        }
    }
}

/// Parses one address, `first-last`, or `network/length`, and returns at most `most` addresses.
fn parse_addresses(text: &str, most: usize) -> Result<Vec<IpAddr>, String> {
    let parse = |text: &str| {
        text.trim().parse::<IpAddr>().map_err(|_| format!("`{}` is not an IP address", text.trim()))
    };
    let (first, last) = if let Some((first, last)) = text.split_once('-') {
        (parse(first)?, parse(last)?)
    } else if let Some((network, length)) = text.split_once('/') {
        network_bounds(parse(network)?, length)?
    } else {
        let address = parse(text)?;
        (address, address)
    };
    if first.is_ipv4() != last.is_ipv4() {
        return Err(format!("`{text}` mixes IPv4 and IPv6"));
    }
    let Some(count) = number(last).checked_sub(number(first)) else {
        return Err(format!("`{text}` ends before it begins"));
    };
    if count >= most as u128 {
        return Err(format!("`{text}` makes more than {SOURCE_ADDRESSES_MAX} source addresses"));
    }
    Ok((0..=count).filter_map(|offset| advance(first, offset)).collect())
}

/// Returns the first and the last host address of a network, without its network and broadcast addresses where IPv4 has
/// them (a /31 has none, RFC 3021).
fn network_bounds(address: IpAddr, length: &str) -> Result<(IpAddr, IpAddr), String> {
    let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
    let invalid = || format!("`/{length}` is not the length of a network prefix");
    let length: u32 = length.trim().parse().ok().filter(|length| *length <= bits).ok_or_else(invalid)?;
    let hosts = u128::MAX.checked_shr(128 - (bits - length)).unwrap_or(0);
    let value = number(address);
    let (mut first, mut last) = (value & !hosts, value | hosts);
    if address.is_ipv4() && bits - length >= 2 {
        (first, last) = (first + 1, last - 1);
    }
    let at = |value: u128| match address {
        // An IPv4 prefix keeps the value within 32 bits.
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(value as u32)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(value)),
    };
    Ok((at(first), at(last)))
}

/// Returns the address as a number within its family.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

fn advance(first: IpAddr, offset: u128) -> Option<IpAddr> {
    match first {
        IpAddr::V4(first) => {
            let value = u32::from(first).checked_add(u32::try_from(offset).ok()?)?;
            Some(IpAddr::V4(Ipv4Addr::from(value)))
        }
        IpAddr::V6(first) => Some(IpAddr::V6(Ipv6Addr::from(u128::from(first).checked_add(offset)?))),
    }
}

/// Returns the machine's own addresses from which the targets can be reached: those of the loopback interface for
/// loopback targets, otherwise all others. Link-local addresses would need an interface and are left out.
fn machine_addresses(targets: &[Target]) -> Result<Vec<IpAddr>, String> {
    let local = targets.iter().any(|target| is_loopback(&target.host));
    let interfaces = nix::ifaddrs::getifaddrs()
        .map_err(|error| format!("the machine's addresses are unknown: {error}"))?;
    let mut addresses: Vec<IpAddr> = interfaces
        .filter_map(|interface| {
            let address = interface.address?;
            let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
        })
        .filter(|address| address.is_loopback() == local && !is_link_local(*address))
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() { Err("the machine has no address of its own".to_owned()) } else { Ok(addresses) }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
