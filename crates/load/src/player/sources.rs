//! Chooses the source of the next connection: the addresses take turns, and each is used until its last port.
//!
//! They take turns because the kernel's choice of a port gets slow once half of an address's ports are in use: it then
//! probes thousands for each connection. If the addresses were filled one after the other, all but the first half of
//! each would be slow.

use std::net::{IpAddr, SocketAddr};

use crate::scenario::plan::Sources;

/// Maximum number of ports of one address tried for one connection when the kernel reports them as taken.
const PORT_TRIES_MAX: u32 = 64;

/// One shard's rotation through the addresses and ports. Shards begin at different addresses and use every n-th port
/// each, so that they do not interfere with each other.
#[derive(Debug)]
pub(crate) struct SourceRotation {
    addresses: Vec<IpAddr>,
    /// First port, step and number of ports of this shard.
    ports: Option<(u16, u16, u32)>,
    /// The address to use next.
    address: usize,
    /// Number of addresses used with the current port.
    turns: usize,
    port: u32,
}

/// A source to try: its index in the run's table of sources, and the address to bind, unless the kernel chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    pub(crate) index: u16,
    pub(crate) address: Option<SocketAddr>,
}

impl SourceRotation {
    pub(crate) fn new(sources: &Sources, shard: u16, shards: u16) -> Self {
        let count = sources.addresses.len().max(1);
        let ports = sources.ports.map(|(first, last)| {
            let mine = u32::from(last.saturating_sub(first)) + 1;
            let count = mine.saturating_sub(u32::from(shard)).div_ceil(u32::from(shards.max(1)));
            (first.saturating_add(shard), shards, count)
        });
        Self {
            addresses: sources.addresses.clone(),
            ports,
            address: usize::from(shard) % count,
            turns: 0,
            port: 0,
        }
    }

    /// Returns how many sources one connection may try before it fails.
    pub(crate) fn tries(&self) -> u32 {
        let per_address = self.ports.map_or(1, |(_, _, count)| count.min(PORT_TRIES_MAX));
        per_address.saturating_mul(self.addresses.len().max(1) as u32)
    }

    /// Returns the source to use next. To skip one that is not free, call this again.
    pub(crate) fn next(&mut self, wants_v4: bool) -> Source {
        let port = match self.ports {
            Some((first, step, count)) if count > 0 => {
                Some((u32::from(first) + (self.port % count) * u32::from(step)) as u16)
            }
            Some(_) | None => None,
        };
        let index = self.address;
        self.take_turn();
        let any = if wants_v4 { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
        match (self.addresses.get(index), port) {
            (None, None) => Source { index: 0, address: None },
            (None, Some(port)) => Source { index: 0, address: Some(SocketAddr::new(any, port)) },
            (Some(address), port) => {
                let address = Some(SocketAddr::new(*address, port.unwrap_or_default()));
                Source { index: index as u16, address }
            }
        }
    }

    fn take_turn(&mut self) {
        let count = self.addresses.len().max(1);
        self.address = (self.address + 1) % count;
        self.turns += 1;
        if self.turns == count {
            self.turns = 0;
            self.port = self.port.wrapping_add(1);
        }
    }
}

/// Returns the names of a run's sources, by index.
pub(crate) fn names(sources: &Sources) -> Vec<String> {
    if sources.addresses.is_empty() {
        return vec!["any".to_owned()];
    }
    sources.addresses.iter().map(IpAddr::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(addresses: &[&str], ports: Option<(u16, u16)>) -> Sources {
        let addresses = addresses.iter().map(|text| text.parse().expect("an address")).collect();
        Sources { addresses, ports }
    }

    fn address(rotation: &mut SourceRotation) -> String {
        rotation.next(true).address.map_or_else(|| "any".to_owned(), |address| address.to_string())
    }

    #[test]
    fn addresses_take_turns() {
        let mut rotation = SourceRotation::new(&sources(&["127.0.0.1", "127.0.0.2"], None), 1, 2);
        assert_eq!(rotation.tries(), 2);
        let turns: Vec<String> = (0..3).map(|_| address(&mut rotation)).collect();
        assert_eq!(turns, ["127.0.0.2:0", "127.0.0.1:0", "127.0.0.2:0"]);
    }

    #[test]
    fn shards_use_each_port_of_each_address_without_overlap() {
        let sources = sources(&["127.0.0.1", "127.0.0.2", "127.0.0.3"], Some((4000, 4004)));
        let mut used = Vec::new();
        for shard in 0..2 {
            let mut rotation = SourceRotation::new(&sources, shard, 2);
            let tries = rotation.tries();
            used.extend((0..tries).map(|_| address(&mut rotation)));
        }
        used.sort_unstable();
        let all = (1..=3).flat_map(|host| (4000..=4004).map(move |port| format!("127.0.0.{host}:{port}")));
        assert_eq!(used, all.collect::<Vec<_>>());
    }

    #[test]
    fn without_sources_the_kernel_chooses() {
        let mut rotation = SourceRotation::new(&Sources::default(), 3, 4);
        assert_eq!((address(&mut rotation), rotation.tries()), ("any".to_owned(), 1));
        let mut with_ports = SourceRotation::new(&sources(&[], Some((5000, 5000))), 0, 1);
        assert_eq!(address(&mut with_ports), "0.0.0.0:5000");
        assert_eq!(names(&Sources::default()), ["any"]);
    }
}
