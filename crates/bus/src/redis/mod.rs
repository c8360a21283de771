//! Redis 7.0 and later, and Valkey. Ephemeral topics are channels; a recoverable one is a channel and a stream, which one
//! script appends to; people are hashes under leases. One connection to each instance carries everything, publications
//! beside answers.

mod answers;
mod commands;
mod explain;
mod held;
mod inbox;
mod instance;
mod keys;
mod leases;
mod own_lease;
mod pump;
mod scripts;
mod session;

use crate::address::is_encrypted;
use crate::announced::announced;
use crate::failure::Failure;
use crate::session::Desk;
use crate::settings::BadSettings;
use crate::witness::Witness;
use ::redis::ConnectionAddr;
use instance::Instance;
use keys::Keys;
use leases::Leases;
pub(crate) use session::Session as RedisSession;
use session::Session;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// The instances among which topics are divided.
pub(crate) struct Redis {
    clients: Vec<::redis::Client>,
    keys: Keys,
    /// By instance; they outlive sessions.
    witnesses: Vec<Arc<Witness>>,
}

impl Redis {
    pub(crate) fn new(
        instances: Vec<::redis::ConnectionInfo>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Result<Redis, BadSettings> {
        let path = certificate_authority.clone().unwrap_or_default();
        let bad =
            |error: &dyn std::fmt::Display| BadSettings::BadCertificates(path.clone(), error.to_string());
        let root_cert = certificate_authority.map(fs::read).transpose().map_err(|error| bad(&error))?;
        let certificates = ::redis::TlsCertificates { client_tls: None, root_cert };
        let client = |info: ::redis::ConnectionInfo| match is_encrypted(&info) {
            true => ::redis::Client::build_with_tls(info, certificates.clone()),
            false => ::redis::Client::open(info),
        };
        let clients = instances.into_iter().map(client).collect::<Result<Vec<_>, _>>();
        let clients = clients.map_err(|error| bad(&error))?;
        let witnesses = clients.iter().map(|_| Arc::default()).collect();
        Ok(Redis { clients, keys: Keys::new(prefix), witnesses })
    }

    /// Connects to every instance and begins the node's lease there.
    pub(crate) async fn open(&self, desk: &Desk) -> Result<Session, Failure> {
        let leases = Arc::new(Leases::new(self.clients.len()));
        let mut instances = Vec::with_capacity(self.clients.len());
        let announced = announced(desk, &self.servers()).await;
        for (index, (client, witness)) in self.clients.iter().zip(&self.witnesses).enumerate() {
            let is_encrypted = is_encrypted(client.get_connection_info());
            let (keys, witness) = (self.keys.clone(), witness.clone());
            let mut instance = Instance::connect((client, is_encrypted), keys, witness, desk).await?;
            leases.stand(index, instance.begin_lease(desk, announced.as_ref()).await?);
            instances.push(instance);
        }
        Ok(Session::new(instances, leases))
    }

    /// Hosts and ports; those that are reached by a socket of this machine have none.
    fn servers(&self) -> Vec<(&str, u16)> {
        let addresses = self.clients.iter().map(|client| client.get_connection_info().addr());
        addresses
            .filter_map(|address| match address {
                ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                    Some((host.as_str(), *port))
                }
                _ => None,
            })
            .collect()
    }
}
