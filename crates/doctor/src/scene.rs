//! What a diagnosis is based on: the machine, and the requirements that it is measured against.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::facts::Facts;
use super::target::TargetFacts;

/// The role that a machine is to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// It plays the clients.
    #[default]
    Players,
    /// It serves them.
    Server {
        /// Whether they connect over TLS.
        tls: bool,
        /// The server's memory budget, if it has one.
        budget: Option<Budget>,
        /// What its configuration has room for.
        configured: Configured,
    },
}

/// How many connections a server's configuration has room for, whatever the machine could hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configured {
    /// The number of its descriptor tables: one for the process, or one for each shard.
    pub tables: u64,
    /// The most connections that it accepts (`limits.connections`); `None` is no limit.
    pub connections_max: Option<u64>,
}

/// How much memory a server allows itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The whole budget, in bytes.
    pub bytes: u64,
    /// Idle clients that fit in it.
    pub clients: u64,
    /// What it would have to be for the requested clients, in bytes.
    pub wanted_bytes: u64,
    /// What the memory limit of the server's control group would have to be for that, in bytes, if the budget follows
    /// it.
    pub wanted_limit_bytes: Option<u64>,
}

/// Source addresses and ports of the clients that the machine plays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// Used in turn. Empty leaves the choice to the kernel.
    pub addresses: Vec<IpAddr>,
    /// First and last port; `None` leaves the choice to the kernel.
    pub ports: Option<(u16, u16)>,
}

/// What is required of a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Requirements {
    /// Clients to be connected at the same time.
    pub clients: u64,
    /// Whether the machine plays or serves them.
    pub role: Role,
    /// Where they connect to.
    pub targets: Vec<TargetFacts>,
    /// Where they connect from.
    pub sources: Sources,
}

/// The facts and the requirements, with what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene<'a> {
    pub(super) facts: &'a Facts,
    pub(super) requirements: &'a Requirements,
}

impl Scene<'_> {
    /// Returns whether the machine plays the clients.
    pub(super) fn plays(&self) -> bool {
        match self.requirements.role {
            Role::Players => true,
            Role::Server { .. } => false,
        }
    }

    /// Returns whether the machine serves the clients, alone or in addition to playing them.
    pub(super) fn serves(&self) -> bool {
        !self.plays() || self.is_local()
    }

    /// Returns whether the clients' connections are encrypted.
    pub(super) fn by_tls(&self) -> bool {
        match self.requirements.role {
            Role::Players => self.requirements.targets.iter().any(|target| target.tls),
            Role::Server { tls, .. } => tls,
        }
    }

    /// Returns the server's memory budget, if it has one.
    pub(super) fn budget(&self) -> Option<Budget> {
        match self.requirements.role {
            Role::Players => None,
            Role::Server { budget, .. } => budget,
        }
    }

    /// Returns what the server's configuration has room for; `None` on a machine that plays the clients.
    pub(super) fn configured(&self) -> Option<Configured> {
        match self.requirements.role {
            Role::Players => None,
            Role::Server { configured, .. } => Some(configured),
        }
    }

    /// Returns whether a target is on this machine, which then holds both ends of its connections.
    pub(super) fn is_local(&self) -> bool {
        self.requirements
            .targets
            .iter()
            .filter_map(TargetFacts::address)
            .any(|address| self.facts.is_own(address))
    }

    /// Returns whether every target is a loopback address.
    pub(super) fn is_loopback(&self) -> bool {
        let mut addresses = self.requirements.targets.iter().map(TargetFacts::address).peekable();
        addresses.peek().is_some()
            && addresses.all(|address| address.is_some_and(|address| address.is_loopback()))
    }

    /// Returns how many ends of a connection are on this machine.
    pub(super) fn ends(&self) -> u64 {
        if self.is_local() { 2 } else { 1 }
    }

    /// Returns how many ports each source address has for each target.
    pub(super) fn ports_each(&self) -> Option<u64> {
        match self.requirements.sources.ports {
            Some((first, last)) => Some(u64::from(last.saturating_sub(first)) + 1),
            None => self.facts.ports_each(),
        }
    }

    /// Returns the number of source addresses; if none is given, the kernel chooses one.
    pub(super) fn source_count(&self) -> u64 {
        self.requirements.sources.addresses.len().max(1) as u64
    }

    /// Returns the number of targets that differ in address or port; a port can be used once for each. Without any, one
    /// is assumed.
    pub(super) fn target_count(&self) -> u64 {
        let place = |target: &TargetFacts| (target.address().ok_or_else(|| target.host.clone()), target.port);
        (self.requirements.targets.iter().map(place).collect::<BTreeSet<_>>().len() as u64).max(1)
    }

    /// Returns the number of pairs of a source address and a target that can be connected: both IPv4, or both IPv6.
    pub(super) fn pairs(&self) -> u64 {
        if self.requirements.sources.addresses.is_empty() {
            return self.target_count();
        }
        let sources = |v4: bool| {
            self.requirements.sources.addresses.iter().filter(|source| source.is_ipv4() == v4).count() as u64
        };
        let places: BTreeSet<(IpAddr, u16)> = self
            .requirements
            .targets
            .iter()
            .filter_map(|target| Some((target.address()?, target.port)))
            .collect();
        if places.is_empty() {
            return self.source_count();
        }
        places.iter().map(|(address, _)| sources(address.is_ipv4())).sum()
    }
}
