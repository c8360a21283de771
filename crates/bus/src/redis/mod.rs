//! Redis 7.0 and later, and Valkey: one server, several independent ones, or a cluster. An ephemeral topic is a
//! channel. A recoverable one is a channel and a stream, to which one script appends. People are hashes under leases.
//! One connection to each instance carries everything, publications as well as answers.

mod answers;
mod channels;
mod clients;
mod cluster;
mod commands;
mod explain;
mod held;
mod inbox;
mod instance;
mod keys;
mod leases;
mod own_lease;
mod place;
mod pump;
mod scripts;
mod session;
mod slots;
mod version;

use crate::announced::announced;
use crate::failure::Failure;
use crate::session::SessionContext;
use crate::settings::BadSettings;
use crate::stored_head::StoredHead;
use ::redis::{ConnectionAddr, ConnectionInfo};
use channels::Channels;
use clients::Clients;
use cluster::Cluster;
use instance::Instance;
use keys::Keys;
use leases::Leases;
use place::Place;
pub(crate) use session::Session as RedisSession;
use session::Session;
use slots::PARTITIONS;
use std::path::PathBuf;
use std::sync::Arc;

/// The instances over which topics are distributed: servers, or the partitions of a cluster.
pub(crate) struct Redis {
    layout: Layout,
    /// By instance; they outlive sessions.
    witnesses: Vec<Arc<StoredHead>>,
}

enum Layout {
    Servers(Vec<Place>),
    Cluster(Cluster),
}

impl Redis {
    /// Creates the engine for independent servers.
    pub(crate) fn new(
        servers: Vec<ConnectionInfo>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Result<Redis, BadSettings> {
        let clients = Clients::new(certificate_authority)?;
        let place = |info| {
            Ok(Place { client: clients.client(info)?, keys: Keys::new(prefix), channels: Channels::Plain })
        };
        let places = servers.into_iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let witnesses = places.iter().map(|_| Arc::default()).collect();
        Ok(Redis { layout: Layout::Servers(places), witnesses })
    }

    /// Creates the engine for a cluster, given some of its servers; at least one must be reachable to find the others.
    pub(crate) fn cluster(
        seeds: Vec<ConnectionInfo>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Result<Redis, BadSettings> {
        let clients = Clients::new(certificate_authority)?;
        // Report problems with the certificates at once.
        seeds.iter().try_for_each(|seed| clients.client(seed.clone()).map(drop))?;
        let cluster = Cluster::new(seeds, prefix, clients);
        Ok(Redis {
            layout: Layout::Cluster(cluster),
            witnesses: (0..PARTITIONS).map(|_| Arc::default()).collect(),
        })
    }

    /// Connects to every instance and begins the node's lease there.
    pub(crate) async fn open(&self, context: &SessionContext) -> Result<Session, Failure> {
        let places = match &self.layout {
            Layout::Servers(places) => places.clone(),
            Layout::Cluster(cluster) => cluster.places(context).await?,
        };
        let leases = Arc::new(Leases::new(places.len()));
        let mut instances = Vec::with_capacity(places.len());
        let announced = announced(context, &self.servers()).await;
        for (index, (place, witness)) in places.into_iter().zip(&self.witnesses).enumerate() {
            let mut instance = Instance::connect(place, witness.clone(), context).await?;
            leases.stand(index, instance.begin_lease(context, announced.as_ref()).await?);
            instances.push(instance);
        }
        Ok(Session::new(instances, leases))
    }

    /// Returns hosts and ports; servers reached by a Unix socket have none.
    fn servers(&self) -> Vec<(&str, u16)> {
        let infos: Vec<&ConnectionInfo> = match &self.layout {
            Layout::Servers(places) => {
                places.iter().map(|place| place.client.get_connection_info()).collect()
            }
            Layout::Cluster(cluster) => cluster.seeds().iter().collect(),
        };
        infos
            .into_iter()
            .filter_map(|info| match info.addr() {
                ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                    Some((host.as_str(), *port))
                }
                _ => None,
            })
            .collect()
    }
}
