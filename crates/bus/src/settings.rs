//! The settings of a bus, and their validation.

use crate::address::Address;
use crate::times::Times;
use hub::Histories;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The settings of a bus; the same on all nodes of a cluster.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Servers of one engine. For Redis: independent ones, over which topics are distributed by their names, so that
    /// the order of the list matters, or members of one cluster. For NATS: members of one cluster.
    pub instances: Vec<Address>,
    /// The prefix of all names of keys and channels, so that several clusters can share an engine.
    pub prefix: String,
    /// A file with PEM certificates, which replace the system's for verifying the servers.
    pub certificate_authority: Option<PathBuf>,
    /// Which topics are recoverable, and how much of them the engine stores: count and age. What a node keeps in memory
    /// is bounded in bytes, too.
    pub histories: Histories,
    /// The address at which other nodes reach this one, if it listens for them and the two addresses differ.
    pub announced: Option<SocketAddr>,
    /// The time limits for the engine and the other nodes.
    pub times: Times,
}

/// Why settings are invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadSettings {
    /// There is no server.
    NoInstance,
    /// The addresses belong to different engines.
    SeveralEngines,
    /// The certificates cannot be read, or are not PEM.
    BadCertificates(PathBuf, String),
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSettings::NoInstance => f.write_str("the bus has no address: set `bus.url`"),
            BadSettings::SeveralEngines => f.write_str(
                "the bus has addresses of different engines: write addresses of only one engine in \
                     `bus.url`",
            ),
            BadSettings::BadCertificates(path, detail) => {
                write!(
                    f,
                    "`bus.certificate_authority`: {} contains no valid PEM certificates: {detail}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for BadSettings {}
