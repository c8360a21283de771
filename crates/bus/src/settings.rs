//! What a bus is told, and what is wrong with it.

use crate::address::Address;
use crate::times::Times;
use hub::Histories;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What a bus is to be. All nodes of a cluster are told the same.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Servers of one engine. Of Redis, independent ones among which topics are divided by their names, so that the order of
    /// the list counts, or those of one cluster; of NATS, those of one cluster.
    pub instances: Vec<Address>,
    /// What the names of keys and channels begin with, so that clusters can share an engine.
    pub prefix: String,
    /// A file with PEM certificates in place of the system's, to know the servers by.
    pub certificate_authority: Option<PathBuf>,
    /// Which topics are recoverable, and what the engine keeps of them: count and age. What a node keeps in memory it
    /// bounds by bytes, too.
    pub histories: Histories,
    /// Where other nodes reach this one, if it listens for them and they do so elsewhere than where it listens.
    pub announced: Option<SocketAddr>,
    /// How long the engine and the other nodes may take.
    pub times: Times,
}

/// Why a bus cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadSettings {
    /// There is no server.
    NoInstance,
    /// The addresses are not of one engine.
    SeveralEngines,
    /// The certificates cannot be read, or are no PEM.
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
