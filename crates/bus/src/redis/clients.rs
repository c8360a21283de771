//! Creates clients for servers.

use super::explain::explain;
use crate::address::is_encrypted;
use crate::failure::Failure;
use crate::session::SessionContext;
use crate::settings::BadSettings;
use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ConnectionInfo, RedisResult, TlsCertificates};
use std::fs;
use std::path::PathBuf;

/// Creates clients that trust the same certificates.
pub(crate) struct Clients {
    certificates: TlsCertificates,
    /// The file they were read from.
    path: PathBuf,
}

impl Clients {
    pub(crate) fn new(certificate_authority: Option<PathBuf>) -> Result<Clients, BadSettings> {
        let path = certificate_authority.clone().unwrap_or_default();
        let read = certificate_authority.map(fs::read).transpose();
        let root_cert =
            read.map_err(|error| BadSettings::BadCertificates(path.clone(), error.to_string()))?;
        Ok(Clients { certificates: TlsCertificates { client_tls: None, root_cert }, path })
    }

    pub(crate) fn client(&self, info: ConnectionInfo) -> Result<Client, BadSettings> {
        self.build(info).map_err(|error| BadSettings::BadCertificates(self.path.clone(), error.to_string()))
    }

    fn build(&self, info: ConnectionInfo) -> RedisResult<Client> {
        match is_encrypted(&info) {
            true => Client::build_with_tls(info, self.certificates.clone()),
            false => Client::open(info),
        }
    }
}

/// Returns a connection's time limits.
pub(crate) fn patience(context: &SessionContext) -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_connection_timeout(Some(context.times.connect_max))
        .set_response_timeout(Some(context.times.answer_max))
}

pub(crate) async fn connect(
    client: &Client,
    config: &AsyncConnectionConfig,
) -> Result<MultiplexedConnection, Failure> {
    let connecting = client.get_multiplexed_async_connection_with_config(config);
    connecting.await.map_err(|error| match explain(&error) {
        // A server without TLS waits for the end of what it takes for a line.
        Failure::Late if is_encrypted(client.get_connection_info()) => {
            Failure::Tls("the handshake timed out".to_owned())
        }
        failure => failure,
    })
}
