//! What a diagnosis looks at: the machine, and the wish that it is measured by.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::facts::Facts;
use super::target::TargetFacts;

/// What a machine is wanted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// It plays the clients.
    #[default]
    Players,
    /// It serves them.
    Server {
        /// Whether they come by TLS.
        tls: bool,
        /// The server's memory budget, where it has one.
        budget: Option<Budget>,
    },
}

/// What a server lets itself take of the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// All together, in bytes.
    pub bytes: u64,
    /// Idle clients that it has room for.
    pub clients: u64,
    /// What it would have to be for the clients that are wished for, in bytes.
    pub wanted_bytes: u64,
    /// What the limit of the server's control group would have to be for that, in bytes, where the budget follows it.
    pub wanted_limit_bytes: Option<u64>,
}

/// Source addresses and ports of clients that are played.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// They take turns. Empty leaves the choice to the kernel.
    pub addresses: Vec<IpAddr>,
    /// First and last port; `None` leaves the choice to the kernel.
    pub ports: Option<(u16, u16)>,
}

/// What is wanted of a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wish {
    /// Clients that are to be connected at once.
    pub clients: u64,
    /// On which side of them the machine is.
    pub role: Role,
    /// Where they go.
    pub targets: Vec<TargetFacts>,
    /// Where they come from.
    pub sources: Sources,
}

/// Both together, with what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene<'a> {
    pub(super) facts: &'a Facts,
    pub(super) wish: &'a Wish,
}

impl Scene<'_> {
    /// Whether the machine plays the clients.
    pub(super) fn plays(&self) -> bool {
        match self.wish.role {
            Role::Players => true,
            Role::Server { .. } => false,
        }
    }

    /// Whether the machine serves the clients, alone or beside playing them.
    pub(super) fn serves(&self) -> bool {
        !self.plays() || self.is_local()
    }

    /// Whether the clients' connections are encrypted.
    pub(super) fn by_tls(&self) -> bool {
        match self.wish.role {
            Role::Players => self.wish.targets.iter().any(|target| target.tls),
            Role::Server { tls, .. } => tls,
        }
    }

    /// The server's memory budget, where it has one.
    pub(super) fn budget(&self) -> Option<Budget> {
        match self.wish.role {
            Role::Players => None,
            Role::Server { budget, .. } => budget,
        }
    }

    /// Whether a target is on this machine, which then holds both ends of its connections.
    pub(super) fn is_local(&self) -> bool {
        self.wish.targets.iter().filter_map(TargetFacts::address).any(|address| self.facts.is_own(address))
    }

    /// Whether every target is a loopback address.
    pub(super) fn is_loopback(&self) -> bool {
        let mut addresses = self.wish.targets.iter().map(TargetFacts::address).peekable();
        addresses.peek().is_some()
            && addresses.all(|address| address.is_some_and(|address| address.is_loopback()))
    }

    /// Ends of a connection that are on this machine.
    pub(super) fn ends(&self) -> u64 {
        if self.is_local() { 2 } else { 1 }
    }

    /// Ports that each source address has for each target.
    pub(super) fn ports_each(&self) -> Option<u64> {
        match self.wish.sources.ports {
            Some((first, last)) => Some(u64::from(last.saturating_sub(first)) + 1),
            None => self.facts.ports_each(),
        }
    }

    /// Source addresses; without any the kernel chooses one.
    pub(super) fn source_count(&self) -> u64 {
        self.wish.sources.addresses.len().max(1) as u64
    }

    /// Targets that differ in address or port; a port can be used once for each. Without any, one is assumed.
    pub(super) fn target_count(&self) -> u64 {
        let place = |target: &TargetFacts| (target.address().ok_or_else(|| target.host.clone()), target.port);
        (self.wish.targets.iter().map(place).collect::<BTreeSet<_>>().len() as u64).max(1)
    }

    /// Pairs of a source address and a target that can be connected: both of IPv4, or both of IPv6.
    pub(super) fn pairs(&self) -> u64 {
        if self.wish.sources.addresses.is_empty() {
            return self.target_count();
        }
        let sources = |v4: bool| {
            self.wish.sources.addresses.iter().filter(|source| source.is_ipv4() == v4).count() as u64
        };
        let places: BTreeSet<(IpAddr, u16)> =
            self.wish.targets.iter().filter_map(|target| Some((target.address()?, target.port))).collect();
        if places.is_empty() {
            return self.source_count();
        }
        places.iter().map(|(address, _)| sources(address.is_ipv4())).sum()
    }
}
