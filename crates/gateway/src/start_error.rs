//! Why a gateway did not start, for people.

use crate::limits::BadLimit;
use crate::memory::BudgetTooSmall;
use crate::mount::BadMountPath;
use hub::PatternError;
use std::net::SocketAddr;
use std::{fmt, io};

/// Why a gateway did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A limit lets nothing through or cannot be held.
    Limits(BadLimit),
    /// A mount's path is not one.
    Path(BadMountPath),
    /// A topic pattern is not one.
    Pattern(PatternError),
    /// The memory budget has no room for connections.
    MemoryBudget(BudgetTooSmall),
    /// The sockets or threads of the shards could not be made; an address in use is the usual case.
    Engine(engine::StartError),
    /// A listener waits for proxies, and none is trusted.
    NoTrustedProxy(SocketAddr),
    /// A TLS address could not be listened on.
    ListenTls(SocketAddr, io::Error),
    /// The address for other nodes could not be listened on.
    ListenForNodes(SocketAddr, io::Error),
    /// The system has no random numbers, threads or runtime for us.
    System(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Limits(error) => error.fmt(f),
            StartError::Path(error) => error.fmt(f),
            StartError::Pattern(error) => error.fmt(f),
            StartError::MemoryBudget(error) => error.fmt(f),
            StartError::Engine(error) => error.fmt(f),
            StartError::NoTrustedProxy(address) => {
                write!(
                    f,
                    "the listener {address} expects the PROXY protocol, but no proxy is trusted: configure their \
                     networks"
                )
            }
            StartError::ListenTls(address, error) => write!(f, "cannot listen on {address} for TLS: {error}"),
            StartError::ListenForNodes(address, error) => {
                write!(f, "cannot listen on {address} for other nodes: {error}")
            }
            StartError::System(error) => {
                write!(f, "the system denies a resource that the gateway needs: {error}")
            }
        }
    }
}

impl std::error::Error for StartError {}
