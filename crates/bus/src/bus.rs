//! One session with the engine after the other, for as long as the node runs.

use crate::address::Address;
use crate::backoff::Backoff;
use crate::engine::Engine;
use crate::port::{Port, Requests};
use crate::session::Desk;
use crate::status::Status;
use crate::times::Times;
use hub::{BusEvent, Histories};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What a bus is to be. All nodes of a cluster are told the same.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Servers of one engine. Of Redis, independent ones among which topics are divided by their names, so that the order of
    /// the list counts; of NATS, those of one cluster.
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

/// The bus of one node.
pub struct Bus {
    engine: Engine,
    histories: Histories,
    announced: Option<SocketAddr>,
    times: Times,
    shown: String,
    status: Status,
}

impl Bus {
    /// A bus that has no connection yet.
    pub fn new(settings: Settings) -> Result<Bus, BadSettings> {
        let shown: Vec<String> = settings.instances.iter().map(Address::to_string).collect();
        let Settings { instances, prefix, certificate_authority, histories, announced, times } = settings;
        let engine = Engine::new(instances, &prefix, certificate_authority)?;
        let (shown, status) = (shown.join(", "), Status::new());
        Ok(Bus { engine, histories, announced, times, shown, status })
    }

    /// What it says of itself, from now on.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// Runs until nobody is left who could want something. An engine that is away is tried again for ever.
    pub async fn run(self, port: Port) {
        let Bus { engine, histories, announced, times, shown, status } = self;
        let (mut whole, mut requests) = Desk::new(port, status.numbers().clone(), histories, times);
        if let (Some(listening), Some(announced)) = (&mut whole.listening, announced) {
            listening.address = announced;
        }
        let mut backoff = Backoff::default();
        loop {
            let desk = whole.for_session();
            let Some(opened) = while_discarding(&mut requests, engine.open(&desk)).await else { return };
            let failure = match opened {
                Ok(session) => {
                    backoff.reset();
                    status.up();
                    tracing::info!("the bus {shown} is there");
                    desk.tell(BusEvent::Up);
                    let Some(failure) = session.serve(&desk, &mut requests).await else { return };
                    desk.close();
                    whole.tell(BusEvent::Down);
                    failure
                }
                Err(failure) => failure,
            };
            if status.away(&failure) {
                tracing::warn!("the bus {shown} is away: {failure}");
            }
            let wait = tokio::time::sleep(backoff.next(random()));
            if while_discarding(&mut requests, wait).await.is_none() {
                return;
            }
        }
    }
}

/// Does something while what the hubs want is dropped: what was on its way when they were told that the engine is away.
/// `None` if nobody is left.
async fn while_discarding<T>(requests: &mut Requests, doing: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(doing);
    loop {
        tokio::select! {
            done = &mut doing => return Some(done),
            wishes = requests.recv() => drop(wishes?),
        }
    }
}

fn random() -> u32 {
    // Without random numbers the nodes come back at the same time, which is no reason to stay away.
    getrandom::u32().unwrap_or_default()
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSettings::NoInstance => f.write_str("the bus has no address: write one in `bus.url`"),
            BadSettings::SeveralEngines => {
                f.write_str("the bus has addresses of several engines: write those of one in `bus.url`")
            }
            BadSettings::BadCertificates(path, detail) => {
                write!(
                    f,
                    "`bus.certificate_authority`: {} holds no PEM certificates: {detail}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for BadSettings {}
